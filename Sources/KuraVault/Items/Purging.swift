// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Says how much of an item goes for good.
public enum PurgeScope: Equatable, Sendable {
  /// All of it, deleted or not.
  case item
  /// Every earlier revision.
  case history
  /// One earlier revision.
  case revision(UInt64)
}

/// Carries a purge on whose rows are gone, and whose large values are going.
public struct Purge: Sendable {
  private(set) var values: [ValueID]
  /// How many revisions went.
  public let removedCount: UInt64
  /// How many of them were damaged, so that nobody could have read them.
  public let damagedCount: UInt64

  /// Whether only the WAL is left to be cleared.
  public var isSwept: Bool { values.isEmpty }

  mutating func removeLast() { values.removeLast() }
}

extension UnlockedVault {
  /// Takes an item, or earlier revisions of it, out of the vault for good. The rows are gone with this
  /// call; ``advance(_:)`` and `clearWAL()` do the rest, at once.
  ///
  /// What is damaged goes, too, as long as the tree says where it belongs: an item whose row is damaged or missing
  /// as a whole, and a damaged earlier revision also by itself.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - scope: What goes.
  ///   - owner: The owner's proof, which an item takes that is protected, deleted or not.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionNotFound``,
  ///   ``VaultError/revisionCurrent`` for a revision that is the current one or stands beside it in a conflict,
  ///   ``VaultError/ownerNeeded``, and those of the file.
  public mutating func purge(
    _ name: Span<UInt8>, _ scope: PurgeScope, by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) -> Purge {
    let tag = try tag(of: name)
    return try writing(by: owner) { vault, draft throws(VaultError) in
      draft.leavesOldBodies = true
      if scope == .item, try vault.isDamaged(tag) {
        // What it was cannot be told: who damages the row of a protected item must not be rid of it by that.
        guard draft.isByOwner else { throw .ownerNeeded }
        return try vault.purgeDamaged(tag, &draft)
      }
      let change = try vault.beginChange(of: tag)
      switch scope {
      case .item: return try vault.purgeAll(change, &draft)
      case .history: return try vault.purge(change, nil, &draft)
      case .revision(let revision): return try vault.purge(change, revision, &draft)
      }
    }
  }

  /// Deletes some chunks of what was purged.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/busy``: again; the sweep does it otherwise.
  public mutating func advance(_ purge: inout Purge) throws(VaultError) -> Bool {
    guard let value = purge.values.last else { return false }
    if try sweepSlice(value) { purge.removeLast() }
    return !purge.isSwept
  }

  /// Leaves nothing of what was purged in the WAL.
  ///
  /// - Throws: ``VaultError/busy`` while another reader is in the way; ``flushSeen()`` does it later.
  public mutating func finishPurge() throws(VaultError) { try truncateWAL() }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  private mutating func purgeAll(
    _ change: consuming ItemChange, _ draft: inout Draft
  ) throws(VaultError) -> Purge {
    guard let (facts, history) = change.kept else { throw .notFound }
    try draft.checkRelease(of: change)
    var (values, damaged) = try soundValues(of: history.entries, facts.id)
    do throws(VaultError) {
      if let value = try currentValueID(facts.tag) { values.insert(value) }
    } catch { damaged += try Self.count(error) }
    if damaged > 0 { try values.formUnion(unnamedValues(besides: facts.tag)) }
    let trace = try traceOfPurge(of: change, &draft)
    if change.isDeleted { try draft.countDeleted(false) }
    guard draft.root.itemCount > draft.root.deletedCount || change.isDeleted,
      draft.root.itemCount > 0
    else { throw .damaged(.root) }
    draft.root.itemCount -= 1
    draft.freesName = true
    try orphan(values, &draft)
    try rows.storage.deleteKept(history.entries, of: facts.id)
    try removeRow(facts.tag, change.path, &draft)
    if let trace { try leave(trace, &draft) }
    return Purge(
      values: draft.orphaned, removedCount: UInt64(history.entries.count + 1),
      damagedCount: damaged)
  }

  /// Takes one earlier revision away, or all of them.
  private mutating func purge(
    _ change: consuming ItemChange, _ revision: UInt64?, _ draft: inout Draft
  ) throws(VaultError) -> Purge {
    guard let (facts, before) = change.kept else { throw .notFound }
    if revision == facts.revision { throw .revisionCurrent }
    let dropped = before.entries.filter { revision == nil || $0.revision == revision }
    guard !dropped.isEmpty || revision == nil else { throw .revisionNotFound }
    let standing = try standingRevisions(of: change)
    guard dropped.allSatisfy({ !standing.contains($0.revision) }) else { throw .revisionCurrent }
    try draft.checkRelease(of: change)
    var history = before
    for entry in dropped { history.remove(entry.revision) }
    var (orphans, damaged) = try soundValues(of: dropped, facts.id)
    let (others, unknown) = try soundValues(of: history.entries, facts.id)
    let current = try currentValueID(facts.tag)
    if damaged > 0 { try orphans.formUnion(unnamedValues(besides: facts.tag)) }
    // What a damaged revision that stays has of pieces goes with that one.
    if let current { orphans.remove(current) }
    if unknown == 0 { try orphan(orphans.subtracting(others), &draft) }
    try rows.storage.deleteKept(dropped, of: facts.id)
    let row = try rows.withCurrent(facts.tag, under: trust.root, keys) {
      found, _ throws(VaultError) in
      ResealedRow(
        facts: found.facts, meta: [UInt8](copying: found.row.meta),
        body: [UInt8](copying: found.row.body))
    }
    guard let row else { throw .damaged(.item) }
    try store(row, history, at: change.path, &draft)
    return Purge(
      values: draft.orphaned, removedCount: UInt64(dropped.count), damagedCount: damaged)
  }

  /// The kept revisions that are no earlier ones: the item has them beside the one that is shown. What a damaged one has
  /// cannot be told.
  private mutating func standingRevisions(
    of change: borrowing ItemChange
  ) throws(VaultError) -> Set<UInt64> {
    switch change.current {
    case .none: return []
    case .some(let current):
      let sides = try current.trail().sides
      do throws(VaultError) {
        return try neededRevisions(of: current).union(sides)
      } catch {
        guard error.isDamageOfRow else { throw error }
        return Set(sides)
      }
    }
  }

  mutating func orphan(
    _ values: Set<ValueID>, _ draft: inout Draft
  ) throws(VaultError) {
    for value in values {
      let bytes = value.bytes
      try fromStorage(rows.storage.markOrphan(bytes.span))
      draft.orphaned.append(value)
    }
  }
}
