// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Brings an earlier revision back, value and attributes, as the next one. What is protected stays so,
  /// and takes no key.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - revision: A kept one; nil for the newest value of a deleted item. That which is shown leaves of an item on
  ///     which copies do not agree nothing but that.
  ///   - current: The revision that the item has to be at, deleted or not; nil for any.
  /// - Returns: The new revision.
  /// - Throws: ``VaultError/notFound``; ``VaultError/notDeleted(revision:)`` for an item that is there and
  ///   no revision; ``VaultError/revisionNotFound``, also for one that tells of a deletion;
  ///   ``VaultError/revisionConflict(current:)``; those of the file.
  public mutating func restore(
    _ name: Span<UInt8>, revision: UInt64? = nil, ifRevision current: UInt64? = nil
  ) throws(VaultError) -> UInt64 {
    var names = try ItemNames.one(name)
    return try restore(&names, revision: revision, ifRevision: current)
  }

  /// Brings an item back, and others with it that are deleted, in one transaction.
  ///
  /// - Parameters:
  ///   - names: The item first; where it is refused, they tell for which one.
  ///   - revision: Of the first, as for one item; the others get their newest value.
  ///   - current: The revision that the first has to be at, deleted or not; nil for any.
  /// - Returns: The new revision of the first.
  /// - Throws: As ``restore(_:revision:ifRevision:)-(Span<UInt8>,_,_)`` does: nothing is brought back then.
  public mutating func restore(
    _ names: inout ItemNames, revision: UInt64? = nil, ifRevision current: UInt64? = nil
  ) throws(VaultError) -> UInt64 {
    var restored: UInt64 = 0
    try writing { vault, draft throws(VaultError) in
      try vault.each(of: &names, &draft) { vault, names, index, draft throws(VaultError) in
        let name = try names.name(index)
        let isFirst = index == 0
        let now = try vault.restore(
          name, revision: isFirst ? revision : nil, ifRevision: isFirst ? current : nil, &draft)
        if isFirst { restored = now }
      }
    }
    return restored
  }

  private mutating func restore(
    _ name: borrowing ItemName, revision: UInt64?, ifRevision current: UInt64?,
    _ draft: inout Draft
  ) throws(VaultError) -> UInt64 {
    let change = try beginChange(of: try keys.tag(of: name))
    guard let (facts, history) = change.kept else { throw .notFound }
    if let current, current != facts.revision {
      throw .revisionConflict(current: facts.revision)
    }
    if let live = change.liveRevision, revision == live, change.isUnsettled {
      return try settle(change, name, &draft)
    }
    if revision == nil, let live = change.liveRevision { throw .notDeleted(revision: live) }
    let entry = try entry(revision, history, facts)
    let former = try content(of: entry, facts, name, draft.root.time)
    if change.isDeleted { try draft.countDeleted(false) }
    return try finish(change, former.next, former.content, former.kind, &draft)
  }

  /// Goes over the revisions of an item in order, the current one last; a deleted item has them too.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - last: Where the call before ended; 0 to begin with.
  ///   - limit: How many at most.
  ///   - body: Is given each, all but its value.
  /// - Returns: Whether there are more.
  /// - Throws: ``VaultError/notFound``, and what `body` throws.
  public mutating func eachRevision(
    of name: Span<UInt8>, after last: UInt64, limit: Int,
    _ body: (borrowing Item) throws(VaultError) -> Void
  ) throws(VaultError) -> Bool {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let (facts, history) = try vault.verifiedHistory(tag) else { throw .notFound }
      let left = history.entries.filter { $0.revision > last }
      for entry in left.prefix(limit) {
        try vault.rows.withKept(entry, of: facts, vault.keys) {
          found, keys throws(VaultError) in
          try body(Item(try keys.openMeta(found.row.meta, found.facts), found.facts))
        }
      }
      guard left.count < limit else { return true }
      if facts.revision > last, let item = try vault.currentItem(tag) { try body(item) }
      return false
    }
  }
}

/// Holds what an earlier revision was.
private struct FormerContent: ~Copyable {
  let content: NewContent
  let next: NextRevision
  let kind: ItemKind
}

// MARK: - Within a write transaction

extension UnlockedVault {
  /// The entry of the revision that is to come back.
  private mutating func entry(
    _ revision: UInt64?, _ history: HistoryList, _ facts: RowFacts
  ) throws(VaultError) -> HistoryList.Entry {
    for entry in history.entries.reversed() where revision == nil || entry.revision == revision {
      if try !isDeletion(entry, of: facts.id) { return entry }
    }
    throw .revisionNotFound
  }

  private mutating func isDeletion(
    _ entry: HistoryList.Entry, of item: ItemID
  ) throws(VaultError) -> Bool {
    try rows.withKept(entry, of: item, keys) { found, _ throws(VaultError) in
      found.facts.kind == .deleted
    }
  }

  /// What a kept revision was, under the name that the item has now.
  private mutating func content(
    of entry: HistoryList.Entry, _ facts: RowFacts, _ name: borrowing ItemName, _ time: UInt64
  ) throws(VaultError) -> FormerContent {
    try rows.withKept(entry, of: facts, keys) { found, keys throws(VaultError) in
      let before = try keys.openMeta(found.row.meta, found.facts)
      let body = try keys.openBody(found.row.body, found.facts)
      let content = try NewContent(
        plaintext: body, size: before.size, found.facts.protection, of: keys.format)
      let meta = try before.renamed(name, modified: time)
      return FormerContent(
        content: content, next: NextRevision(meta, setting: [.all, .value]),
        kind: found.facts.kind)
    }
  }
}
