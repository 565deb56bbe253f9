// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Finds the rows in which two copies of a vault differ, and passes over all parts of the tree that are the same in
/// both: what it costs is what differs.
struct CopyDifference {
  /// What the trees have of the rows that are not the same.
  private(set) var ours: [ItemTag: Digest] = [:]
  private(set) var theirs: [ItemTag: Digest] = [:]

  /// - Parameters:
  ///   - ours: This copy.
  ///   - theirs: The other one.
  init(
    _ ours: inout VaultRows, under root: RootRecord, _ keys: borrowing Keyring,
    _ theirs: inout OtherCopy
  ) throws(VaultError) {
    guard root.depth == theirs.root.depth else {
      try addAll(&ours, under: root, keys, &theirs)
      return
    }
    try compare(0, 0, &ours, root, keys, &theirs)
  }

  /// Looks at a node, or at the level of the tree's depth at a bucket.
  private mutating func compare(
    _ level: UInt8, _ index: UInt32, _ ours: inout VaultRows, _ root: RootRecord,
    _ keys: borrowing Keyring, _ theirs: inout OtherCopy
  ) throws(VaultError) {
    let below = root.depth - level
    let first = index << (6 * UInt32(below))
    let here = try ours.tree.digest(
      atLevel: level, above: first, under: root, in: &ours.storage, keys)
    let there = try theirs.digest(atLevel: level, above: first)
    guard here != there else { return }
    guard below == 0 else {
      for child in 0..<UInt32(64) {
        try compare(level + 1, index << 6 | child, &ours, root, keys, &theirs)
      }
      return
    }
    let mine = try ours.tree.leaves(ofBucket: index, under: root, in: &ours.storage, keys)
    add(mine, try theirs.leaves(ofBucket: index))
  }

  /// Adds what two buckets have that is not the same.
  private mutating func add(_ mine: [UInt8], _ other: [UInt8]) {
    let (left, right) = (BucketLeaves(mine.span), BucketLeaves(other.span))
    for place in 0..<left.count where right.leaf(of: left.tag(place)) != left.leaf(place) {
      ours[left.tag(place)] = left.leaf(place)
    }
    for place in 0..<right.count where left.leaf(of: right.tag(place)) != right.leaf(place) {
      theirs[right.tag(place)] = right.leaf(place)
    }
  }

  /// The rows of both, where no part of their trees can be the same.
  private mutating func addAll(
    _ ours: inout VaultRows, under root: RootRecord, _ keys: borrowing Keyring,
    _ theirs: inout OtherCopy
  ) throws(VaultError) {
    for number in 0..<(UInt32(1) << (6 * UInt32(root.depth))) {
      let bytes = try ours.tree.leaves(ofBucket: number, under: root, in: &ours.storage, keys)
      let leaves = BucketLeaves(bytes.span)
      for place in 0..<leaves.count { self.ours[leaves.tag(place)] = leaves.leaf(place) }
    }
    for number in 0..<(UInt32(1) << (6 * UInt32(theirs.root.depth))) {
      let bytes = try theirs.leaves(ofBucket: number)
      let leaves = BucketLeaves(bytes.span)
      for place in 0..<leaves.count { self.theirs[leaves.tag(place)] = leaves.leaf(place) }
    }
    for (tag, leaf) in self.ours where self.theirs[tag] == leaf {
      self.ours[tag] = nil
      self.theirs[tag] = nil
    }
  }
}
