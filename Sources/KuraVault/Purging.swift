// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// How much of an item goes for good.
public enum PurgeScope: Equatable, Sendable {
  /// All of it, deleted or not.
  case item
  /// Every earlier revision.
  case history
  /// One earlier revision.
  case revision(UInt64)
}

/// A purge whose rows are gone, and whose large values are going.
public struct Purge: Sendable {
  private(set) var values: [ValueID]

  /// Whether only the journal is left to be cleared.
  public var isSwept: Bool { values.isEmpty }

  mutating func removeLast() { values.removeLast() }
}

extension UnlockedVault {
  /// Takes an item, or earlier revisions of it, out of the vault for good. The rows are gone with this
  /// call; ``advance(_:)`` and `clearJournal()` do the rest, at once.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - scope: What goes.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionNotFound``,
  ///   ``VaultError/revisionCurrent`` for a revision that is the current one, and those of the file.
  public mutating func purge(
    _ name: Span<UInt8>, _ scope: PurgeScope
  ) throws(VaultError) -> Purge {
    let tag = try tag(of: name)
    let values = try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      draft.leavesOldBodies = true
      switch scope {
      case .item: try vault.purgeAll(change, &draft)
      case .history: try vault.purge(change, nil, &draft)
      case .revision(let revision): try vault.purge(change, revision, &draft)
      }
      return draft.loosened
    }
    return Purge(values: values)
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

  /// Leaves nothing of what was purged in the journal.
  ///
  /// - Throws: ``VaultError/busy`` while another reader is in the way; ``flushSeen()`` does it later.
  public mutating func finishPurge() throws(VaultError) { try truncateJournal() }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  private mutating func purgeAll(
    _ change: consuming ItemChange, _ draft: inout Draft
  ) throws(VaultError) {
    guard let (facts, history) = change.kept else { throw .notFound }
    let values = try namedValues(facts.tag)
    if change.isDeleted { try draft.countDeleted(false) }
    guard draft.root.itemCount > draft.root.deletedCount || change.isDeleted,
      draft.root.itemCount > 0
    else { throw .damaged(.root) }
    draft.root.itemCount -= 1
    try loosen(values, &draft)
    try deleteKept(history.entries, of: facts.id)
    try removeRow(facts.tag, change.path, &draft)
  }

  /// Takes one earlier revision away, or all of them.
  private mutating func purge(
    _ change: consuming ItemChange, _ revision: UInt64?, _ draft: inout Draft
  ) throws(VaultError) {
    guard let (facts, before) = change.kept else { throw .notFound }
    if revision == facts.revision { throw .revisionCurrent }
    let dropped = before.entries.filter { revision == nil || $0.revision == revision }
    guard !dropped.isEmpty || revision == nil else { throw .revisionNotFound }
    var history = before
    for entry in dropped { history.remove(entry.revision) }
    let current = try currentValueID(facts.tag)
    try looseValues(of: dropped, keeping: history, current, facts, nil, &draft)
    try deleteKept(dropped, of: facts.id)
    let row = try rows.withCurrent(facts.tag, under: trust.root, keys) {
      found, _ throws(VaultError) in
      ResealedRow(
        facts: found.facts, meta: [UInt8](copying: found.row.meta),
        body: [UInt8](copying: found.row.body))
    }
    guard let row else { throw .damaged(.item) }
    try store(row, history, at: change.path, &draft)
  }

  private mutating func deleteKept(
    _ entries: [HistoryList.Entry], of item: ItemID
  ) throws(VaultError) {
    let id = item.bytes
    do {
      for entry in entries {
        try rows.storage.deleteHistory(of: id.span, revision: entry.revision)
      }
    } catch {
      throw VaultError(error, about: .history)
    }
  }

  private mutating func loosen(
    _ values: Set<ValueID>, _ draft: inout Draft
  ) throws(VaultError) {
    do {
      for value in values {
        let bytes = value.bytes
        try rows.storage.storeLoose(bytes.span)
        draft.loosened.append(value)
      }
    } catch {
      throw VaultError(error, about: .loose)
    }
  }
}
