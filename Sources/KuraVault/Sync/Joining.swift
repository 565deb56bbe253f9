// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds what a store has of a vault that a new machine begins with, or of an epoch that one is to enter: the slots that
/// open it, and the epoch.
public struct JoinOffer: Equatable, Sendable {
  /// The header and the slots.
  let header: HeaderObject
  /// The record of the epoch, as it stands in the store.
  let record: [UInt8]
  /// The epoch.
  let epoch: DeviceTable.Epoch
  /// Who made other epochs beside it.
  var rivals: Set<DeviceID> = []
  /// What may be entered in its place.
  public internal(set) var others: [JoinOffer] = []

  /// Takes what was found; nothing of it is known to be anybody's before a slot opens.
  ///
  /// - Parameters:
  ///   - header: A header object.
  ///   - record: The object of the record of the epoch that it stands in.
  ///   - epoch: That epoch.
  ///   - vault: The vault that it has to be.
  /// - Throws: ``VaultError/copyRefused(_:)`` for another vault's; ``VaultError/copyDamaged``.
  public init(
    _ header: HeaderObject, record: [UInt8], in epoch: DeviceTable.Epoch, of vault: VaultID
  ) throws(VaultError) {
    (self.header, self.record, self.epoch) = (header, record, epoch)
    guard header.header.vault == vault else { throw .copyRefused(.otherVault) }
    guard try openedRecord().vault == vault else { throw .copyRefused(.otherVault) }
  }

  /// Takes what a machine left in a store, as it stands there.
  ///
  /// - Parameters:
  ///   - head: The machine's head.
  ///   - header: The header object that it names.
  ///   - record: The record that it names.
  /// - Throws: As above; ``VaultError/newerFormat(_:)``.
  public init(
    head: Span<UInt8>, header: Span<UInt8>, record: Span<UInt8>
  ) throws(VaultError) {
    let front: RemoteHead
    let found: HeaderObject
    do throws(VaultError) {
      front = try fromFormat(.header, RemoteHead(decoding: head))
      found = try fromFormat(.header, HeaderObject(of: header, in: front))
      guard try fromFormat(.header, RemoteObject.name(of: record)) == front.record else {
        throw .damaged(.header)
      }
    } catch { throw error.ofCopy }
    try self.init(found, record: [UInt8](copying: record), in: front.epoch, of: front.vault)
  }

  /// What a worker needs to try a passcode or recovery key.
  ///
  /// - Parameters:
  ///   - stateDirectory: Where this machine's state stands.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/damaged(_:)``.
  public func attempt(
    stateDirectory: String, availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> UnlockAttempt {
    var slots: [UnlockAttempt.Slot] = []
    for (number, slot) in zip(UInt8(0)..., header.slots) {
      let header = try fromFormat(.slot, SlotHeader(decoding: slot.header.span))
      slots.append(UnlockAttempt.Slot(row: slot.row(number), header: header))
    }
    return UnlockAttempt(
      vault: header.header.vault, elsewhere: slots, availableMemory: availableMemory,
      devices: DeviceSecrets(stateDirectory: stateDirectory))
  }

  /// Whether the epoch took out who made another one, so that one that does not is rather entered.
  ///
  /// - Throws: ``VaultError/copyDamaged``.
  public func removesRivals(by key: borrowing VaultKey) throws(VaultError) -> Bool {
    try cut(under: key.payload.vaultKey).removed.contains { rivals.contains($0.device) }
  }

  /// Checks that what opened a slot opens the record of the epoch as well.
  ///
  /// - Throws: ``VaultError/copyDamaged``; ``VaultError/passcodesInStore`` for a header with slots that the epoch keeps
  ///   out of the store.
  public func check(by key: borrowing VaultKey) throws(VaultError) {
    _ = try cut(under: key.payload.vaultKey)
  }

  func openedRecord() throws(VaultError) -> EpochRecord {
    do throws(VaultError) { return try EpochRecord(object: record.span, in: epoch) } catch {
      throw error.ofCopy
    }
  }

  /// What the epoch took over, which only its own key tells.
  func cut(under vaultKey: borrowing Key) throws(VaultError) -> EpochCut {
    let record = try openedRecord()
    let place = AssociatedData.remote(
      .epochRecord, vault: record.vault, device: record.maker, epoch: epoch)
    do throws(VaultError) {
      let key = try vaultKey.subkey(.remote, of: record.vault)
      let plain = try place.openPadded(record.sealed.span, under: key, .header)
      let cut = try fromFormat(.header, EpochCut(decoding: plain.bytes))
      // Who has no key may put another slot beside that of the recovery key.
      guard !cut.isSparing || header.isSparing else { throw .passcodesInStore }
      return cut
    } catch { throw error.ofCopy }
  }

  /// Whether the epoch has a key of its own.
  func hasOtherKey(
    _ key: borrowing Key, than otherKey: borrowing Key
  ) throws(VaultError) -> Bool {
    let vault = header.header.vault
    let mark = try key.subkey(.remote, of: vault).finish()
    let otherMark = try otherKey.subkey(.remote, of: vault).finish()
    return !mark.isEqual(to: otherMark)
  }

  /// The slots that the vault begins with, the one that opened first, and those that find no room.
  func slots(opened: SlotRow) -> (rows: [SlotRow], waiting: [WaitingSlot]) {
    var (rows, waiting) = ([SlotRow](), [WaitingSlot]())
    let first = header.slots.filter { $0.header == opened.header }
    for slot in first + header.slots.filter({ $0.header != opened.header }) {
      let row = slot.row(UInt8(clamping: rows.count))
      let isCostly = SlotSummary.list([row]).contains { $0.kdf != nil }
      let costly = SlotSummary.list(rows).count { $0.kdf != nil }
      if rows.count < KDFLimits.mostSlots, !isCostly || costly < KDFLimits.mostArgon2Slots {
        rows.append(row)
      } else {
        waiting.append(slot)
      }
    }
    return (rows, waiting)
  }
}

extension HeaderObject {
  /// Reads the one that a head names.
  fileprivate init(of object: Span<UInt8>, in head: RemoteHead) throws(FormatError) {
    try self.init(
      decoding: try RemoteObject.body(of: object, .header, in: head.epoch, named: head.header))
  }
}

extension WaitingSlot {
  fileprivate func row(_ number: UInt8) -> SlotRow {
    SlotRow(number: number, header: header, key: key, protected: protected)
  }
}

// MARK: - The vault

extension UnlockedVault {
  /// Where another file of this vault stands on this machine, which has met the store as what this one was: each of two
  /// that met it in turn would take another name every time. Nil where this one goes on under its name, or is alone.
  public mutating func otherFile() throws(VaultError) -> [UInt8]? {
    guard try isShared() else { return nil }
    let device = try ownDevice()
    guard try memoryOfShared().device == device else { return nil }
    guard try isSeedOfAnother(than: device) else { return nil }
    return try Self.otherPlace(of: id, than: place.path, options, but: identity)
  }

  fileprivate static func otherPlace(
    of vault: VaultID, than own: String, _ options: VaultOptions, but identity: FileIdentity? = nil
  ) throws(VaultError) -> [UInt8]? {
    for place in try PlaceFile(in: options.stateDirectory).paths(of: vault) {
      let text = String(decoding: place, as: UTF8.self)
      guard text != own, let file = try? LockedVault(at: text, options: options) else { continue }
      // One file may have two paths.
      let isSame = file.id == vault && file.identity != identity
      file.close()
      if isSame { return place }
    }
    return nil
  }
}

extension VaultDraft {
  /// Checks that a vault can be made at a path, before anything is tried for it.
  ///
  /// - Throws: ``VaultError/pathTaken``, ``VaultError/walLeftBehind``, and those of the directory.
  public static func checkPlace(_ path: String) throws(VaultError) { _ = try freePlace(path) }

  /// Where the vault of an offer stands on this machine already, beside the path that it is to have: two files of one
  /// vault here would be taken for each other. Nil for nowhere that is known.
  public static func otherPlace(
    of offer: JoinOffer, than path: String, options: VaultOptions
  ) throws(VaultError) -> [UInt8]? {
    let own = (try? FilePlace.resolve(path).path) ?? ""
    return try UnlockedVault.otherPlace(of: offer.header.header.vault, than: own, options)
  }

  /// Writes a copy of a vault that stands in a store beside the path that it is to have: with its id, key and slots, and
  /// without items, which come from the store then.
  ///
  /// - Parameters:
  ///   - offer: What the store has.
  ///   - path: Absolute; directories that are missing are made, with mode 0700.
  ///   - options: Where this machine's state stands, and the time.
  ///   - key: What ``JoinOffer/attempt(stateDirectory:availableMemory:)`` opened.
  ///   - label: What its owner calls this copy; nil for the machine's name.
  /// - Throws: ``VaultError/copyDamaged`` for a record that the key does not open; ``VaultError/noProtectedHalf``;
  ///   those of ``make(at:options:passcode:kdf:allowsWeak:wantsRecoveryKey:isCode:)``; nothing is left behind.
  public static func join(
    _ offer: JoinOffer, at path: String, options: VaultOptions, by key: borrowing VaultKey,
    label: [UInt8]? = nil
  ) throws(VaultError) -> VaultDraft {
    let target = try freePlace(path)
    try StatePlace.check(options.stateDirectory)
    let label = try Sharing.label(label)
    let vault = offer.header.header.vault
    let cut = try offer.cut(under: key.payload.vaultKey)
    guard key.holdsProtectedHalf else { throw .noProtectedHalf }
    let pair = ProtectedPair(secretHalf: try key.protectedHalf(vault: vault))
    let now = options.now()
    var ring = Ring(dataKey: try Key.fresh(), created: now, protectedHalf: pair.publicHalf)
    var ledger = CopyLedger(
      machine: try fromFormat(.ring, CopyLedger.machine(named: options.machine, in: vault)))
    let slots = offer.slots(opened: key.row)
    (ledger.epoch, ledger.waiting) = (offer.epoch, slots.waiting)
    ring.ledger = ledger
    ring.notes = try key.notes(beside: slots.rows)
    let sealedRing = try Keyring.sealFirst(ring, under: key.payload.vaultKey, vault: vault)
    let keys = try Keyring.derive(
      from: key.payload.vaultKey, of: offer.header.header, sealedRing: sealedRing)
    let name = try DeviceID.fresh()
    let seed = try fromFormat(.header, DeviceSeed.random(vault: vault, device: name))
    let copies = try keys.seal(
      offer.devices(seed, label, cut), offer.memory(of: seed.device, cut))
    let file = try DraftFile.make(beside: target)
    let last = SeenFile.look(at: vault, in: options.stateDirectory, key: keys.seen)
    var root = RootRecord(
      epoch: SeenFile.highestEpoch(of: vault, options) + 1, itemCount: 0, deletedCount: 0, depth: 1,
      treeRoot: .zero,
      headerDigest: .zero, previous: last?.fingerprint ?? .zero, writer: try WriterID.fresh(),
      time: now, copy: CopyState(device: seed.device))
    let header = offer.header.header.encoded
    root.headerDigest = try keys.headerDigest(
      header: header, ring: sealedRing, copies: copies, slots: slots.rows)
    let front = JoinedFront(
      header: header, ring: sealedRing, root: try keys.seal(root), copies: copies,
      slots: slots.rows)
    try fromStorage(front.write(at: file.place))
    let seen = try FirstSight(
      root, at: target, keys, in: options.stateDirectory, after: last)
    let device = try DraftDevice.make(for: seed, under: keys.sync, in: options.stateDirectory)
    return VaultDraft(file, target, seen, device)
  }
}

extension JoinOffer {
  /// The copies that are known: this one, and those that were removed.
  fileprivate func devices(
    _ seed: borrowing DeviceSeed, _ label: [UInt8], _ cut: EpochCut
  ) throws(VaultError) -> DeviceTable {
    let key = try fromFormat(.header, seed.pair()).publicHalf
    var table = DeviceTable(
      try fromFormat(.header, DeviceNote(device: seed.device, label: label, key: key)))
    for device in cut.removed {
      var note = try fromFormat(.header, DeviceNote(device: device.device))
      note.removedAt = device.counter
      guard table.set(note) else { throw .copyDamaged }
    }
    return table
  }

  /// What the new copy remembers of the store.
  fileprivate func memory(of device: DeviceID, _ cut: EpochCut) -> RemoteMemory {
    var memory = RemoteMemory(device: device, record: record)
    (memory.mustWalk, memory.awaitsSlots, memory.leavesOld) = (true, true, true)
    memory.covered = RevisionVector(
      cut.taken.filter { $0.counter > 0 }.map {
        RevisionEntry(device: $0.device, counter: $0.counter)
      })
    return memory
  }
}

extension VaultKey {
  /// The same as it opens the vault that ``VaultDraft/join(_:at:options:by:label:)`` made with it.
  public consuming func ofJoined() -> VaultKey {
    let row = SlotRow(
      number: 0, header: self.row.header, key: self.row.key, protected: self.row.protected)
    return VaultKey(payload: payload, secret: secret, row: row, credential: credential)
  }

  /// What the ring is to note of the slots that a store had, of which this one opened.
  borrowing func notes(beside rows: [SlotRow]) throws(VaultError) -> SlotNotes {
    var notes = SlotNotes()
    for row in rows {
      if let note = try row.noteOfStore() { notes.set(note) }
    }
    let header = try fromFormat(.slot, SlotHeader(decoding: row.header.span))
    notes.set(
      try fromFormat(
        .slot,
        SlotNote(
          slot: header.id, created: payload.created,
          isWeakCostMeant: header.kdf.map(KDFLimits.isWeak) ?? false, label: payload.label)))
    return notes
  }
}

/// Holds all that stands in the file of a vault that has no item yet.
private struct JoinedFront {
  let header: [UInt8]
  let ring: [UInt8]
  let root: [UInt8]
  let copies: CopyParts
  let slots: [SlotRow]

  func write(at place: FilePlace) throws(StorageError) {
    var storage = try Storage.create(at: place.path)
    try storage.beginWrite()
    try storage.changeOver()
    try storage.beginSharing()
    try storage.storePart(.header, header.span)
    try storage.storePart(.ring, ring.span)
    try storage.storePart(.root, root.span)
    try storage.store(copies)
    for slot in slots { try storage.storeSlot(slot) }
    try storage.commit()
    try storage.truncateWAL()
  }
}
