// SPDX-License-Identifier: MIT

public import SecureMemory

/// Owns a secret key of 32 bytes, and derives others from it.
public struct Key: ~Copyable, Sendable {
  /// The length of every key, in bytes.
  public static let byteCount = 32

  private let secret: SecretBytes

  /// Takes over a secret as a key.
  ///
  /// - Parameter secret: 32 bytes.
  public init(_ secret: consuming SecretBytes) {
    precondition(secret.count == Key.byteCount, "a key has 32 bytes")
    self.secret = secret
  }

  /// Copies bytes that stand elsewhere, such as a data key in an opened ring.
  ///
  /// - Parameter bytes: 32 bytes.
  /// - Throws: ``CryptoError/outOfMemory``.
  public init(copying bytes: Span<UInt8>) throws(CryptoError) {
    do { self.init(try SecretBytes(copying: bytes)) } catch { throw .outOfMemory }
  }

  /// A fresh key from the kernel's random source.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func random() throws(CryptoError) -> Key {
    var secret = try SecretBytes.make(count: byteCount)
    var bytes = secret.mutableBytes
    try RandomBytes.fill(&bytes)
    return Key(secret)
  }

  /// The key's bytes, to read; the view cannot outlive the key.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { secret.bytes }
  }

  /// A second key with the same bytes.
  ///
  /// - Throws: ``CryptoError/outOfMemory``.
  public borrowing func copy() throws(CryptoError) -> Key { try Key(copying: bytes) }

  /// Gives up the key for the secret it was.
  public consuming func finish() -> SecretBytes { secret }

  /// Derives the key for one purpose in one vault: `H(key, 32; label ‖ vault id)`.
  ///
  /// - Parameters:
  ///   - purpose: What the key is for; two purposes never share a key.
  ///   - vault: The vault's id, 16 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func subkey(
    _ purpose: KeyPurpose, vault: Span<UInt8>
  ) throws(CryptoError) -> Key {
    try subkey(label: purpose.label, vault: vault)
  }

  /// The same for a use of another key than the vault key.
  public borrowing func subkey(
    label: Label, vault: Span<UInt8>
  ) throws(CryptoError) -> Key {
    var hash = try KeyedHash(key: self)
    hash.update(label)
    hash.update(vault)
    return Key(try hash.finalizeSecret())
  }
}
