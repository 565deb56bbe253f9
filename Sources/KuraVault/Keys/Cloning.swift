// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Makes another vault of what a backup has copied, step by step: with the same items, and an identity of its own.
///
/// Nobody looks at the copy before it has a name, so that what is written of it is committed as it comes. Drop it before
/// the vault is locked; the copy goes with its backup then.
public struct Cloning: ~Copyable {
  private enum Part: ~Copyable {
    case sealing(Rekey)
    case proving(Verification)
    case done
  }

  /// How much of the file is written between two commits, in steps.
  private static let stepsPerCommit = 32

  private var part: Part
  private var steps = 0
  private let backup: Backup
  private let options: VaultOptions

  fileprivate init(_ rekey: consuming Rekey, _ backup: Backup, _ options: VaultOptions) {
    part = .sealing(rekey)
    self.backup = backup
    self.options = options
  }

  /// What it has done, and all that there is to do, in parts of a thousand.
  public var progress: (done: UInt64, total: UInt64) {
    switch part {
    case .sealing(let rekey): (rekey.progress.done * 600 / max(1, rekey.progress.total), 1_000)
    case .proving(let check):
      (600 + check.progress.done * 400 / max(1, check.progress.total), 1_000)
    case .done: (1_000, 1_000)
    }
  }

  /// Does a few milliseconds of work.
  ///
  /// - Returns: Whether there is more to do before ``Backup/publish()``.
  /// - Throws: ``VaultError/damaged(_:)`` for a row that is not what the root says; ``VaultError/copyDamaged`` when what
  ///   was written is not what it should be; ``VaultError/diskFull`` and others of the file. Drop it then.
  public mutating func step() throws(VaultError) -> Bool {
    var part = Part.done
    swap(&part, &self.part)
    switch consume part {
    case .sealing(var rekey):
      let hasMore = try rekey.step()
      steps += 1
      if hasMore {
        if steps.isMultiple(of: Self.stepsPerCommit) { try rekey.commitPart() }
        self.part = .sealing(rekey)
      } else {
        self.part = .proving(try prove(rekey.finishClone(backup, options)))
      }
      return true
    case .proving(var check):
      let progress = try check.step()
      guard progress.findingCount == 0 else { throw .copyDamaged }
      guard progress.isFinished else {
        self.part = .proving(check)
        return true
      }
      return false
    case .done: return false
    }
  }

  /// Begins to read what was written, by the keys that it is to have.
  private func prove(_ keys: RekeyKeys) throws(VaultError) -> Verification {
    guard let path = backup.draftPath else { throw .noVault }
    var storage = try fromStorage(Storage.openAsItStands(path))
    try fromStorage(storage.beginRead())
    try fromStorage(storage.scanItems(from: Span()))
    let front = try FrontRecords(&storage)
    let trust: Trust
    do throws(VaultError) {
      trust = try Trust(front, keys.next, checks: options.checks)
    } catch { throw error.isDamage ? .copyDamaged : error }
    return try Verification.begin(
      storage, front, trust.root, header: trust.header,
      try keys.next.copy(ring: front.ring, of: keys.next.format), checks: options.checks)
  }
}

extension UnlockedVault {
  /// Begins to make another vault of what a backup has copied. This one is not changed.
  ///
  /// - Parameters:
  ///   - backup: Begun by ``Backup/init(of:toClone:)``, copied, and not published yet.
  ///   - fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now for the passcode.
  ///   - slots: What is to open the clone.
  /// - Throws: ``VaultError/credentialStale``, ``VaultError/noProtectedHalf``, and those of the file.
  public mutating func beginClone(
    of backup: Backup, authorizedBy fresh: borrowing VaultKey, _ slots: borrowing RekeySlots
  ) throws(VaultError) -> Cloning {
    let oldPair = try protectedKey(from: fresh)
    guard let path = backup.draftPath else { throw .noVault }
    var storage = try fromStorage(Storage.open(at: path))
    try fromStorage(storage.beginWrite())
    let front = try FrontRecords(&storage)
    guard front.slots.contains(fresh.row) else { throw .credentialStale }
    let format = try VaultHeader.read(front.header.span, &storage).format
    let old = try keys.copy(ring: front.ring, of: format)
    let root = try Trust(front, old, checks: options.checks).root
    let header = VaultHeader(vault: try VaultID.fresh(), format: format)
    let vaultKey = try Key.fresh()
    let pair = ProtectedPair(secretHalf: try Key.fresh().finish())
    let (rows, notes) = try RekeyPlan.rows(
      of: slots, at: fresh.slot, label: fresh.payload.label, vaultKey, pair, of: header.vault,
      now: options.now())
    let next = try nextKeys(vaultKey, old, pair.publicHalf, notes, header)
    let sealed = try next.sealedRing()
    return Cloning(
      Rekey(
        storage, RekeyKeys(old, next, oldPair, moving: try MovedValues()), root,
        RekeyFront(ring: sealed, slots: rows, before: front.slots, slot: fresh.slot),
        checks: options.checks), backup, options)
  }

  private func nextKeys(
    _ vaultKey: borrowing Key, _ old: borrowing Keyring, _ half: [UInt8], _ notes: SlotNotes,
    _ header: VaultHeader
  ) throws(VaultError) -> Keyring {
    let machine = try fromFormat(
      .ring, CopyLedger.machine(named: options.machine, in: header.vault))
    let dataKey = try Key.fresh()
    var ring: Ring
    do {
      ring = try old.ring.rekeyed(
        to: dataKey, created: options.now(), protectedHalf: half, notes: notes)
    } catch { throw VaultError(error, about: .ring) }
    if let ledger = ring.ledger { ring.ledger = ledger.cloned(to: machine) }
    return try Keyring.derive(
      from: vaultKey, of: header,
      sealedRing: try Keyring.sealFirst(ring, under: vaultKey, vault: header.vault))
  }
}

// MARK: - The end

extension Rekey {
  /// Writes what was done until now: what nobody looks at yet needs no journal of all of it.
  fileprivate mutating func commitPart() throws(VaultError) {
    do {
      try rows.storage.commit()
      try rows.storage.beginWrite()
    } catch { throw VaultError(error) }
  }

  /// Writes all but the items, and closes the file.
  ///
  /// - Returns: The keys.
  fileprivate consuming func finishClone(
    _ backup: Backup, _ options: VaultOptions
  ) throws(VaultError) -> RekeyKeys {
    let (keys, front) = (keys, front)
    let header = VaultHeader(vault: keys.next.vault, format: keys.next.format).encoded
    var root = root
    (root.epoch, root.previous, root.logHead) = (1, .zero, .zero)
    (root.writer, root.time) = (try WriterID.fresh(), options.now())
    if root.copy != nil { root.copy = CopyState(device: try DeviceID.fresh()) }
    entries.sort { $0.tag < $1.tag }
    root.treeRoot = try rows.tree.build(
      entries, depth: root.depth, in: &rows.storage, keys.next)
    root.headerDigest = try keys.next.headerDigest(
      header: header, ring: front.ring, copies: root.copy == nil ? nil : CopyParts(),
      slots: front.slots)
    let sealed = try keys.next.seal(root)
    do {
      if root.copy != nil { try rows.storage.forgetCopies() }
      for row in front.before { try rows.storage.deleteSlot(row.number) }
      for row in front.slots { try rows.storage.storeSlot(row) }
      try rows.storage.storePart(.header, header.span)
      try rows.storage.storePart(.ring, front.ring.span)
      try rows.storage.storePart(.root, sealed.span)
      try rows.storage.commit()
      try rows.storage.truncateWAL()
    } catch { throw VaultError(error) }
    try backup.noteClone(root, keys.next)
    return keys
  }
}
