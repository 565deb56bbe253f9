// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// Shows of bytes which device they came from, to whoever knows its public half: an Ed25519 pair (RFC 8032).
public struct SigningPair: ~Copyable, Sendable {
  /// The length of the seed and of the public half, in bytes.
  public static let byteCount = 32
  /// The length of a signature, in bytes.
  public static let signatureByteCount = 64

  /// The public half, 32 bytes.
  public let publicHalf: [UInt8]

  /// The seed and the public half behind it, as libsodium has the secret half.
  private let secretHalf: SecretBytes

  /// The pair that a seed makes.
  ///
  /// - Parameter seed: 32 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(seed: borrowing SecretBytes) throws(CryptoError) {
    precondition(seed.count == SigningPair.byteCount, "a seed has 32 bytes")
    try Sodium.start()
    var publicHalf = [UInt8](repeating: 0, count: SigningPair.byteCount)
    var secretHalf = try SecretBytes.make(count: 2 * SigningPair.byteCount)
    unsafe secretHalf.withUnsafeMutableBytes { target in
      unsafe seed.withUnsafeBytes { seed in
        guard let into = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress,
          let from = unsafe seed.assumingMemoryBound(to: UInt8.self).baseAddress
        else { return }
        _ = unsafe crypto_sign_seed_keypair(&publicHalf, into, from)
      }
    }
    self.publicHalf = publicHalf
    self.secretHalf = secretHalf
  }

  /// Signs bytes; what they are for stands in front of them, so that no signature passes for another.
  public borrowing func signature(of bytes: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: SigningPair.signatureByteCount)
    unsafe secretHalf.withUnsafeBytes { secret in
      guard let own = unsafe secret.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
      _ = unsafe crypto_sign_detached(&signature, nil, bytes, UInt64(bytes.count), own)
    }
    return signature
  }

  /// Whether the owner of a public half signed these bytes.
  ///
  /// - Parameters:
  ///   - signature: 64 bytes.
  ///   - publicHalf: 32 bytes.
  public static func isSigned(
    _ bytes: [UInt8], by publicHalf: [UInt8], signature: [UInt8]
  ) -> Bool {
    guard signature.count == signatureByteCount, publicHalf.count == byteCount else { return false }
    return unsafe crypto_sign_verify_detached(
      signature, bytes, UInt64(bytes.count), publicHalf) == 0
  }
}
