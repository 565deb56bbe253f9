// SPDX-License-Identifier: MIT

internal import CSodium
public import SecureMemory

/// Lets anyone who is unlocked seal a protected value that only a fresh passcode opens again: an X25519 pair
/// (RFC 7748), whose secret half waits in the key slots.
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

// MARK: - Keys of values

extension ProtectedPair {
  /// Carries the key that one value is sealed with for a pair, and what stands beside the sealed value for it.
  public struct Sealing: ~Copyable, Sendable {
    /// The public half of a pair that was made for this one value; its secret half is gone.
    public let ephemeral: [UInt8]
    /// The key, for this one value.
    public let key: Key
  }

  /// A fresh key that only the secret half of a pair can find again.
  ///
  /// - Parameters:
  ///   - publicHalf: The pair's public half, 32 bytes.
  ///   - label: What the key is for.
  /// - Throws: ``CryptoError/damaged`` when the half is none, ``CryptoError/outOfMemory``,
  ///   ``CryptoError/entropyUnavailable``.
  public static func sealingKey(
    to publicHalf: [UInt8], for label: Label = .protectedValue
  ) throws(CryptoError) -> Sealing {
    let once = try random()
    let key = try valueKey(
      label, once.secretHalf, with: publicHalf.span, ephemeral: once.publicHalf.span,
      publicHalf: publicHalf.span)
    return Sealing(ephemeral: once.publicHalf, key: key)
  }

  /// The key that a value was sealed with for this pair.
  ///
  /// - Parameters:
  ///   - ephemeral: What stands beside the value, 32 bytes.
  ///   - label: What the key is for.
  /// - Throws: ``CryptoError/damaged`` when it is no public half, ``CryptoError/outOfMemory``.
  public borrowing func openingKey(
    ephemeral: Span<UInt8>, for label: Label = .protectedValue
  ) throws(CryptoError) -> Key {
    try ProtectedPair.valueKey(
      label, secretHalf, with: ephemeral, ephemeral: ephemeral, publicHalf: publicHalf.span)
  }

  /// `H(X25519(secret, other), 32; label ‖ ephemeral ‖ the pair's public half)`.
  private static func valueKey(
    _ label: Label, _ secret: borrowing SecretBytes, with other: Span<UInt8>,
    ephemeral: Span<UInt8>, publicHalf: Span<UInt8>
  ) throws(CryptoError) -> Key {
    guard other.count == byteCount else { throw .damaged }
    let shared = try agree(secret, other)
    var hash = try KeyedHash(keyBytes: shared.bytes)
    hash.update(label)
    hash.update(ephemeral)
    hash.update(publicHalf)
    return Key(try hash.finalizeSecret())
  }

  private static func agree(
    _ secret: borrowing SecretBytes, _ other: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    try Sodium.start()
    var shared = try SecretBytes.make(count: byteCount)
    let status = unsafe shared.withUnsafeMutableBytes { target in
      unsafe secret.withUnsafeBytes { secret in
        unsafe other.withUnsafeBufferPointer { other in
          guard let into = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress,
            let own = unsafe secret.assumingMemoryBound(to: UInt8.self).baseAddress,
            let point = other.baseAddress
          else { return Int32(-1) }
          return unsafe crypto_scalarmult(into, own, point)
        }
      }
    }
    // A point of small order leaves zeros, which everybody knows (RFC 7748 §6.1).
    guard status == 0 else { throw .damaged }
    return shared
  }
}
