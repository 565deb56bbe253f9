// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// BLAKE2b (RFC 7693), keyed, over parts that arrive one after the other.
///
/// The state, which the key can be computed from, is kept in guarded memory.
public struct KeyedHash: ~Copyable, Sendable {
  private var state: SecretBytes
  private let byteCount: Int

  /// Begins a hash under a key.
  ///
  /// - Parameters:
  ///   - key: The key; only borrowed.
  ///   - byteCount: The length of the result, 16 to 64 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(key: borrowing Key, byteCount: Int = Digest.byteCount) throws(CryptoError) {
    try self.init(keyBytes: key.bytes, byteCount: byteCount)
  }

  /// Begins a hash under key material of another length.
  ///
  /// - Parameters:
  ///   - keyBytes: 16 to 64 bytes, or none for a hash without a key.
  ///   - byteCount: The length of the result, 16 to 64 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(
    keyBytes: Span<UInt8>, byteCount: Int = Digest.byteCount
  ) throws(CryptoError) {
    precondition(keyBytes.isEmpty || (16...64).contains(keyBytes.count), "a key has 16 to 64 bytes")
    precondition((16...64).contains(byteCount), "a hash has 16 to 64 bytes")
    state = try KeyedHash.begin(keyBytes, byteCount: byteCount)
    self.byteCount = byteCount
  }

  private static func begin(
    _ key: Span<UInt8>, byteCount: Int
  ) throws(CryptoError) -> SecretBytes {
    try Sodium.start()
    var state = try SecretBytes.make(count: crypto_generichash_statebytes())
    unsafe withState(&state) { state in
      let status = unsafe key.withUnsafeBufferPointer {
        unsafe crypto_generichash_init(state, $0.baseAddress, $0.count, byteCount)
      }
      precondition(status == 0, "lengths were checked")
    }
    return state
  }

  /// Adds bytes.
  public mutating func update(_ part: Span<UInt8>) {
    unsafe KeyedHash.withState(&state) { state in
      unsafe part.withUnsafeBufferPointer {
        _ = unsafe crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// Adds a label's bytes.
  public mutating func update(_ label: Label) {
    let text = label.text
    unsafe KeyedHash.withState(&state) { state in
      text.withUTF8Buffer {
        _ = unsafe crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// Adds an integer, least significant byte first.
  @inlinable
  public mutating func update<Integer: FixedWidthInteger>(integer: Integer) {
    update(UInt64(truncatingIfNeeded: integer), byteCount: Integer.bitWidth / 8)
  }

  /// Adds the low bytes of a number; not generic, so that callers elsewhere pay no witness calls.
  @usableFromInline
  mutating func update(_ number: UInt64, byteCount: Int) {
    precondition(byteCount <= 8, "integers of at most 64 bits")
    var little = number.littleEndian
    unsafe KeyedHash.withState(&state) { state in
      unsafe withUnsafeBytes(of: &little) { bytes in
        let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        _ = unsafe crypto_generichash_update(state, start, UInt64(byteCount))
      }
    }
  }

  /// Ends the hash with a result that may be shown and stored.
  ///
  /// The hash was begun for at most 32 bytes.
  public consuming func finalize() -> Digest {
    var digest = Digest(count: byteCount)
    var target = digest.mutableSpan
    finish(into: &target)
    return digest
  }

  /// Ends the hash with a result that is itself a secret.
  ///
  /// - Throws: ``CryptoError/outOfMemory``.
  public consuming func finalizeSecret() throws(CryptoError) -> SecretBytes {
    var result = try SecretBytes.make(count: byteCount)
    var target = result.mutableBytes
    finish(into: &target)
    return result
  }

  private mutating func finish(into target: inout MutableSpan<UInt8>) {
    let count = byteCount
    unsafe KeyedHash.withState(&state) { state in
      unsafe target.withUnsafeMutableBufferPointer { target in
        guard let start = target.baseAddress else { return }
        _ = unsafe crypto_generichash_final(state, start, count)
      }
    }
  }

  /// The arena's blocks start on 64-byte boundaries, as libsodium asks of a state.
  private static func withState(_ state: inout SecretBytes, _ body: (OpaquePointer) -> Void) {
    unsafe state.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe body(OpaquePointer(start))
    }
  }
}
