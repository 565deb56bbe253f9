// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Which item stands under a tag here.
  mutating func occupant(of tag: ItemTag) throws(VaultError) -> ItemID? {
    guard
      let leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    else { return nil }
    return try rows.itemID(of: tag, leaf: leaf, keys)
  }

  /// Where items stand that have a history, as one has whose row is no revision: as the file says, and nobody vouches for
  /// it.
  mutating func keptTags(_ buckets: Range<UInt32>) throws(VaultError) -> [ItemTag] {
    let depth = trust.root.depth
    let first = Tree.firstTag(ofBucket: buckets.lowerBound, depth: depth).bytes
    // Behind the last bucket is what no tag comes to.
    var end = [UInt8](repeating: 0xFF, count: ItemTag.byteCount + 1)
    if buckets.upperBound < 1 << (6 * UInt32(depth)) {
      end = [UInt8](copying: Tree.firstTag(ofBucket: buckets.upperBound, depth: depth).bytes.span)
    }
    let found = try fromStorage(rows.storage.itemsWithHistory(from: first.span, below: end.span))
    return stride(from: 0, to: found.count, by: ItemTag.byteCount).map { start in
      ItemTag(found.span.extracting(start..<(start + ItemTag.byteCount)))
    }
  }

  /// The id of an item whose row is no revision; nil for any other one.
  mutating func shownItem(of tag: ItemTag) throws(VaultError) -> ItemID? {
    guard
      let leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    else { return nil }
    let id = try rows.withCurrent(tag, leaf: leaf, keys) {
      found, keys throws(VaultError) -> ItemID? in
      if found.facts.kind == .purged { return nil }
      let meta = try keys.openMeta(found.row.meta, found.facts)
      return meta.view.hasSides ? found.facts.id : nil
    }
    return id ?? nil
  }

  /// The tag of the name that an item gets at an attempt, from 1.
  mutating func tag(
    of known: MergeClaim, _ attempt: Int, _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) -> ItemTag {
    let merge = try merged(
      known.claim.item, try item(known.claim.item, known.ours, leaves), known.theirs, leaves, &copy)
    return try keys.tag(of: merge.placedName(attempt))
  }
}

extension ItemMerge {
  /// The name that the item gets at an attempt.
  borrowing func placedName(_ attempt: Int) throws(VaultError) -> ItemName {
    try withName { wanted throws(VaultError) in
      guard attempt > 0 else { return try ItemName.checked(wanted) }
      let name = try PlacedNames.name(wanted, of: item, attempt: attempt)
      return try ItemName.checked(name.bytes)
    }
  }
}

extension ItemStanding {
  /// Whether somebody has to choose.
  var hasConflicts: Bool {
    !against.isEmpty || fields.values.contains { !$0.conflicts.isEmpty }
  }
}
