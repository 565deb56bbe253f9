// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// Makes the HMAC (RFC 2104) that a one-time code is cut out of.
public enum MessageCode: Sendable {
  case sha1, sha256, sha512

  /// The code of a message under a key.
  ///
  /// - Parameters:
  ///   - message: Any bytes.
  ///   - key: One byte at least; only borrowed.
  /// - Returns: 20, 32 or 64 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public func make(
    _ message: Span<UInt8>, key: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    precondition(!key.isEmpty, "a key has bytes")
    try Sodium.start()
    switch self {
    case .sha1: return try Self.withSHA1(message, key)
    case .sha256: return try Self.withSHA256(message, key)
    case .sha512: return try Self.withSHA512(message, key)
    }
  }
}

// MARK: - libsodium's

extension MessageCode {
  private static func withSHA256(
    _ message: Span<UInt8>, _ key: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    var memory = try SecretBytes.make(count: MemoryLayout<crypto_auth_hmacsha256_state>.size)
    var result = try SecretBytes.make(count: Int(crypto_auth_hmacsha256_BYTES))
    unsafe lend(&memory, &result, message, key) { memory, result, message, key in
      guard let start = key.baseAddress else { return }
      let state = unsafe memory.assumingMemoryBound(to: crypto_auth_hmacsha256_state.self)
      unsafe crypto_auth_hmacsha256_init(state, start, key.count)
      unsafe crypto_auth_hmacsha256_update(state, message.baseAddress, UInt64(message.count))
      unsafe crypto_auth_hmacsha256_final(state, result)
    }
    return result
  }

  private static func withSHA512(
    _ message: Span<UInt8>, _ key: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    var memory = try SecretBytes.make(count: MemoryLayout<crypto_auth_hmacsha512_state>.size)
    var result = try SecretBytes.make(count: Int(crypto_auth_hmacsha512_BYTES))
    unsafe lend(&memory, &result, message, key) { memory, result, message, key in
      guard let start = key.baseAddress else { return }
      let state = unsafe memory.assumingMemoryBound(to: crypto_auth_hmacsha512_state.self)
      unsafe crypto_auth_hmacsha512_init(state, start, key.count)
      unsafe crypto_auth_hmacsha512_update(state, message.baseAddress, UInt64(message.count))
      unsafe crypto_auth_hmacsha512_final(state, result)
    }
    return result
  }

  /// Lends all four to calls of libsodium; the arena's blocks are aligned as any of its states asks.
  private static func lend(
    _ memory: inout SecretBytes, _ result: inout SecretBytes, _ message: Span<UInt8>,
    _ key: Span<UInt8>,
    _ body: (
      UnsafeMutableRawPointer, UnsafeMutablePointer<UInt8>, UnsafeBufferPointer<UInt8>,
      UnsafeBufferPointer<UInt8>
    ) -> Void
  ) {
    unsafe memory.withUnsafeMutableBytes { memory in
      unsafe result.withUnsafeMutableBytes { result in
        guard let memory = memory.baseAddress, let result = result.baseAddress else { return }
        unsafe message.withUnsafeBufferPointer { message in
          unsafe key.withUnsafeBufferPointer { key in
            unsafe body(memory, result.assumingMemoryBound(to: UInt8.self), message, key)
          }
        }
      }
    }
  }
}

// MARK: - Over SHA-1

extension MessageCode {
  private static func withSHA1(
    _ message: Span<UInt8>, _ key: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    let block = try blockKey(key)
    let innerKey = try padded(block, 0x36)
    let outerKey = try padded(block, 0x5C)
    let inner = try SHA1.hash(innerKey.bytes, message)
    return try SHA1.hash(outerKey.bytes, inner.bytes)
  }

  /// The key, or the hash of a long one, with zeros behind it.
  private static func blockKey(_ key: Span<UInt8>) throws(CryptoError) -> SecretBytes {
    var block = try SecretBytes.make(count: SHA1.blockByteCount)
    guard key.count > SHA1.blockByteCount else {
      block.overwrite(at: 0, with: key)
      return block
    }
    let digest = try SHA1.hash(key)
    block.overwrite(at: 0, with: digest.bytes)
    return block
  }

  private static func padded(
    _ block: borrowing SecretBytes, _ pad: UInt8
  ) throws(CryptoError) -> SecretBytes {
    var result = try SecretBytes.make(count: block.count)
    var target = result.mutableBytes
    let source = block.bytes
    for index in source.indices { target[index] = source[index] ^ pad }
    return result
  }
}
