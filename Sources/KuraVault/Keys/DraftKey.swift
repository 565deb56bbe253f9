// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
public import SecureMemory

/// Lets a client make a text unreadable when the vault is locked: a key, and the form of it that it may keep then.
public struct DraftKey: ~Copyable, Sendable {
  /// The key, 32 bytes; whoever made a text unreadable by it forgets it.
  public let key: SecretBytes
  /// The same, as only the unlocked vault opens it.
  public let sealed: [UInt8]

  /// The length of ``sealed``, in bytes.
  public static let sealedCount = Key.byteCount + Seal.overhead
}

extension UnlockedVault {
  /// A new key; the vault keeps nothing of it.
  ///
  /// - Throws: ``VaultError/outOfMemory``, among others.
  public func makeDraftKey() throws(VaultError) -> DraftKey {
    let key = try Key.fresh()
    let sealed = try seal(key)
    return DraftKey(key: key.finish(), sealed: sealed)
  }

  private func seal(_ key: borrowing Key) throws(VaultError) -> [UInt8] {
    let place = AssociatedData.draftKey(vault: id)
    return try place.seal(key.bytes, under: draftSealKey(), .ring)
  }

  /// The key that was sealed by this vault since it has its keys.
  ///
  /// - Parameter sealed: What ``makeDraftKey()`` gave.
  /// - Throws: ``VaultError/credentialStale`` where it is another vault's, of keys before, or was changed.
  public func openDraftKey(_ sealed: Span<UInt8>) throws(VaultError) -> SecretBytes {
    guard sealed.count == DraftKey.sealedCount else { throw .credentialStale }
    let place = AssociatedData.draftKey(vault: id)
    let key = try draftSealKey()
    do throws(CryptoError) {
      return try Seal.open(sealed, authenticating: place.span, under: key)
    } catch {
      guard error == .wrongKey || error == .damaged else { throw VaultError(error, about: .ring) }
      throw .credentialStale
    }
  }

  private func draftSealKey() throws(VaultError) -> Key {
    let vault = id.bytes
    return try fromCrypto(.ring, keys.ringKey.subkey(label: .draft, vault: vault.span))
  }
}
