// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// Makes a passcode expensive to guess: Argon2id, version 1.3, one lane (RFC 9106), by libsodium's
/// `crypto_pwhash`.
public enum Argon2id {
  /// The length of a salt, in bytes.
  public static let saltCount = 16

  /// The least memory that can be asked for, in bytes.
  public static let leastMemory: UInt64 = 8192

  /// Derives a slot's secret; slow, and takes the memory asked for.
  ///
  /// - Parameters:
  ///   - passcode: The prepared passcode; only borrowed.
  ///   - salt: 16 bytes.
  ///   - memory: Bytes, a multiple of 1,024, at least ``leastMemory``. Check it against the limits
  ///     before: nothing here keeps a hostile header from asking for too much.
  ///   - passes: At least 1.
  /// - Returns: 32 bytes.
  /// - Throws: ``CryptoError/outOfMemory`` when the memory cannot be had,
  ///   ``CryptoError/entropyUnavailable``.
  public static func derive(
    _ passcode: Span<UInt8>, salt: Span<UInt8>, memory: UInt64, passes: UInt32
  ) throws(CryptoError) -> SecretBytes {
    try derive(passcode, salt: salt, memory: memory, passes: passes, count: Key.byteCount)
  }

  static func derive(
    _ passcode: Span<UInt8>, salt: Span<UInt8>, memory: UInt64, passes: UInt32, count: Int
  ) throws(CryptoError) -> SecretBytes {
    precondition(salt.count == saltCount, "a salt has 16 bytes")
    precondition(memory >= leastMemory && memory.isMultiple(of: 1024) && passes >= 1)
    try Sodium.start()
    var secret = try SecretBytes.make(count: count)
    let status = unsafe secret.withUnsafeMutableBytes { secret in
      unsafe passcode.withUnsafeBytes { passcode in
        unsafe salt.withUnsafeBufferPointer { salt in
          unsafe hash(passcode, salt, memory: memory, passes: passes, into: secret)
        }
      }
    }
    // The arguments were checked, so that only the allocation can have failed.
    guard status == 0 else { throw .outOfMemory }
    return secret
  }

  private static func hash(
    _ passcode: UnsafeRawBufferPointer, _ salt: UnsafeBufferPointer<UInt8>, memory: UInt64,
    passes: UInt32, into secret: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    // An empty passcode may have no address, which libsodium's declaration does not allow.
    let text = unsafe passcode.baseAddress ?? UnsafeRawPointer(salt.baseAddress)
    guard let text = unsafe text, let salt = salt.baseAddress,
      let target = unsafe secret.assumingMemoryBound(to: UInt8.self).baseAddress
    else { return -1 }
    return unsafe crypto_pwhash(
      target, UInt64(secret.count), text.assumingMemoryBound(to: CChar.self),
      UInt64(passcode.count), salt, UInt64(passes), Int(clamping: memory),
      crypto_pwhash_ALG_ARGON2ID13)
  }
}
