// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Reads another copy of a vault that is unlocked, to bring both together. Drop it before the vault is locked.
///
/// It is a whole file, or a pack of items that changed elsewhere: for a merge a pack is a copy that has just these items.
public struct OtherCopy: ~Copyable {
  private enum Source {
    case file(CopyFile)
    case pack(CopyPack)
  }

  private let source: Source
  let slots: [SlotRow]
  /// What it knows of settings and slots; nil in format 1.
  let ledger: CopyLedger?
  let notes: SlotNotes

  init(_ file: CopyFile, slots: [SlotRow]) {
    source = .file(file)
    self.slots = slots
    ledger = file.keys.ring.ledger
    notes = file.keys.ring.notes
  }

  init(_ pack: CopyPack) {
    source = .pack(pack)
    slots = []
    ledger = pack.ledger
    notes = pack.notes
  }

  /// Whether it stands under another vault key, so that no row of it is one of this vault's.
  var isUnderOtherKey: Bool {
    switch source {
    case .file(let file): file.isUnderOtherKey
    case .pack: false
    }
  }

  /// The rows in which a vault and the copy may differ, as far as that is known before both are walked through.
  func difference(from vault: inout UnlockedVault) throws(VaultError) -> CopyDifference {
    switch source {
    case .file(let file): CopyDifference(vault.trust.root, file)
    case .pack(let pack):
      CopyDifference(of: pack.items.keys, at: try vault.places(of: pack))
    }
  }

  /// The file that has a tree to compare; nil for a pack, which has none.
  var file: CopyFile? {
    switch source {
    case .file(let file): file
    case .pack: nil
    }
  }

  /// The devices whose former id is a third machine's there.
  var goingOn: Set<DeviceID> {
    switch source {
    case .file: []
    case .pack(let pack): pack.goingOn
    }
  }

  /// What is to be left out of this vault's items; nil for a copy that has some to take.
  var late: LateChanges? {
    switch source {
    case .file: nil
    case .pack(let pack): pack.late
    }
  }

  /// Whether names are placed again, though nothing may be taken.
  var placesNames: Bool {
    switch source {
    case .file: false
    case .pack(let pack): pack.placesNames
    }
  }

  /// What it knows of an item that was purged.
  func trace(of item: ItemID) throws(VaultError) -> PurgeTrace? {
    switch source {
    case .file(let file): try file.trace(of: item)
    case .pack(let pack): pack.items[item]?.trace
    }
  }

  /// All rows of an item, as this vault's pair opens them.
  func item(
    _ tag: ItemTag, leaf: Digest, for keys: borrowing Keyring
  ) throws(VaultError) -> ItemCopy {
    switch source {
    case .file(let file): return try file.item(tag, leaf: leaf, for: keys)
    case .pack(let pack):
      guard let item = pack.items[tag.item] else { throw .copyDamaged }
      return item
    }
  }

  /// Which item stands under a tag, and at which revision.
  func look(at tag: ItemTag, leaf: Digest) throws(VaultError) -> RowLook {
    switch source {
    case .file(let file): return try file.look(at: tag, leaf: leaf)
    case .pack(let pack):
      let hasRows = pack.items[tag.item]?.rows.isEmpty == false
      return RowLook(id: tag.item, kind: hasRows ? .value : .purged, revision: nil)
    }
  }

  /// A piece of a long value as it is sealed, which was found to be whole as far as that can be told.
  ///
  /// - Returns: Nil where it has to stand in the vault already, since it came before the rows.
  func chunk(_ number: UInt64, of value: PieceCheck) throws(VaultError) -> [UInt8]? {
    switch source {
    case .file(let file): try file.chunk(number, of: value)
    case .pack: nil
    }
  }
}

extension ItemTag {
  /// Stands for an item of a pack, which has no place of its own.
  init(of item: ItemID) {
    let bytes = item.bytes
    self.init(bytes.span)
  }

  /// The item that it stands for in a pack.
  fileprivate var item: ItemID {
    let bytes = self.bytes
    return ItemID(bytes.span)
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
      let file = CopyFile(
        VaultRows(storage, checks: options.checks), keys, trust.root, pair: nil,
        isUnderOtherKey: false)
      return OtherCopy(file, slots: trust.slots)
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
      let file = CopyFile(
        VaultRows(storage, checks: options.checks), keys, trust.root,
        pair: key.holdsProtectedHalf ? try key.protectedKey(of: header.vault) : nil,
        isUnderOtherKey: true)
      return OtherCopy(file, slots: trust.slots)
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
  var ofCopy: VaultError {
    if isDamage { return .copyDamaged }
    if case .copyRefused = self { return self }
    if case .newerFormat = self { return .copyRefused(.newerFormat) }
    if self == .copyDamaged || self == .noProtectedHalf || self == .passcodesInStore { return self }
    if self == .outOfMemory || self == .entropyUnavailable { return self }
    if self == .noVault { return .copyRefused(.missing) }
    if self == .notAVault { return .copyRefused(.notAVault) }
    if self == .walOutOfReach || self == .busy { return .copyRefused(.inUse) }
    return .copyRefused(.unreadable)
  }
}
