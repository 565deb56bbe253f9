// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

// Damaged items can be purged: their leaf, which the root vouches for, is taken out of the tree, and the rows
// with it. What cannot be read any more is found by what is left over without it.
extension UnlockedVault {
  /// How many keys are read at a time.
  private static let keyBatch = 100

  /// Whether an item's row is missing, or is not what its leaf says; a damaged tree is thrown.
  mutating func isDamaged(_ tag: ItemTag) throws(VaultError) -> Bool {
    do throws(VaultError) {
      _ = try beginChange(of: tag)
      return false
    } catch {
      guard error == .damaged(.item) else { throw error }
      return true
    }
  }

  /// Takes an item away whose row says nothing that can be relied on.
  mutating func purgeDamaged(
    _ tag: ItemTag, _ draft: inout Draft
  ) throws(VaultError) -> Purge {
    let path = try rows.tree.path(to: tag, under: trust.root, in: &rows.storage, keys)
    let values = try unnamedValues(besides: tag)
    let (own, items, deletedCount) = try items(besides: tag)
    // Another item's that is damaged, too, go with that one.
    let kept = try keptRows(besides: items).filter { own == nil || $0.id == own }
    guard draft.root.itemCount > 0 else { throw .damaged(.root) }
    draft.root.itemCount -= 1
    draft.freesName = true
    draft.root.deletedCount = min(deletedCount, draft.root.itemCount)
    try orphan(values, &draft)
    do {
      for row in kept {
        try rows.storage.deleteHistory(of: row.id.span, revision: UInt64(max(row.number, 0)))
      }
    } catch { throw VaultError(error) }
    try removeRow(tag, path, &draft)
    let count = UInt64(kept.count + 1)
    return Purge(values: draft.orphaned, removedCount: count, damagedCount: count)
  }

  /// What rows say, whether it is true or not: the id of the item where it can be read, those of the other items, and
  /// how many of them are deleted.
  private mutating func items(
    besides tag: ItemTag
  ) throws(VaultError) -> (own: [UInt8]?, others: Set<[UInt8]>, deletedCount: UInt64) {
    var own: [UInt8]?
    var items: Set<[UInt8]> = []
    var deletedCount: UInt64 = 0
    try fromStorage(rows.storage.scanItems(from: Span()))
    while true {
      do throws(VaultError) {
        guard let row = try rows.storage.nextRow() else { return (own, items, deletedCount) }
        guard ItemTag(row.tag) != tag else {
          own = [UInt8](copying: row.id)
          continue
        }
        items.insert([UInt8](copying: row.id))
        let kind = ItemKind(rawValue: row.facts.kind)
        if kind == .deleted || kind == .purged { deletedCount += 1 }
      } catch {
        guard error.isDamageOfRow else { throw error }
      }
    }
  }

  /// The rows of the history that belong to none of the items.
  private mutating func keptRows(
    besides items: Set<[UInt8]>
  ) throws(VaultError) -> [KeyPair] {
    var found: [KeyPair] = []
    var last = KeyPair.first
    do {
      var count = 0
      repeat {
        count = try rows.storage.historyKeys(after: last, limit: Self.keyBatch) {
          last = $0
          if !items.contains($0.id) { found.append($0) }
        }
      } while count == Self.keyBatch
    } catch { throw VaultError(error) }
    return found
  }

  /// The values of which there are pieces, though no other item names them and they are not marked as orphans. None
  /// where another item is damaged, too: what goes with the last one of them.
  mutating func unnamedValues(besides tag: ItemTag) throws(VaultError) -> Set<ValueID> {
    var found = try valuesWithPieces()
    guard !found.isEmpty else { return found }
    let depth = trust.root.depth
    for number in 0..<(UInt32(1) << (6 * UInt32(depth))) {
      let bytes = try rows.tree.leaves(
        ofBucket: number, under: trust.root, in: &rows.storage, keys)
      let leaves = BucketLeaves(bytes.span)
      for index in 0..<leaves.count where leaves.tag(index) != tag {
        do throws(VaultError) { found.subtract(try namedValues(leaves.tag(index))) } catch {
          _ = try Self.count(error)
          return []
        }
      }
    }
    return found
  }

  private mutating func valuesWithPieces() throws(VaultError) -> Set<ValueID> {
    var found: Set<ValueID> = []
    var last = KeyPair.first
    do {
      var count = 0
      repeat {
        count = try rows.storage.chunkKeys(after: last, limit: Self.keyBatch) {
          last = $0
          if $0.id.count == 16 { found.insert(ValueID($0.id.span)) }
        }
      } while count == Self.keyBatch
      for value in found where try rows.storage.isOrphan(value.bytes.span) { found.remove(value) }
    } catch { throw VaultError(error) }
    return found
  }

  /// Where the pieces of some earlier revisions are, and how many of those are damaged.
  mutating func soundValues(
    of entries: [HistoryList.Entry], _ item: ItemID
  ) throws(VaultError) -> (values: Set<ValueID>, damagedCount: UInt64) {
    var values: Set<ValueID> = []
    var damaged: UInt64 = 0
    for entry in entries {
      do throws(VaultError) {
        if let value = try keptValueID(entry, item) { values.insert(value) }
      } catch { damaged += try Self.count(error) }
    }
    return (values, damaged)
  }

  /// One for a row that is damaged; whatever else went wrong is thrown.
  static func count(_ error: VaultError) throws(VaultError) -> UInt64 {
    guard error == .damaged(.item) || error == .damaged(.history) else { throw error }
    return 1
  }
}
