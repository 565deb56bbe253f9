// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Finds the rows in which two copies of a vault differ, step by step, and passes over all parts of the tree that are
/// the same in both: what it costs is what differs.
///
/// Where the trees can have nothing in common, of another depth or under another key, it gathers all rows of both.
struct CopyDifference {
  /// What the trees have of the rows that are not the same.
  private(set) var ours: [ItemTag: Digest] = [:]
  private(set) var theirs: [ItemTag: Digest] = [:]
  /// The tags of all of them in the order of the buckets, the last one first: as they stand in the file, so that who goes
  /// over them reads each page once.
  private(set) var tags: [(tag: ItemTag, isOurs: Bool)] = []
  /// Nodes and buckets that are yet to be compared.
  private var open: [(level: UInt8, index: UInt32)] = [(0, 0)]
  /// Buckets of each copy that are yet to be read, where all are.
  private var left: (ours: UInt32, theirs: UInt32) = (0, 0)

  /// - Parameters:
  ///   - ours: The state of this copy.
  ///   - theirs: The other one.
  init(_ ours: RootRecord, _ theirs: CopyFile) {
    guard ours.depth == theirs.root.depth, !theirs.isUnderOtherKey else {
      open = []
      left = (1 << (6 * UInt32(ours.depth)), 1 << (6 * UInt32(theirs.root.depth)))
      return
    }
  }

  /// The rows of the items of a pack, which has no tree: all of them, and those of the same items here.
  ///
  /// - Parameters:
  ///   - items: Those of the pack.
  ///   - places: Where they stand here, and what the tree has there.
  init(of items: some Sequence<ItemID>, at places: [(tag: ItemTag, leaf: Digest)]) {
    open = []
    for place in places { set(place.tag, place.leaf, isOurs: true) }
    for item in items { set(ItemTag(of: item), .zero, isOurs: false) }
  }

  /// Compares some of both.
  ///
  /// - Returns: Whether there is more to compare.
  mutating func step(
    _ ours: inout VaultRows, under root: RootRecord, _ keys: borrowing Keyring,
    _ theirs: borrowing OtherCopy, _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    guard let theirs = theirs.file else { return false }
    while !slice.isSpent {
      if let place = open.popLast() {
        try compare(place.level, place.index, &ours, root, keys, theirs, &slice)
      } else if left.ours > 0 {
        left.ours -= 1
        let bytes = try ours.tree.leaves(ofBucket: left.ours, under: root, in: &ours.storage, keys)
        gather(bytes, isOurs: true, &slice)
      } else if left.theirs > 0 {
        left.theirs -= 1
        gather(try theirs.leaves(ofBucket: left.theirs), isOurs: false, &slice)
        if left.theirs == 0 { dropSame() }
      } else {
        return false
      }
    }
    return true
  }

  /// Looks at a node, or at the level of the tree's depth at a bucket.
  private mutating func compare(
    _ level: UInt8, _ index: UInt32, _ ours: inout VaultRows, _ root: RootRecord,
    _ keys: borrowing Keyring, _ theirs: CopyFile, _ slice: inout Slice
  ) throws(VaultError) {
    slice.countLook()
    let below = root.depth - level
    let first = index << (6 * UInt32(below))
    let here = try ours.tree.digest(
      atLevel: level, above: first, under: root, in: &ours.storage, keys)
    let there = try theirs.digest(atLevel: level, above: first)
    guard here != there else { return }
    guard below == 0 else {
      for child in 0..<UInt32(64) { open.append((level + 1, index << 6 | child)) }
      return
    }
    let mine = try ours.tree.leaves(ofBucket: index, under: root, in: &ours.storage, keys)
    add(mine, try theirs.leaves(ofBucket: index))
  }

  /// Adds what two buckets have that is not the same.
  private mutating func add(_ mine: [UInt8], _ other: [UInt8]) {
    let (left, right) = (BucketLeaves(mine.span), BucketLeaves(other.span))
    for place in 0..<left.count where right.leaf(of: left.tag(place)) != left.leaf(place) {
      set(left.tag(place), left.leaf(place), isOurs: true)
    }
    for place in 0..<right.count where left.leaf(of: right.tag(place)) != right.leaf(place) {
      set(right.tag(place), right.leaf(place), isOurs: false)
    }
  }

  private mutating func gather(_ bucket: [UInt8], isOurs: Bool, _ slice: inout Slice) {
    slice.countLook()
    let leaves = BucketLeaves(bucket.span)
    for place in 0..<leaves.count { set(leaves.tag(place), leaves.leaf(place), isOurs: isOurs) }
  }

  private mutating func set(_ tag: ItemTag, _ leaf: Digest, isOurs: Bool) {
    if isOurs { ours[tag] = leaf } else { theirs[tag] = leaf }
    tags.append((tag, isOurs))
  }

  /// Leaves out the rows that both have.
  private mutating func dropSame() {
    for (tag, leaf) in ours where theirs[tag] == leaf {
      ours[tag] = nil
      theirs[tag] = nil
    }
    tags.removeAll { ($0.isOurs ? ours : theirs)[$0.tag] == nil }
  }
}
