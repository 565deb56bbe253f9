// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// Hashes parts that arrive one after the other under a key: BLAKE2b (RFC 7693).
///
/// The state, which the key can be computed from, is kept in guarded memory.
public struct KeyedHash: ~Copyable, Sendable {
  private var state: SecretBytes
  private let byteCount: Int
  /// Whether the key's block was compressed as one that others follow.
  private var mustGoOn = false

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

  /// Begins a hash for ``restart(from:)``, with the work on the key done: BLAKE2b takes it as a block of
  /// its own in front of the message, and libsodium leaves that for later.
  ///
  /// - Parameters: As ``init(key:byteCount:)``.
  public static func prepared(
    key: borrowing Key, byteCount: Int = Digest.byteCount
  ) throws(CryptoError) -> KeyedHash {
    var hash = try KeyedHash(key: key, byteCount: byteCount)
    if try isKeyWorkedInEarly { hash.workInKey() }
    return hash
  }

  /// Adds bytes.
  public mutating func update(_ part: Span<UInt8>) {
    if !part.isEmpty { mustGoOn = false }
    unsafe KeyedHash.withState(&state) { state in
      unsafe part.withUnsafeBufferPointer {
        _ = unsafe crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// Adds a label's bytes.
  public mutating func update(_ label: Label) {
    let text = label.text
    mustGoOn = false
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
    mustGoOn = false
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
    end()
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

  /// Ends the hash as ``finalize()`` does, and keeps its memory: ``restart(from:)`` comes next.
  public mutating func end() -> Digest {
    var digest = Digest(count: byteCount)
    var target = digest.mutableSpan
    finish(into: &target)
    return digest
  }

  /// Goes on from where another hash stands, as if the same parts had been added: many hashes under
  /// one key take memory and set up the key once.
  ///
  /// - Parameter other: Begun for a result of the same length.
  public mutating func restart(from other: borrowing KeyedHash) {
    precondition(byteCount == other.byteCount, "results of two lengths")
    state.overwrite(at: 0, with: other.state.bytes)
    mustGoOn = other.mustGoOn
  }

  /// The result has as many bytes as the hash was begun for.
  mutating func finish(into target: inout MutableSpan<UInt8>) {
    precondition(!mustGoOn, "a prepared hash takes a message")
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

// MARK: - The key's block

extension KeyedHash {
  /// Where libsodium's `blake2b_state` has the number of bytes that wait in its buffer: behind eight
  /// words of chain value, two of counter, two of flags, and the buffer itself.
  private static let waitingCountOffset = 8 * (8 + 2 + 2) + 2 * blockCount
  private static let blockCount = 128

  /// Whether that is so in the library at hand, which a distribution may have replaced: found out once.
  private static let canRewind = Result { () throws(CryptoError) in try isRewound() }

  /// Whether ``prepared(key:byteCount:)`` saves anything.
  static var isKeyWorkedInEarly: Bool {
    get throws(CryptoError) { try canRewind.get() }
  }

  /// Has the key's block compressed, by adding more than the buffer holds, and forgets what was added.
  private mutating func workInKey() {
    let filling = [UInt8](repeating: 0, count: KeyedHash.blockCount + 1)
    update(filling.span)
    unsafe state.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: 0, toByteOffset: KeyedHash.waitingCountOffset, as: UInt64.self)
    }
    mustGoOn = true
  }

  /// Whether a hash whose key's block was compressed early comes to the same as another.
  private static func isRewound() throws(CryptoError) -> Bool {
    guard crypto_generichash_statebytes() >= waitingCountOffset + 8 else { return false }
    let key = try Key.random()
    for count in [1, blockCount, blockCount + 1, 3 * blockCount] {
      let message = [UInt8](repeating: 7, count: count)
      var plain = try KeyedHash(key: key)
      plain.update(message.span)
      var early = try KeyedHash(key: key)
      early.workInKey()
      early.update(message.span)
      guard plain.end() == early.end() else { return false }
    }
    return true
  }
}
