// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Takes all rows away that change, then writes what comes in their place: one may get another's name.
  mutating func carryOut(
    _ plan: MergePlan, _ copy: inout OtherCopy, _ draft: inout Draft
  ) throws(VaultError) {
    var written: [SealedRows] = []
    var before: Set<ValueID> = []
    for item in plan.items {
      let mine = try self.item(item.id, item.ours, plan.leaves)
      for row in mine?.rows ?? [] {
        if let value = try row.valueID() { before.insert(value) }
      }
      let merge = try merged(item.id, mine, item.theirs, plan.leaves, &copy)
      let rows = try merge.sealed(item.attempt, by: keys)
      try draft.count(rows.counts, insteadOf: mine?.counts ?? (0, 0))
      written.append(rows)
    }
    for item in plan.items {
      if let tag = item.ours { try takeAway(tag, &draft) }
    }
    var after: Set<ValueID> = []
    for rows in written {
      try write(rows, &draft)
      after.formUnion(rows.values)
    }
    try orphan(before.subtracting(after), &draft)
    for value in after.subtracting(before) { try takeChunks(of: value, from: &copy) }
    draft.leavesOldBodies = true
    if let slots = plan.slots { try takeSlots(slots, &draft) }
    if let ledger = plan.ledger { try takeSettings(ledger, &draft) }
  }

  /// Takes the rows of an item away, and its leaf.
  private mutating func takeAway(
    _ tag: ItemTag, _ draft: inout Draft
  ) throws(VaultError) {
    let path = try rows.tree.path(to: tag, under: draft.root, in: &rows.storage, keys)
    let leaf = BucketLeaves(path.leaves.span).leaf(of: tag)
    let change = try change(of: tag, leaf: leaf, at: path)
    guard let (facts, history) = change.kept else { throw .damaged(.item) }
    try rows.storage.deleteKept(history.entries, of: facts.id)
    try removeRow(tag, change.path, &draft)
    rows.tree.keepStaged()
  }

  /// Writes the rows of an item, and its leaf.
  private mutating func write(_ item: SealedRows, _ draft: inout Draft) throws(VaultError) {
    var history = HistoryList()
    for row in item.history {
      history.append(
        revision: row.facts.revision, leaf: try rows.storage.store(kept: row, keys))
    }
    for (row, history) in [(item.current, history), (item.trace, HistoryList())] {
      guard let row else { continue }
      let path = try rows.tree.path(to: row.facts.tag, under: draft.root, in: &rows.storage, keys)
      try store(row, history, at: path, &draft)
      rows.tree.keepStaged()
    }
  }

  /// Takes a long value's pieces as they are: they are sealed under a key of their own.
  private mutating func takeChunks(
    of value: ValueID, from copy: inout OtherCopy
  ) throws(VaultError) {
    let bytes = value.bytes
    try fromStorage(rows.storage.unmarkOrphan(bytes.span))
    var number: UInt64 = 0
    while true {
      guard let data = try copy.chunk(number, of: value) else { break }
      if try rows.storage.chunk(number, of: value) == nil {
        try fromStorage(rows.storage.storeChunk(bytes.span, number, data.span))
      }
      number += 1
    }
    guard number > 0 else { throw .copyDamaged }
  }
}

extension Draft {
  /// Counts an item's rows, once they are others.
  fileprivate mutating func count(
    _ after: (items: UInt64, deleted: UInt64), insteadOf before: (items: UInt64, deleted: UInt64)
  ) throws(VaultError) {
    guard root.itemCount >= before.items, root.deletedCount >= before.deleted else {
      throw .damaged(.root)
    }
    root.itemCount = root.itemCount - before.items + after.items
    root.deletedCount = root.deletedCount - before.deleted + after.deleted
  }
}
