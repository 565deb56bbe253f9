// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Checks that the path still names the file that is open: what is written to another is lost.
  ///
  /// - Throws: ``VaultError/replaced``.
  public func checkInPlace() throws(VaultError) {
    guard let now = try? place.identity(), now == identity else { throw .replaced }
  }

  /// Runs reads on one state of the file, whose root was verified.
  mutating func reading<Result: ~Copyable>(
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try checkInPlace()
    try fromStorage(rows.storage.beginRead())
    defer { rows.storage.end() }
    try trustRoot()
    return try body(&self)
  }

  /// Runs a change as one transaction, which ends with a new sealed root.
  ///
  /// - Parameter body: Changes rows, and the draft to match; what it throws undoes all.
  mutating func writing<Result: ~Copyable>(
    _ body: (inout UnlockedVault, inout Draft) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try checkInPlace()
    try fromStorage(rows.storage.beginWrite())
    var isCommitted = false
    defer {
      rows.storage.end()
      // What is kept of the tree may be of rows that came to nothing.
      if !isCommitted { rows.tree.forget() }
    }
    try trustRoot()
    var draft = try Draft(after: trust, by: writer, at: options.now())
    let (kept, before) = (keys.ring.ledger, trust.root)
    defer {
      if !isCommitted {
        keys.ring.ledger = kept
        trust.see(before)
      }
    }
    try claim(&draft)
    let result = try body(&self, &draft)
    try commit(draft)
    isCommitted = true
    return result
  }

  /// Changes one item after the other in one transaction, each as those before it left the vault.
  ///
  /// - Parameter change: Changes one item; what it throws undoes all.
  mutating func each(
    of names: inout ItemNames, _ draft: inout Draft,
    _ change: (inout UnlockedVault, borrowing ItemNames, Int, inout Draft) throws(VaultError) ->
      Void
  ) throws(VaultError) {
    try names.forEach { names, index throws(VaultError) in
      if index > 0 {
        trust.see(draft.root)
        rows.tree.keepStaged()
      }
      try change(&self, names, index, &draft)
    }
  }

  /// Clears the WAL of what a change of slots or of a class left in it; where another reader
  /// is in the way, ``flushSeen()`` does it later.
  public mutating func clearWAL() throws(VaultError) {
    guard mustTruncate else { return }
    do { try truncateWAL() } catch { guard error == .busy else { throw error } }
  }

  /// Seals the draft as the new root and commits.
  mutating func commit(_ changed: Draft) throws(VaultError) {
    var draft = changed
    try journalChanges(&draft)
    if draft.freesName { try noteFreedName(&draft) }
    noteWriter()
    let sealed = try keys.seal(draft.root)
    let fingerprint = try keys.fingerprint(of: draft.root)
    do {
      try rows.storage.storePart(.root, sealed.span)
      try rows.storage.commit()
    } catch { throw VaultError(error) }
    rows.tree.keepStaged()
    for value in draft.orphaned { sweeper.add(value) }
    if draft.leavesOldBodies { mustTruncate = true }
    trust.advance(to: draft, sealed: sealed, fingerprint: fingerprint)
    (isProved, provedDevice) = (true, draft.root.copy?.device)
    if let ledger = draft.ledger { keys.ring.ledger = ledger }
  }

  /// Makes sure that what is trusted is what the file says now.
  ///
  /// Another engine may have written since: then its root must be a later one, and everything in front
  /// of the items is read and checked again.
  mutating func trustRoot() throws(VaultError) {
    if try isRootUnchanged() { return }
    try fromStorage(rows.storage.checkSchema())
    let front = try FrontRecords(&rows.storage)
    let header = try VaultHeader.read(front.header.span, &rows.storage)
    guard header.follows(self.header) else { throw .damaged(.header) }
    let next: Trust
    do throws(VaultError) {
      // What another engine took over is read so from here on.
      keys.format = header.format
      next = try Trust(front, keys, checks: options.checks)
    } catch {
      keys.format = self.header.format
      // Another engine put the vault under a new key, which leaves none of the slots: who proves to be
      // its owner can unlock it again.
      let known = trust.slots
      guard case .damaged = error, !front.slots.contains(where: { known.contains($0) }) else {
        throw error
      }
      throw .replaced
    }
    try trust.check(successor: next, checks: options.checks)
    if front.ring != trust.sealedRing { try keys.reload(ring: front.ring, of: header.format) }
    self.header = header
    // Another engine here makes the file its own by the same rule; one on another machine takes another name first.
    if next.root.copy?.device != provedDevice {
      let own = try machine()
      isProved = isProved && keys.ring.ledger?.machine == own
      provedDevice = next.root.copy?.device
    }
    trust = next
    rows.tree.forget()
  }

  private mutating func isRootUnchanged() throws(VaultError) -> Bool {
    let known = trust.sealedRoot
    return try rows.storage.record(.root, .root).isEqual(to: known.span)
  }

  /// Leaves no old page in the WAL.
  mutating func truncateWAL() throws(VaultError) {
    try fromStorage(rows.storage.truncateWAL())
    mustTruncate = false
  }
}

extension Span<UInt8> {
  /// Whether both hold the same bytes; not in constant time.
  func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }
}
