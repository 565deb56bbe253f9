// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Finds every item's place. An item that is the same in both copies is drawn in where another one wants its name.
  mutating func place(
    _ claims: inout [ItemID: MergeClaim], _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) -> [ItemID: Int] {
    try drawInDisplaced(&claims, leaves, &copy)
    while true {
      let known = claims
      let attempts = try PlacedNames.attempts(of: known.values.map(\.claim)) {
        claim, attempt throws(VaultError) in
        guard let wanting = known[claim.item] else { throw .damaged(.item) }
        return try self.tag(of: wanting, attempt, leaves, &copy)
      }
      var isSettled = true
      for (id, attempt) in attempts {
        guard let wanting = known[id] else { continue }
        let tag = try tag(of: wanting, attempt, leaves, &copy)
        guard let other = try occupant(of: tag), claims[other] == nil else { continue }
        claims[other] = try claim(other, tag, nil, leaves, &copy)
        isSettled = false
      }
      if isSettled { return attempts }
    }
  }

  /// Which item stands under a tag here.
  private mutating func occupant(of tag: ItemTag) throws(VaultError) -> ItemID? {
    guard
      let leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    else { return nil }
    return try rows.itemID(of: tag, leaf: leaf, keys).id
  }

  /// Where a name may become free, those that gave way come to have a claim again.
  private mutating func drawInDisplaced(
    _ claims: inout [ItemID: MergeClaim], _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) {
    let isFree = claims.values.contains { known in
      known.ours != nil && (known.ours != known.claim.wanted || known.claim.state != .live)
    }
    guard isFree else { return }
    for number in 0..<(UInt32(1) << (6 * UInt32(trust.root.depth))) {
      let bytes = try rows.tree.leaves(
        ofBucket: number, under: trust.root, in: &rows.storage, keys)
      let bucket = BucketLeaves(bytes.span)
      for place in 0..<bucket.count {
        let tag = bucket.tag(place)
        guard let id = try shownItem(of: tag, bucket.leaf(place)), claims[id] == nil else {
          continue
        }
        claims[id] = try claim(id, tag, nil, leaves, &copy)
      }
    }
  }

  /// The id of an item whose row is no revision; nil for any other one.
  private mutating func shownItem(
    of tag: ItemTag, _ leaf: Digest
  ) throws(VaultError) -> ItemID? {
    let id = try rows.withCurrent(tag, leaf: leaf, keys) {
      found, keys throws(VaultError) -> ItemID? in
      if found.facts.kind == .purged { return nil }
      let meta = try keys.openMeta(found.row.meta, found.facts)
      return meta.view.hasSides ? found.facts.id : nil
    }
    return id ?? nil
  }

  /// The tag of the name that an item gets at an attempt.
  mutating func tag(
    of known: MergeClaim, _ attempt: Int, _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) -> ItemTag {
    if attempt == 0 { return known.claim.wanted }
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
