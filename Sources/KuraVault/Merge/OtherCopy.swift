// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Reads another copy of a vault that is unlocked, to bring both together. Drop it before the vault is locked.
public struct OtherCopy: ~Copyable {
  var rows: VaultRows
  let keys: Keyring
  let root: RootRecord
  let slots: [SlotRow]

  /// Reads something of it, with errors that say that it is not the vault which is damaged.
  private mutating func reading<Value>(
    _ body: (inout OtherCopy) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    do throws(VaultError) { return try body(&self) } catch {
      throw error.isDamage ? .copyDamaged : error
    }
  }

  /// What the tree has of a node or bucket.
  mutating func digest(atLevel level: UInt8, above number: UInt32) throws(VaultError) -> Digest {
    try reading { copy throws(VaultError) in
      try copy.rows.tree.digest(
        atLevel: level, above: number, under: copy.root, in: &copy.rows.storage, copy.keys)
    }
  }

  /// The entries of a bucket.
  mutating func leaves(ofBucket number: UInt32) throws(VaultError) -> [UInt8] {
    try reading { copy throws(VaultError) in
      try copy.rows.tree.leaves(
        ofBucket: number, under: copy.root, in: &copy.rows.storage, copy.keys)
    }
  }

  /// The id of the item that stands under a tag, and what it is.
  mutating func itemID(
    of tag: ItemTag, leaf: Digest
  ) throws(VaultError) -> (id: ItemID, kind: ItemKind) {
    try reading { copy throws(VaultError) in
      try copy.rows.itemID(of: tag, leaf: leaf, copy.keys)
    }
  }

  /// What it knows of an item that was purged.
  mutating func trace(of item: ItemID) throws(VaultError) -> PurgeTrace? {
    guard keys.format > .first else { return nil }
    return try reading { copy throws(VaultError) in
      try copy.rows.purgeTrace(of: item, under: copy.root, copy.keys)
    }
  }

  /// All rows of an item.
  mutating func item(_ tag: ItemTag, leaf: Digest) throws(VaultError) -> ItemCopy {
    try reading { copy throws(VaultError) in
      try copy.rows.itemCopy(tag, leaf: leaf, copy.keys)
    }
  }

  /// A piece of a long value as it is sealed; nil behind the last one.
  mutating func chunk(
    _ number: UInt64, of value: ValueID
  ) throws(VaultError) -> [UInt8]? {
    try reading { copy throws(VaultError) in
      guard let data = try copy.rows.storage.chunk(number, of: value) else { return nil }
      return [UInt8](copying: data)
    }
  }
}

extension UnlockedVault {
  /// Opens another copy of this vault by this vault's own key.
  ///
  /// - Parameter path: Absolute; a vault file or a backup, which nobody has open.
  /// - Throws: ``VaultError/copyRefused(_:)``, ``VaultError/copyDamaged``.
  public func openCopy(at path: String) throws(VaultError) -> OtherCopy {
    do throws(VaultError) {
      var storage = try otherStorage(path)
      let front = try otherFront(&storage)
      let format = try VaultHeader.read(front.header.span, &storage).format
      let keys = try otherKeys(front, format)
      let trust = try Trust(front, keys, checks: options.checks)
      return OtherCopy(
        rows: VaultRows(storage, checks: options.checks), keys: keys, root: trust.root,
        slots: trust.slots)
    } catch { throw error.ofCopy }
  }

  /// The vault's keys, as they are for the copy's ring.
  private func otherKeys(
    _ front: FrontRecords, _ format: VaultFormat
  ) throws(VaultError) -> Keyring {
    do throws(VaultError) { return try keys.copy(ring: front.ring, of: format) } catch {
      // A ring that opens under no key of this vault is one of another key, for all that can be known.
      throw error.isDamage ? .copyRefused(.otherKey) : error
    }
  }

  private func otherStorage(_ path: String) throws(VaultError) -> Storage {
    let other = try fromStorage(FilePlace.resolve(path))
    guard let found = try? other.identity() else { throw .copyRefused(.missing) }
    guard found != identity else { throw .copyRefused(.vaultItself) }
    guard other.isFile else { throw .copyRefused(.notAVault) }
    guard !other.hasWAL else { throw .copyRefused(.inUse) }
    return try fromStorage(Storage.openAsItStands(other.path))
  }

  private func otherFront(_ storage: inout Storage) throws(VaultError) -> FrontRecords {
    try fromStorage(storage.beginRead())
    let front = try FrontRecords(&storage)
    guard try VaultHeader.read(front.header.span, &storage).vault == id else {
      throw .copyRefused(.otherVault)
    }
    return front
  }
}

extension VaultError {
  /// What an error means that another copy gave.
  fileprivate var ofCopy: VaultError {
    if isDamage { return .copyDamaged }
    if case .copyRefused = self { return self }
    if case .newerFormat = self { return .copyRefused(.newerFormat) }
    if self == .copyDamaged || self == .outOfMemory || self == .entropyUnavailable { return self }
    if self == .noVault { return .copyRefused(.missing) }
    if self == .notAVault { return .copyRefused(.notAVault) }
    if self == .walOutOfReach || self == .busy { return .copyRefused(.inUse) }
    return .copyRefused(.unreadable)
  }
}
