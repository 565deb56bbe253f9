// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// The vault's format, as of the last call that read it.
  public var format: VaultFormat { header.format }

  /// Makes the vault one of format 2, after a copy of it as it is was put aside, checked and synced; items become rows
  /// of that format one by one, as they are changed.
  ///
  /// - Returns: The copy's path; nil where the vault is of format 2 already.
  /// - Throws: ``VaultError/pathTaken`` when there are nine copies already; ``VaultError/busy``: the same call again;
  ///   ``VaultError/damaged(_:)`` for a vault that is not whole; those of the file. Then nothing is changed.
  public mutating func takeOver() throws(VaultError) -> String? {
    try reading { _ throws(VaultError) in }
    guard format == .first else { return nil }
    let root = trust.root
    let ledger = CopyLedger(machine: try machine())
    let copy = try putAside()
    let noted: CopyLedger?
    do throws(VaultError) {
      noted = try writing { vault, draft throws(VaultError) in
        // What was written since is not in the copy.
        guard vault.trust.root == root else { throw .busy }
        return try vault.changeOver(ledger, &draft)
      }
    } catch {
      try? fromStorage(copy.removeFile())
      throw error
    }
    keys.format = .second
    keys.ring.ledger = noted
    header = VaultHeader(vault: id, format: .second)
    return copy.path
  }

  /// - Returns: What copies are to know of each other.
  private mutating func changeOver(
    _ ledger: CopyLedger, _ draft: inout Draft
  ) throws(VaultError) -> CopyLedger? {
    let kept = (keys.format, keys.ring.ledger)
    defer { (keys.format, keys.ring.ledger) = kept }
    try fromStorage(rows.storage.changeOver())
    let header = VaultHeader(vault: id, format: .second).encoded
    try fromStorage(rows.storage.storePart(.header, header.span))
    (draft.header, draft.copies) = (header, CopyParts())
    draft.root.copy = CopyState(device: try DeviceID.fresh())
    draft.root.logHead = .zero
    keys.format = .second
    keys.ring.ledger = ledger
    try noteSettings(&draft)
    try storeRing(&draft)
    return keys.ring.ledger
  }

  /// This machine, as this vault knows it.
  func machine() throws(VaultError) -> CopyLedger.MachineID {
    try fromFormat(.ring, CopyLedger.machine(named: options.machine, in: id))
  }

  // MARK: - The copy

  /// Copies the vault beside itself, and proves that the copy is whole.
  private mutating func putAside() throws(VaultError) -> FilePlace {
    FileDraft.sweep(place)
    let mark = try SlotID.fresh().hexadecimal
    let draft = try fromStorage(FileDraft.make(beside: place, mark: mark))
    do throws(CopyError) {
      try rows.storage.copyFile(at: place.path, to: draft, CopyWatch())
    } catch {
      switch error {
      case .source(let error), .draft(let error): throw VaultError(error)
      case .differs, .stopped: throw .io(0)
      }
    }
    try fromStorage(draft.sync())
    try checkCopy(draft.place)
    for number in 1...9 {
      let name = place.name + ".format-1" + (number == 1 ? "" : ".\(number)")
      let target = place.sibling(name)
      do throws(StorageError) {
        try draft.publish(as: target, replacing: false)
        return target
      } catch { guard error == .exists else { throw VaultError(error) } }
    }
    throw .pathTaken
  }

  private func checkCopy(_ copy: FilePlace) throws(VaultError) {
    let storage = try fromStorage(Storage.openAsItStands(copy.path))
    var verification = try Verification.begin(storage, self)
    // Another engine wrote before the file was held.
    guard verification.root == trust.root else { throw .busy }
    while try !verification.step(in: self).isFinished {}
    guard verification.progress.findingCount == 0 else { throw .damaged(.root) }
  }
}

// MARK: - Which copy this is

extension UnlockedVault {
  /// Makes this file a copy of its own, if nothing proves that this machine wrote it last: no two copies may count
  /// changes under one name.
  mutating func claim(_ draft: inout Draft) throws(VaultError) {
    guard let copy = draft.root.copy, let ledger = keys.ring.ledger else { return }
    let machine = try machine()
    guard isUnproved(copy) || ledger.machine != machine else { return }
    try draft.root.copy?.becomeAnother()
    if let device = draft.root.copy?.device, trust.copies?.remote != nil {
      // Before anything is counted under its name: who copies this disk is to find out where the two part.
      try prepare(try fromFormat(.header, DeviceSeed.random(vault: id, device: device)))
    }
    try fromStorage(rows.storage.deleteJournal(from: 1))
    try noteCopied(&draft)
    guard ledger.machine != machine else { return }
    keys.ring.ledger?.machine = machine
    try storeRing(&draft)
  }

  /// The same for work that may end long after, or come to nothing: the ring is only changed with what is committed.
  mutating func claimForBatch(_ draft: inout Draft) throws(VaultError) {
    let kept = keys.ring.ledger
    defer { keys.ring.ledger = kept }
    try claim(&draft)
    if keys.ring.ledger != kept { draft.ledger = keys.ring.ledger }
  }
}

extension UnlockedVault {
  /// Whether nothing proves that this machine wrote the file last, so that it may go on elsewhere as the same copy.
  func isUnproved(_ copy: CopyState?) -> Bool {
    copy.map { !isProved || $0.device != provedDevice } ?? false
  }
}

extension CopyState {
  /// Counts what is changed from now on under another name, in a journal of its own.
  mutating func becomeAnother() throws(VaultError) {
    self = CopyState(device: try DeviceID.fresh())
  }
}

extension RevisionEntry {
  /// A later change of the same copy.
  func advanced(by count: UInt64) -> RevisionEntry {
    RevisionEntry(device: device, counter: counter + count)
  }
}

extension Draft {
  /// Names the first of so many changes; nil in format 1.
  mutating func nextEntries(_ count: Int) throws(VaultError) -> RevisionEntry? {
    guard let first = try nextEntry() else { return nil }
    for _ in 1..<max(1, count) { _ = try nextEntry() }
    return first
  }

  /// Names a change of this copy that nothing else has; nil in format 1, where changes have no names.
  mutating func nextEntry() throws(VaultError) -> RevisionEntry? {
    guard var copy = root.copy else { return nil }
    guard copy.counter < RevisionEntry.counters.upperBound else { throw .damaged(.root) }
    copy.counter += 1
    root.copy = copy
    return RevisionEntry(device: copy.device, counter: copy.counter)
  }

  /// Who a change is that follows some revisions; nil in format 1.
  ///
  /// - Parameters:
  ///   - sides: None for what never was.
  ///   - item: What is changed; zero for settings and slots.
  mutating func nextLineage(
    after sides: [Lineage], of item: ItemID
  ) throws(VaultError) -> Lineage? {
    guard let entry = try nextEntry() else { return nil }
    let id = try RevisionID.fresh()
    let lineage = try fromFormat(.item, Lineage(id, at: entry, after: sides))
    note(lineage.stamp, of: item)
    return lineage
  }
}
