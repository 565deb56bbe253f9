// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// The X25519 pair (RFC 7748) of protected values: anyone who is unlocked can seal to its public half,
/// only a fresh passcode opens the secret half.
public struct ProtectedPair: ~Copyable, Sendable {
  /// The length of either half, in bytes.
  public static let byteCount = 32

  /// The public half, 32 bytes; it stands in the sealed ring.
  public let publicHalf: [UInt8]

  /// The secret half, 32 bytes.
  public let secretHalf: SecretBytes

  /// Generates a pair.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func random() throws(CryptoError) -> ProtectedPair {
    ProtectedPair(secretHalf: try Key.random().finish())
  }

  /// The pair that a secret half belongs to.
  ///
  /// - Parameter secretHalf: 32 bytes.
  public init(secretHalf: consuming SecretBytes) {
    precondition(secretHalf.count == ProtectedPair.byteCount, "a half has 32 bytes")
    var publicHalf = [UInt8](repeating: 0, count: ProtectedPair.byteCount)
    unsafe secretHalf.withUnsafeBytes { secret in
      guard let start = unsafe secret.assumingMemoryBound(to: UInt8.self).baseAddress
      else { return }
      _ = unsafe crypto_scalarmult_base(&publicHalf, start)
    }
    self.publicHalf = publicHalf
    self.secretHalf = secretHalf
  }

  /// Gives up the pair for its secret half.
  public consuming func finish() -> SecretBytes { secretHalf }
}
