// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Holds what is known to be true of a vault: its sealed root, and what stands in front of the items.
struct Trust {
  /// The root.
  private(set) var root: RootRecord
  /// The root as it stands in the file.
  private(set) var sealedRoot: [UInt8]
  /// What names the root.
  private(set) var fingerprint: Digest
  /// The header's bytes.
  private(set) var header: [UInt8]
  /// The ring as it stands in the file.
  private(set) var sealedRing: [UInt8]
  /// What copies know of each other, as it stands in the file; nil in format 1.
  private(set) var copies: CopyParts?
  /// The key slots.
  private(set) var slots: [SlotRow]

  /// Takes over a state that this engine committed.
  mutating func advance(to draft: Draft, sealed: [UInt8], fingerprint: Digest) {
    root = draft.root
    sealedRoot = sealed
    self.fingerprint = fingerprint
    if let ring = draft.sealedRing { sealedRing = ring }
    if let header = draft.header { self.header = header }
    if let copies = draft.copies { self.copies = copies }
    if let slots = draft.slots { self.slots = slots }
  }

  /// Sees the items as they are amid a transaction, or as they were before it.
  mutating func see(_ root: RootRecord) { self.root = root }
}

/// Gathers what a write transaction is to end with.
struct Draft {
  /// The root; its tree root, counts and header digest follow what is written.
  var root: RootRecord
  /// The header, when it becomes one of format 2.
  var header: [UInt8]?
  /// The ring, when it changes.
  var sealedRing: [UInt8]?
  /// What the ring keeps for copies of the vault, where only the commit is to change it here.
  var ledger: CopyLedger?
  /// What copies know of each other, when it changes.
  var copies: CopyParts?
  /// The slots, when they change.
  var slots: [SlotRow]?
  /// Values that nothing refers to any more.
  var orphaned: [ValueID] = []
  /// Whether the WAL is to be cleared of what readable rows stood there before.
  var leavesOldBodies = false
  /// Whether an item may have left a name to one that had given way, or come behind it.
  var freesName = false
  /// Whether the owner's proof was given for this change.
  var isByOwner = false
  /// The changes that the journal of a shared vault is to have; none in any other.
  var changes: [JournalRecord] = []
  private let isShared: Bool

  /// The draft that a state is followed by.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` for a root that no honest writer can have come to.
  init(
    after trust: Trust, by writer: WriterID, at time: UInt64
  ) throws(VaultError) {
    root = trust.root
    isShared = trust.copies?.remote != nil
    guard root.epoch < .max else { throw .damaged(.root) }
    root.epoch += 1
    root.previous = trust.fingerprint
    root.writer = writer
    root.time = time
  }

  /// Notes a change of this copy, for whoever has to know of it when its row is gone.
  ///
  /// - Parameter item: Zero for settings and slots.
  mutating func note(_ change: RevisionStamp, of item: ItemID) {
    guard isShared else { return }
    changes.append(JournalRecord(counter: change.entry.counter, revision: change.id, item: item))
  }

  /// Counts an item that is deleted, or is so no more.
  mutating func countDeleted(_ isDeleted: Bool) throws(VaultError) {
    guard isDeleted ? root.deletedCount < root.itemCount : root.deletedCount > 0 else {
      throw .damaged(.root)
    }
    root.deletedCount = isDeleted ? root.deletedCount + 1 : root.deletedCount - 1
  }
}

/// Holds what copies of a vault of format 2 know of each other, sealed, as a file has it.
struct CopyParts: Equatable {
  /// Part 3; nothing where there is none.
  var devices: [UInt8] = []
  /// Part 4; nil where the vault is not shared.
  var remote: [UInt8]?
}

/// Holds the records in front of the items, as a file has them.
struct FrontRecords {
  let header: [UInt8]
  let ring: [UInt8]
  let root: [UInt8]
  /// nil in format 1.
  let copies: CopyParts?
  let slots: [SlotRow]

  /// Reads them within a transaction.
  init(_ storage: inout Storage) throws(VaultError) {
    header = [UInt8](copying: try storage.record(.header, .header))
    ring = [UInt8](copying: try storage.record(.ring, .ring))
    root = [UInt8](copying: try storage.record(.root, .root))
    copies = try fromStorage(storage.copies())
    guard copies?.remote == nil || storage.isShared else { throw .damaged(.schema) }
    slots = try fromStorage(storage.slots())
    try SlotTable.check(slots)
  }
}

extension Storage {
  /// What copies know of each other; nil in format 1.
  fileprivate mutating func copies() throws(StorageError) -> CopyParts? {
    guard isNewest else { return nil }
    return CopyParts(devices: try copied(.devices) ?? [], remote: try copied(.remote))
  }

  private mutating func copied(_ part: Part) throws(StorageError) -> [UInt8]? {
    guard let data = try self.part(part) else { return nil }
    return [UInt8](copying: data)
  }
}

extension VaultHeader {
  /// Reads the header of any format, which must be that of the tables.
  static func read(
    _ bytes: Span<UInt8>, _ storage: inout Storage
  ) throws(VaultError) -> VaultHeader {
    let header = try fromFormat(.header, VaultHeader(decoding: bytes, upTo: .second))
    // Another engine may have changed both since the tables were looked at.
    if (header.format > .first) != storage.isNewest { try fromStorage(storage.checkSchema()) }
    guard (header.format > .first) == storage.isNewest else { throw .damaged(.header) }
    return header
  }

  /// Whether it can have come of another one by a change that somebody made.
  func follows(_ before: VaultHeader) -> Bool {
    vault == before.vault && format >= before.format
  }
}

extension Trust {
  /// Takes the records in front of the items for true, if the sealed root vouches for them.
  init(
    _ front: FrontRecords, _ keys: borrowing Keyring, checks: IntegrityChecks
  ) throws(VaultError) {
    root = try keys.open(root: front.root.span)
    sealedRoot = front.root
    fingerprint = try keys.fingerprint(of: root)
    header = front.header
    sealedRing = front.ring
    copies = front.copies
    slots = front.slots
    let digest = try keys.headerDigest(
      header: front.header, ring: front.ring, copies: front.copies, slots: front.slots)
    guard digest == root.headerDigest || !checks.contains(.header) else {
      throw .damaged(.header)
    }
  }

  /// Checks that another state is a later one than this.
  ///
  /// - Parameter path: Where the vault stands, for the message.
  func check(successor next: Trust, checks: IntegrityChecks) throws(VaultError) {
    guard checks.contains(.epoch) else { return }
    let known = SeenCopy(epoch: root.epoch, time: root.time, path: [])
    guard next.root.epoch >= root.epoch else {
      throw .rolledBack(known, epoch: next.root.epoch)
    }
    let isFork =
      next.root.epoch == root.epoch
      || next.root.epoch == root.epoch + 1 && next.root.previous != fingerprint
    if isFork { throw .forked(known, epoch: next.root.epoch) }
  }
}
