// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Takes the rows of an item away, and its leaf.
  mutating func takeAway(
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
  mutating func write(_ item: SealedRows, _ draft: inout Draft) throws(VaultError) {
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

  /// Takes a piece of a long value as it is, once it was opened: it is sealed under a key of its own.
  mutating func takeChunk(
    _ number: UInt64, of value: PieceCheck, from copy: inout OtherCopy
  ) throws(VaultError) {
    let bytes = value.value.bytes
    if number == 0 { try fromStorage(rows.storage.unmarkOrphan(bytes.span)) }
    guard let data = try copy.chunk(number, of: value) else {
      return try checkChunk(number, of: value)
    }
    if try rows.storage.chunk(number, of: value.value) == nil {
      try fromStorage(rows.storage.storeChunk(bytes.span, number, data.span))
    }
  }
}

extension UnlockedVault {
  /// Looks at a piece that was put into the vault before the rows that name it.
  private mutating func checkChunk(
    _ number: UInt64, of value: PieceCheck
  ) throws(VaultError) {
    do throws(VaultError) {
      guard let data = try rows.storage.chunk(number, of: value.value),
        try value.isSound(data, number)
      else { throw .damaged(.chunk) }
    } catch { throw error.ofCopy }
  }
}

extension Draft {
  /// Counts an item's rows, once they are others.
  mutating func count(
    _ after: (items: UInt64, deleted: UInt64), insteadOf before: (items: UInt64, deleted: UInt64)
  ) throws(VaultError) {
    guard root.itemCount >= before.items, root.deletedCount >= before.deleted else {
      throw .damaged(.root)
    }
    root.itemCount = root.itemCount - before.items + after.items
    root.deletedCount = root.deletedCount - before.deleted + after.deleted
  }
}
