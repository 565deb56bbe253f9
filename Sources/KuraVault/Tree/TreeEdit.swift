// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Changes many buckets within one transaction, in ascending order: each bucket and each node is read, verified
/// and written once.
struct TreeEdit {
  private let root: RootRecord
  /// The nodes above the bucket that was changed last, from the top down, as they are to be.
  private var path: [(index: UInt32, node: [UInt8])] = []
  /// What the tree comes to, once it is closed.
  private(set) var treeRoot: Digest

  /// No change yet.
  ///
  /// - Parameter root: The root that was committed last.
  init(of root: RootRecord) {
    self.root = root
    treeRoot = root.treeRoot
  }

  /// The bucket of a tag.
  func bucket(of tag: ItemTag) -> UInt32 { Tree.bucket(of: tag, depth: root.depth) }

  /// The verified entries of a bucket, which comes behind all that were changed before.
  mutating func leaves(
    ofBucket number: UInt32, in rows: inout VaultRows, _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    var expected = root.treeRoot
    for level in 0..<root.depth {
      let place = TreePlace(number, level: level, depth: root.depth)
      let isOpen = Int(level) < path.count && path[Int(level)].index == place.index
      if !isOpen {
        try close(downTo: Int(level), in: &rows.storage, keys)
        let node = try rows.tree.copiedNode(place, expected, root.depth, in: &rows.storage, keys)
        path.append((place.index, node))
      }
      // A child that was not visited yet stands there as it was.
      expected = path[Int(level)].node.digest(ofChild: place.child)
    }
    return try rows.tree.leaves(ofBucket: number, expected, root.depth, in: &rows.storage, keys)
  }

  /// The leaf of a tag in any bucket, as the tree is by now, but for the bucket that was read last: of that as it was.
  func leaf(
    of tag: ItemTag, in rows: inout VaultRows, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest? {
    let number = bucket(of: tag)
    var expected = treeRoot
    for level in 0..<root.depth {
      let place = TreePlace(number, level: level, depth: root.depth)
      let open = Int(level) < path.count ? path[Int(level)] : nil
      let node =
        if let open, open.index == place.index { open.node } else {
          try rows.tree.copiedNode(place, expected, root.depth, in: &rows.storage, keys)
        }
      expected = node.digest(ofChild: place.child)
    }
    let bytes = try rows.tree.leaves(
      ofBucket: number, expected, root.depth, in: &rows.storage, keys)
    return BucketLeaves(bytes.span).leaf(of: tag)
  }

  /// Writes the entries of the bucket that was read last.
  mutating func store(
    _ leaves: [UInt8], ofBucket number: UInt32, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) {
    set(try storage.store(leaves.span, ofBucket: number, depth: root.depth, keys), number)
  }

  /// Writes the nodes that are still open.
  mutating func close(
    in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) {
    try close(downTo: 0, in: &storage, keys)
  }

  private mutating func close(
    downTo level: Int, in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) {
    while path.count > level {
      let (index, node) = path.removeLast()
      let level = UInt8(path.count)
      set(try storage.store(node, level: level, index: index, depth: root.depth, keys), index)
    }
  }

  /// Notes a child's digest in the lowest open node, or as the tree's root.
  private mutating func set(_ digest: Digest, _ index: UInt32) {
    guard let last = path.indices.last else {
      treeRoot = digest
      return
    }
    let start = Int(index & 63) * Digest.byteCount
    let bytes = digest.span
    for offset in bytes.indices { path[last].node[start + offset] = bytes[offset] }
  }
}
