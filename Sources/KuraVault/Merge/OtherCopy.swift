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
  /// What opens its protected values, which are sealed to another pair than this vault's; nil where nothing has to.
  let pair: ProtectedKey?
  /// Whether it stands under another vault key, so that no row of it is one of this vault's.
  let isUnderOtherKey: Bool

  /// Reads something of it, with errors that say that it is not the vault which is damaged.
  private mutating func reading<Value>(
    _ body: (inout OtherCopy) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    do throws(VaultError) { return try body(&self) } catch { throw error.ofCopy }
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

  /// What it knows of an item that was purged.
  mutating func trace(of item: ItemID) throws(VaultError) -> PurgeTrace? {
    guard keys.format > .first else { return nil }
    return try reading { copy throws(VaultError) in
      try copy.rows.purgeTrace(of: item, under: copy.root, copy.keys)
    }
  }

  /// All rows of an item, as this vault's pair opens them.
  mutating func item(
    _ tag: ItemTag, leaf: Digest, for keys: borrowing Keyring
  ) throws(VaultError) -> ItemCopy {
    try reading { copy throws(VaultError) in
      var found = try copy.rows.itemCopy(tag, leaf: leaf, copy.keys)
      if copy.isUnderOtherKey { found.rows = try copy.resealed(found.rows, for: keys) }
      return found
    }
  }

  private borrowing func resealed(
    _ rows: [OpenedRow], for keys: borrowing Keyring
  ) throws(VaultError) -> [OpenedRow] {
    var moved: [OpenedRow] = []
    for row in rows {
      switch pair {
      case .some(let pair): moved.append(try row.resealed(from: self.keys, pair, for: keys))
      case .none:
        guard row.facts.protection == .standard else { throw .noProtectedHalf }
        moved.append(row)
      }
    }
    return moved
  }

  /// Which item stands under a tag, and at which revision.
  mutating func look(at tag: ItemTag, leaf: Digest) throws(VaultError) -> RowLook {
    try reading { copy throws(VaultError) in
      try copy.rows.look(at: tag, leaf: leaf, copy.keys)
    }
  }

  /// A piece of a long value as it is sealed, which was found to be whole as far as that can be told.
  mutating func chunk(
    _ number: UInt64, of value: PieceCheck
  ) throws(VaultError) -> [UInt8] {
    try reading { copy throws(VaultError) in
      guard let data = try copy.rows.storage.chunk(number, of: value.value),
        try value.isSound(data, number)
      else { throw .damaged(.chunk) }
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
      let (front, header) = try otherFront(&storage)
      guard header.vault == id else { throw .copyRefused(.otherKey) }
      let keys = try otherKeys(front, header.format)
      let trust = try Trust(front, keys, checks: options.checks)
      return OtherCopy(
        rows: VaultRows(storage, checks: options.checks), keys: keys, root: trust.root,
        slots: trust.slots, pair: nil, isUnderOtherKey: false)
    } catch { throw error.ofCopy }
  }

  /// What a worker needs to try the passcode of a copy that stands under another vault key, as a clone does.
  ///
  /// - Parameters:
  ///   - path: As for ``openCopy(at:)``.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  public func attempt(
    atCopy path: String, availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> UnlockAttempt {
    do throws(VaultError) {
      var storage = try otherStorage(path)
      let (front, header) = try otherFront(&storage)
      return try UnlockAttempt(
        vault: header.vault, rows: front.slots, first: nil, availableMemory: availableMemory,
        devices: DeviceSecrets(stateDirectory: options.stateDirectory))
    } catch { throw error.ofCopy }
  }

  /// Opens another copy of this vault, or a clone, which stands under another vault key.
  ///
  /// - Parameters:
  ///   - path: Where it stands.
  ///   - key: What ``attempt(atCopy:availableMemory:)`` gave.
  public func openCopy(
    at path: String, by key: borrowing VaultKey
  ) throws(VaultError) -> OtherCopy {
    do throws(VaultError) {
      var storage = try otherStorage(path)
      let (front, header) = try otherFront(&storage)
      // The file was changed meanwhile.
      guard front.slots.contains(key.row) else { throw .copyRefused(.inUse) }
      let keys = try Keyring.derive(
        from: key.payload.vaultKey, of: header, sealedRing: front.ring)
      let trust = try Trust(front, keys, checks: options.checks)
      return OtherCopy(
        rows: VaultRows(storage, checks: options.checks), keys: keys, root: trust.root,
        slots: trust.slots,
        pair: key.holdsProtectedHalf ? try key.protectedKey(of: header.vault) : nil,
        isUnderOtherKey: true)
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

  private func otherFront(
    _ storage: inout Storage
  ) throws(VaultError) -> (FrontRecords, VaultHeader) {
    try fromStorage(storage.beginRead())
    let front = try FrontRecords(&storage)
    let header = try VaultHeader.read(front.header.span, &storage)
    if header.vault != id {
      guard try hasItem(of: &storage) else { throw .copyRefused(.otherVault) }
    }
    return (front, header)
  }

  /// Whether a vault has an item that this one has, too, as a clone of it does. The file says so, and nobody vouches for
  /// it: what opens the vault is asked for by that alone.
  private func hasItem(of other: inout Storage) throws(VaultError) -> Bool {
    var own = try fromStorage(Storage.open(at: place.path))
    try fromStorage(own.beginRead())
    let ids = try own.itemIDs(where: { _ in true })
    return try !other.itemIDs(where: { ids.contains($0) }).isEmpty
  }
}

extension Storage {
  /// The ids of items as the file has them, as far as it can be read.
  fileprivate mutating func itemIDs(
    where isWanted: (ItemID) -> Bool
  ) throws(VaultError) -> Set<ItemID> {
    var ids: Set<ItemID> = []
    try fromStorage(scanItems(from: Span()))
    while let row = try nextRow() {
      let id = ItemID(row.id)
      if isWanted(id) { ids.insert(id) }
    }
    return ids
  }
}

extension VaultError {
  /// What an error means that another copy gave.
  fileprivate var ofCopy: VaultError {
    if isDamage { return .copyDamaged }
    if case .copyRefused = self { return self }
    if case .newerFormat = self { return .copyRefused(.newerFormat) }
    if self == .copyDamaged || self == .noProtectedHalf { return self }
    if self == .outOfMemory || self == .entropyUnavailable { return self }
    if self == .noVault { return .copyRefused(.missing) }
    if self == .notAVault { return .copyRefused(.notAVault) }
    if self == .walOutOfReach || self == .busy { return .copyRefused(.inUse) }
    return .copyRefused(.unreadable)
  }
}
