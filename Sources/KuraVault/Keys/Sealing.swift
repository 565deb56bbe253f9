// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

// Keys and what is sealed under them, with errors that say what is damaged.

extension AssociatedData {
  /// Opens what was sealed for this place, and takes its padding off.
  func openPadded(
    _ sealed: Span<UInt8>, under key: borrowing Key, _ subject: Damage
  ) throws(VaultError) -> SecretBytes {
    try fromCrypto(subject, Seal.openPadded(sealed, authenticating: span, under: key))
  }

  /// Opens what was sealed for this place without padding.
  func open(
    _ sealed: Span<UInt8>, under key: borrowing Key, _ subject: Damage
  ) throws(VaultError) -> SecretBytes {
    try fromCrypto(subject, Seal.open(sealed, authenticating: span, under: key))
  }

  /// Pads and seals something for this place.
  func sealPadded(
    _ plaintext: Span<UInt8>, under key: borrowing Key, _ subject: Damage
  ) throws(VaultError) -> [UInt8] {
    try fromCrypto(subject, Seal.sealPadded(plaintext, authenticating: span, under: key))
  }

  /// Seals something for this place as it is.
  func seal(
    _ plaintext: Span<UInt8>, under key: borrowing Key, _ subject: Damage
  ) throws(VaultError) -> [UInt8] {
    try fromCrypto(subject, Seal.seal(plaintext, authenticating: span, under: key))
  }
}

extension Key {
  /// A new key.
  static func fresh() throws(VaultError) -> Key { try fromCrypto(.ring, random()) }

  /// The subkey that a vault has for one of its uses.
  borrowing func subkey(_ use: KeyPurpose, of vault: VaultID) throws(VaultError) -> Key {
    let id = vault.bytes
    return try fromCrypto(.ring, subkey(use, vault: id.span))
  }

  /// A second owner's copy.
  borrowing func copied() throws(VaultError) -> Key {
    try fromCrypto(.ring, copy())
  }
}

extension SecretBytes {
  /// A second owner's copy.
  borrowing func copied() throws(VaultError) -> SecretBytes {
    try fromMemory(copy())
  }
}

extension Identifier {
  /// A new one, that nothing else has.
  static func fresh() throws(VaultError) -> Identifier { try fromCrypto(.root, random()) }
}

extension Keyring {
  /// A data key, for a row that names its generation.
  borrowing func dataKey(_ generation: UInt32, _ subject: Damage) throws(VaultError) -> Key {
    try fromFormat(subject, ring.dataKey(generation))
  }

  /// Opens rows of a generation, one after the other.
  borrowing func opener(_ generation: UInt32, _ subject: Damage) throws(VaultError) -> SealOpener {
    let key = try dataKey(generation, subject)
    return try fromCrypto(subject, SealOpener(key: key))
  }

  /// Seals rows under the active data key, one after the other.
  borrowing func sealer() throws(VaultError) -> Sealer {
    let key = try dataKey(ring.active, .ring)
    return try fromCrypto(.ring, Sealer(key: key))
  }

  /// Hashes rows for the tree, one after the other.
  borrowing func treeHasher() throws(VaultError) -> TreeHasher {
    try fromFormat(.node, tree.hasher())
  }

  /// The tags of names, one after the other.
  borrowing func tagHasher() throws(VaultError) -> TagHasher {
    try fromCrypto(.item, TagHasher(key: name))
  }
}
