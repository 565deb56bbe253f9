// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Carries the slots that a vault is to have under its new key.
public struct RekeySlots: ~Copyable, Sendable {
  let passcode: PreparedSlot
  let keyFile: PreparedSlot?
  /// The slot that the key file opened.
  let keyFileNumber: UInt8
  let recovery: PreparedSlot?
  /// Others that go over.
  private(set) var others: [KeptSlot] = []

  /// - Parameters:
  ///   - passcode: For the passcode, or the recovery key, that was shown; it takes the place of the slot that this opened.
  ///   - keyFile: For a key file that was shown.
  ///   - keyFileNumber: The slot that this opened.
  ///   - recovery: A fresh one.
  public init(
    passcode: consuming PreparedSlot, keyFile: consuming PreparedSlot?, keyFileNumber: UInt8,
    recovery: consuming PreparedSlot?
  ) {
    self.passcode = passcode
    self.keyFile = keyFile
    self.keyFileNumber = keyFileNumber
    self.recovery = recovery
  }

  /// Has another slot go over to the new key.
  ///
  /// - Parameters:
  ///   - slot: What opens it from then on.
  ///   - number: Where it stands.
  public mutating func keep(_ slot: consuming PreparedSlot, at number: UInt8) {
    others.append(KeptSlot(slot, at: number))
  }

  /// The new recovery key as it is to be written down; without bytes when none is wanted.
  public var recoveryKeyText: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch recovery {
      case .some(let slot): slot.recoveryKeyText
      case .none: Span()
      }
    }
  }
}

/// Carries a slot that goes over to another key.
final class KeptSlot: Sendable {
  let slot: PreparedSlot
  let number: UInt8

  init(_ slot: consuming PreparedSlot, at number: UInt8) {
    self.slot = slot
    self.number = number
  }
}

extension UnlockedVault {
  /// Begins to put everything under a new vault key, a new protected pair and the given slots; all other
  /// slots end with it. Nothing is changed before ``finish(_:)-(Rekey)``.
  ///
  /// - Parameters:
  ///   - fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now for the passcode.
  ///   - slots: What is to open the vault afterwards.
  ///   - removed: Devices that share the vault, and are to share it no longer.
  /// - Throws: ``VaultError/busy``: the same call again. ``VaultError/credentialStale``,
  ///   ``VaultError/noProtectedHalf``, ``VaultError/recoveryKeyNeeded`` where other machines could not follow, and those
  ///   of the file.
  public mutating func beginRekey(
    authorizedBy fresh: borrowing VaultKey, _ slots: borrowing RekeySlots,
    removing removed: Set<DeviceID> = []
  ) throws(VaultError) -> Rekey {
    let oldPair = try protectedKey(from: fresh)
    let vaultKey = try Key.fresh()
    let pair = ProtectedPair(secretHalf: try Key.fresh().finish())
    let (rows, notes) = try RekeyPlan.rows(
      of: slots, at: fresh.slot, label: fresh.payload.label, vaultKey, pair, of: id,
      now: options.now())
    if try sparesStore(), !rows.hasRecoveryKey { throw .recoveryKeyNeeded }
    let epoch = try nextEpoch(under: vaultKey, removing: removed)
    return try beginRekey(
      from: oldPair, to: vaultKey, half: pair.publicHalf, rows, notes, at: fresh.slot, epoch)
  }

  /// The same to a key that is there already.
  ///
  /// - Parameters:
  ///   - slot: Which of the rows is the one that the vault is unlocked by then.
  ///   - epoch: What becomes of what the vault remembers of a store; nil where it is not shared.
  mutating func beginRekey(
    from oldPair: consuming ProtectedKey, to vaultKey: borrowing Key, half: [UInt8],
    _ rows: [SlotRow], _ notes: SlotNotes, at slot: UInt8, _ epoch: EpochChange?
  ) throws(VaultError) -> Rekey {
    let storage = try secondStorage(toWrite: true)
    let next = try nextKeys(vaultKey, half, notes, epoch)
    let sealed = try next.sealedRing()
    let old = try keys.copy(ring: trust.sealedRing, of: keys.format)
    return Rekey(
      storage, RekeyKeys(old, next, oldPair), trust.root,
      RekeyFront(ring: sealed, slots: rows, before: trust.slots, slot: slot, epoch: epoch),
      checks: options.checks)
  }

  /// Another connection to the vault at the state that is trusted, with the write lock or only to read.
  func secondStorage(toWrite: Bool) throws(VaultError) -> Storage {
    do throws(StorageError) {
      var storage = try Storage.open(at: place.path)
      if toWrite { try storage.beginWrite() } else { try storage.beginRead() }
      // Somebody may have written since.
      guard try storage.hasRoot(trust.sealedRoot) else { throw .busy }
      return storage
    } catch { throw VaultError(error) }
  }

  private func nextKeys(
    _ vaultKey: borrowing Key, _ half: [UInt8], _ notes: SlotNotes, _ epoch: EpochChange?
  ) throws(VaultError) -> Keyring {
    let dataKey = try Key.fresh()
    var ring: Ring
    do {
      ring = try keys.ring.rekeyed(
        to: dataKey, created: options.now(), protectedHalf: half, notes: notes)
    } catch { throw VaultError(error, about: .ring) }
    if let epoch {
      ring.ledger?.epoch = epoch.id
      ring.ledger?.waiting = epoch.waiting
    }
    return try Keyring.derive(
      from: vaultKey, of: header,
      sealedRing: try Keyring.sealFirst(ring, under: vaultKey, vault: id))
  }
}

extension Storage {
  /// Whether the root is this one.
  fileprivate mutating func hasRoot(_ known: [UInt8]) throws(StorageError) -> Bool {
    guard let root = try part(.root) else { return false }
    return root.isEqual(to: known.span)
  }
}

/// Collects slots as they are sealed for a new vault key.
struct RekeyPlan {
  private let vault: VaultID
  private let now: UInt64
  private var rows: [SlotRow] = []
  private var notes = SlotNotes()

  private init(vault: VaultID, now: UInt64) {
    self.vault = vault
    self.now = now
  }

  /// The slots that are to open a vault by its new key, and what there is to say of them.
  ///
  /// - Parameters:
  ///   - number: Where the passcode's slot is to stand, and how it is called.
  ///   - vault: The id of the vault that they open.
  static func rows(
    of slots: borrowing RekeySlots, at number: UInt8, label: [UInt8], _ vaultKey: borrowing Key,
    _ pair: borrowing ProtectedPair, of vault: VaultID, now: UInt64
  ) throws(VaultError) -> ([SlotRow], SlotNotes) {
    var plan = RekeyPlan(vault: vault, now: now)
    try plan.add(slots.passcode, at: number, label: label, vaultKey, pair)
    switch slots.keyFile {
    case .some(let slot):
      try plan.add(slot, at: slots.keyFileNumber, label: slot.naming.label, vaultKey, pair)
    case .none: break
    }
    for kept in slots.others {
      try plan.add(kept.slot, at: kept.number, label: kept.slot.naming.label, vaultKey, pair)
    }
    switch slots.recovery {
    case .some(let slot):
      try plan.add(slot, at: plan.freeNumber, label: slot.naming.label, vaultKey, pair)
    case .none: break
    }
    return (plan.rows, plan.notes)
  }

  /// The lowest number that is not taken.
  private var freeNumber: UInt8 {
    let taken = Set(rows.map(\.number))
    return (0..<UInt8(KDFLimits.mostSlots)).first { !taken.contains($0) } ?? 0
  }

  private mutating func add(
    _ slot: borrowing PreparedSlot, at number: UInt8, label: [UInt8], _ vaultKey: borrowing Key,
    _ pair: borrowing ProtectedPair
  ) throws(VaultError) {
    let payload = try SlotPayload.of(vaultKey, created: now, label: label)
    notes.set(try slot.note(created: now, label: label))
    let row = try slot.row(number, holding: payload, protected: pair.secretHalf, vault: vault)
    rows.insert(row, at: rows.firstIndex { $0.number > number } ?? rows.endIndex)
  }
}

// MARK: - The end

extension UnlockedVault {
  /// Commits a rekey that has nothing left to do; the vault stays unlocked, under the new keys.
  ///
  /// What stood under the old ones is overwritten in the file, and the WAL is cleared.
  ///
  /// - Throws: Errors of the file, after which the vault is as it was.
  public mutating func finish(_ rekey: consuming Rekey) throws(VaultError) {
    let keys = rekey.keys
    let next = try keys.next.copy(ring: rekey.front.ring, of: keys.next.format)
    let trust = try write(&rekey)
    let log = try rekeyedLog(keys.next.log)
    let logEnd = end(of: log)
    // Held until the commit, so that nobody writes over the record that is to count after it.
    let seen = try noteAhead(trust, keys.next, logHead: logEnd)
    let hasSeed = try prepareSeed(for: keys.next)
    try fromStorage(rekey.rows.storage.commit())
    _ = consume seen
    if hasSeed { publishSeed() }
    adopt(trust, next, rekey.front)
    publish(log)
    rekey.close()
    noteTwice()
    // The vault is under the new keys whatever happens now: what is left to clear, the next flush
    // clears, and so does the last one who closes the file.
    mustTruncate = true
    try? truncateWAL()
  }

  /// Writes all but the items.
  ///
  /// - Returns: What is trusted once it is committed.
  private func write(_ rekey: inout Rekey) throws(VaultError) -> Trust {
    let (keys, front) = (rekey.keys, rekey.front)
    var root = rekey.root
    root.epoch += 1
    root.previous = trust.fingerprint
    root.writer = writer
    root.time = options.now()
    if isUnproved(root.copy) { try root.copy?.becomeAnother() }
    let copies = try keys.resealCopies(
      trust.copies, in: &rekey.rows.storage, for: front.epoch)
    rekey.entries.sort { $0.tag < $1.tag }
    root.treeRoot = try rekey.rows.tree.build(
      rekey.entries, depth: root.depth, in: &rekey.rows.storage, keys.next)
    try keys.resealJournal(of: &root, before: trust.root, in: &rekey.rows.storage)
    root.headerDigest = try keys.next.headerDigest(
      header: trust.header, ring: front.ring, copies: copies, slots: front.slots)
    let sealed = try keys.next.seal(root)
    do {
      for row in front.before { try rekey.rows.storage.deleteSlot(row.number) }
      for row in front.slots { try rekey.rows.storage.storeSlot(row) }
      try rekey.rows.storage.storePart(.ring, front.ring.span)
      try rekey.rows.storage.storePart(.root, sealed.span)
    } catch { throw VaultError(error) }
    return Trust(
      root: root, sealedRoot: sealed, fingerprint: try keys.next.fingerprint(of: root),
      header: trust.header, sealedRing: front.ring, copies: copies, slots: front.slots)
  }

  private func end(of log: borrowing RekeyedLog?) -> Digest {
    switch log {
    case .some(let log): log.end
    case .none: entriesSwitchedOff().map { Digest(switchedOff: $0) } ?? .zero
    }
  }

  private mutating func publish(_ log: consuming RekeyedLog?) {
    if let log { log.publish() }
    self.log.position = nil
    self.log.unnoted = nil
    self.log.isDirty = false
  }

  /// Leaves no record of the old key in the seen file: a copy from before is told by that.
  private mutating func noteTwice() {
    seenEpoch = trust.root.epoch - 1
    try? flushSeen()
  }

  private mutating func adopt(_ next: Trust, _ keys: consuming Keyring, _ front: RekeyFront) {
    self.keys = keys
    trust = next
    rows.tree.forget()
    rekeyCount += 1
    // What goes by tags begins anew.
    rotationCheck = nil
    sweeper.restart()
    seenEpoch = next.root.epoch
    unlockSlot = front.slot
    (isProved, provedDevice, isWriterNoted) = (true, next.root.copy?.device, false)
    mustTruncate = true
    let kept = Set(front.slots.compactMap(\.id))
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    let places = KeyFilePlaces(stateDirectory: options.stateDirectory)
    for row in front.before {
      guard let id = row.id, !kept.contains(id) else { continue }
      devices.remove(id)
      // A key file that goes over has a slot of its own, in the same place.
      let heir = front.slots.first { $0.number == row.number && $0.kind == .keyFile }?.id
      if let heir { places.move(from: id, to: heir) } else { places.forget(id) }
    }
  }
}

extension Rekey {
  /// Closes its connection.
  fileprivate consuming func close() {}
}
