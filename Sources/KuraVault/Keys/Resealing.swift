// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Limits how much one transaction or step does, so that nobody waits for it: a few milliseconds.
struct Slice {
  /// In bytes of ciphertext, or what costs as much.
  private static let budget = 262_144
  private static let rowCost = 4_096
  /// Of a row that is sealed on both cores, with others.
  private static let loneCost = 1_024
  private static let lookCost = 512
  /// How many buckets are looked at.
  static let bucketLimit = 512

  private var left = budget
  /// The item at which it ended, which is not done; nil while there is time.
  var end: ItemTag?

  var isSpent: Bool { left <= 0 }

  mutating func countLook(_ byteCount: Int = 0) { left -= Self.lookCost + byteCount }
  mutating func countLone(_ byteCount: Int) { left -= Self.loneCost + byteCount }
  mutating func countRow(_ byteCount: Int) { left -= Self.rowCost + byteCount }
}

/// Tells where rows of an old data key stand.
enum StaleRow {
  case at(ItemTag)
  case notBefore(ItemTag)
  case nowhere
}

// MARK: - Looking

extension UnlockedVault {
  /// Looks for the first item of which a row was sealed under another key than the active one.
  ///
  /// What rows say of that is taken as it is: one that lies opens under no key anyway.
  mutating func findStale(from cursor: ItemTag) throws(VaultError) -> StaleRow {
    let depth = trust.root.depth
    let first = Tree.bucket(of: cursor, depth: depth)
    var slice = Slice()
    for number in first..<(1 << (6 * UInt32(depth))) {
      if slice.isSpent || number - first >= Slice.bucketLimit {
        return .notBefore(Tree.firstTag(ofBucket: number, depth: depth))
      }
      let bytes = try rows.tree.leaves(
        ofBucket: number, under: trust.root, in: &rows.storage, keys)
      let leaves = BucketLeaves(bytes.span)
      for index in 0..<leaves.count where leaves.tag(index) >= cursor {
        slice.countLook()
        if try isStale(leaves.tag(index), &slice) { return .at(leaves.tag(index)) }
      }
    }
    return .nowhere
  }

  private mutating func isStale(_ tag: ItemTag, _ slice: inout Slice) throws(VaultError) -> Bool {
    let (active, bytes) = (keys.ring.active, tag.bytes)
    let found = try fromStorage(rows.storage.generation(of: bytes.span))
    // What is missing is found out when it is to be sealed again.
    guard let row = found, row.generation == active else { return true }
    let list = try fromFormat(.item, HistoryList(decoding: row.history.span))
    for entry in list.entries {
      slice.countLook()
      if try isStale(entry, of: ItemID(row.id.span)) { return true }
    }
    return false
  }
}

// MARK: - Sealing again

extension UnlockedVault {
  /// Seals the rows of some items again under the active key, with everything above them in the tree.
  ///
  /// - Returns: The first tag that is not done; ``Identifier/last`` at the end.
  mutating func reseal(
    from cursor: ItemTag, _ draft: inout Draft
  ) throws(VaultError) -> ItemTag {
    let depth = draft.root.depth
    let first = Tree.bucket(of: cursor, depth: depth)
    var slice = Slice()
    for number in first..<(1 << (6 * UInt32(depth))) {
      if slice.isSpent || number - first >= Slice.bucketLimit {
        return Tree.firstTag(ofBucket: number, depth: depth)
      }
      try reseal(bucket: number, from: cursor, &slice, &draft)
      if let end = slice.end { return end }
    }
    return .last
  }

  private mutating func reseal(
    bucket number: UInt32, from cursor: ItemTag, _ slice: inout Slice, _ draft: inout Draft
  ) throws(VaultError) {
    let digest = try rows.tree.digest(
      ofBucket: number, under: draft.root, in: &rows.storage, keys)
    guard digest != .zero else { return }
    let start = Tree.firstTag(ofBucket: number, depth: draft.root.depth)
    var path = try rows.tree.path(to: start, under: draft.root, in: &rows.storage, keys)
    let before = path.leaves
    let leaves = BucketLeaves(before.span)
    for index in 0..<leaves.count where leaves.tag(index) >= cursor {
      let tag = leaves.tag(index)
      // An item of which a part is left has its end already.
      if slice.isSpent, slice.end == nil { slice.end = tag }
      if slice.end != nil { break }
      slice.countLook()
      guard try isStale(tag, &slice) else { continue }
      path.leaves.setLeaf(try reseal(tag, leaves.leaf(index), &slice), of: tag)
    }
    guard path.leaves != before else { return }
    draft.root.treeRoot = try rows.tree.store(path, in: &rows.storage, keys)
    // The next bucket's path goes through these.
    rows.tree.keepStaged()
  }

  /// Seals an item's current row and as many of its kept ones as there is time for.
  ///
  /// - Returns: The item's leaf.
  private mutating func reseal(
    _ tag: ItemTag, _ leaf: Digest, _ slice: inout Slice
  ) throws(VaultError) -> Digest {
    let loaded = try rows.withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      (
        try keys.reseal(found),
        try HistoryList.checked(found.row.history, below: found.facts.revision)
      )
    }
    guard let (current, before) = loaded else { throw .damaged(.item) }
    var history = before
    slice.countRow(current.byteCount)
    for entry in before.entries where try isStale(entry, of: current.facts.id) {
      if slice.isSpent {
        slice.end = tag
        break
      }
      history.setLeaf(try reseal(entry, of: current.facts.id, &slice), of: entry.revision)
    }
    return try rows.storage.store(current, history, keys)
  }

  private mutating func isStale(
    _ entry: HistoryList.Entry, of item: ItemID
  ) throws(VaultError) -> Bool {
    let bytes = item.bytes
    return try fromStorage(
      rows.storage.generation(of: bytes.span, revision: entry.revision) != keys.ring.active)
  }

  private mutating func reseal(
    _ entry: HistoryList.Entry, of item: ItemID, _ slice: inout Slice
  ) throws(VaultError) -> Digest {
    let kept = try rows.withKept(entry, of: item, keys) { found, keys throws(VaultError) in
      try keys.reseal(found)
    }
    slice.countRow(kept.byteCount)
    return try rows.storage.store(kept: kept, keys)
  }
}

extension Keyring {
  /// Seals a row again under the active key; nothing in it changes.
  fileprivate borrowing func reseal(_ found: VerifiedRow) throws(VaultError) -> ResealedRow {
    try reseal(found, as: found.facts.protection, nil)
  }
}
