// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Moves the current revision to the history and drops the oldest ones that are too many.
  ///
  /// - Parameter newValue: Where the chunks of the next revision are, which may be those of an earlier
  ///   one.
  /// - Returns: The history of the next revision.
  /// - Throws: ``VaultError/historyFull`` where a protected revision would be forgotten and nobody vouches for that.
  mutating func keepCurrent(
    _ change: borrowing ItemChange, newValue: ValueID?, _ draft: inout Draft
  ) throws(VaultError) -> HistoryList {
    switch change.current {
    case .none: return HistoryList()
    case .some(let current):
      // A row that only shows others is no revision.
      let isRevision = change.shown == nil
      var history = current.history
      if isRevision {
        history.append(revision: current.facts.revision, leaf: current.keptLeaf)
      }
      let most = Setting.historyDepth.range.upperBound
      let depth = change.isProtected ? most : keys.ring.policy[.historyDepth]
      let dropped = history.trim(to: Int(depth), sparing: try neededRevisions(of: current))
      guard dropped.isEmpty || !change.isProtected || draft.isByOwner else { throw .historyFull }
      try orphanValues(of: dropped, keeping: history, newValue, current.facts, current.leaf, &draft)
      if isRevision {
        let tag = current.facts.tag.bytes
        try fromStorage(rows.storage.keepItem(tag.span))
      }
      try rows.storage.deleteKept(dropped, of: current.facts.id)
      return history
    }
  }

  /// The kept revisions that alone have a content which stands beside the one that is shown.
  mutating func neededRevisions(
    of current: borrowing ItemChange.Current
  ) throws(VaultError) -> Set<UInt64> {
    guard current.meta.view.isOpen || current.meta.view.hasSides else { return [] }
    let open = try current.trail().openStamps
    var needed: Set<UInt64> = []
    for entry in current.history.entries {
      let holds = try rows.withKept(entry, of: current.facts, keys) {
        found, keys throws(VaultError) in
        let meta = try keys.openMeta(found.row.meta, found.facts)
        return try fromFormat(.item, meta.view.trail(orOldOf: found.facts)).hasFirst(of: open)
      }
      if holds { needed.insert(entry.revision) }
    }
    return needed
  }

  /// Marks the values that no revision refers to any more; their chunks are deleted by ``sweep()``.
  mutating func orphanValues(
    of dropped: [HistoryList.Entry], keeping kept: HistoryList, _ newValue: ValueID?,
    _ facts: RowFacts, _ leaf: Digest?, _ draft: inout Draft
  ) throws(VaultError) {
    var orphans = try values(of: dropped, facts, leaf)
    // An edit of attributes makes a revision with the chunks of the one before.
    if let newValue { orphans.remove(newValue) }
    guard !orphans.isEmpty else { return }
    orphans.subtract(try values(of: kept.entries, facts, leaf))
    try orphan(orphans, &draft)
  }

  /// Where the chunks of some revisions are, of which one may be the current one.
  ///
  /// - Parameter leaf: The current one's; nil to look it up.
  private mutating func values(
    of entries: [HistoryList.Entry], _ facts: RowFacts, _ leaf: Digest? = nil
  ) throws(VaultError) -> Set<ValueID> {
    var values: Set<ValueID> = []
    for entry in entries {
      let value =
        entry.revision == facts.revision
        ? try currentValueID(facts.tag, leaf: leaf) : try keptValueID(entry, facts.id)
      if let value { values.insert(value) }
    }
    return values
  }

  /// Where the chunks of all revisions of an item are.
  mutating func namedValues(_ tag: ItemTag) throws(VaultError) -> Set<ValueID> {
    guard let (facts, history) = try verifiedHistory(tag) else { throw .damaged(.item) }
    var values = try values(of: history.entries, facts)
    if let value = try currentValueID(tag) { values.insert(value) }
    return values
  }

  mutating func currentValueID(
    _ tag: ItemTag, leaf: Digest? = nil
  ) throws(VaultError) -> ValueID? {
    var leaf = leaf
    if leaf == nil {
      leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    }
    guard let leaf else { return nil }
    let value = try rows.withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      try keys.valueID(found)
    }
    return value ?? nil
  }

  mutating func keptValueID(
    _ entry: HistoryList.Entry, _ item: ItemID
  ) throws(VaultError) -> ValueID? {
    try rows.withKept(entry, of: item, keys) { found, keys throws(VaultError) in
      try keys.valueID(found)
    }
  }
}

extension HistoryList {
  /// The list of the history of a current row.
  ///
  /// - Throws: ``VaultError/damaged(_:)``, also for a revision that the item has not come to.
  static func checked(
    _ column: Span<UInt8>, below revision: UInt64
  ) throws(VaultError) -> HistoryList {
    let list = try fromFormat(.item, HistoryList(decoding: column))
    guard list.entries.last?.revision ?? 0 < revision else { throw .damaged(.item) }
    return list
  }
}

extension Keyring {
  /// Where the chunks of a row's value are; nil when it has none.
  borrowing func valueID(_ found: VerifiedRow) throws(VaultError) -> ValueID? {
    guard found.facts.kind != .purged else { return nil }
    // A manifest has the shortest padded length, a protected one too; but not beside secret attributes.
    guard format > .first || found.row.body.count == Seal.sealedPaddedCount(0) else { return nil }
    let parts = try PartedBody.part(
      try openBody(found.row.body, found.facts), found.facts.protection, of: format)
    return try ItemBody.chunkedValue(in: parts.value, found.facts.protection, of: format)
  }
}
