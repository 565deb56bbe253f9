// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

extension IntegrityTree {
  /// Gives the tree one more level: each bucket becomes a node with 64 buckets below it.
  ///
  /// Runs in the transaction of the item that is one too many. The whole old tree is verified on the
  /// way.
  ///
  /// - Returns: The root's record with the new depth and tree root.
  mutating func grow(
    from root: RootRecord, in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) -> RootRecord {
    // What the transaction wrote so far stands in the storage, and not in what is kept.
    forget()
    var grown = root
    grown.depth += 1
    let bucketCount = 1 << (6 * Int(root.depth))
    var digests = [Digest](repeating: .zero, count: bucketCount)
    // Downwards, since a bucket's children take numbers at or above its own.
    for number in (0..<UInt32(bucketCount)).reversed() {
      let leaves = try leaves(ofBucket: number, under: root, in: &storage, keys)
      if leaves.isEmpty { continue }
      digests[Int(number)] = try split(
        leaves, ofBucket: number, depth: grown.depth, in: &storage, keys)
    }
    grown.treeRoot = try raise(digests, depth: grown.depth, in: &storage, keys)
    forget()
    return grown
  }

  /// Writes a bucket's entries as the children of a node.
  ///
  /// - Returns: The node's digest.
  private func split(
    _ leaves: [UInt8], ofBucket number: UInt32, depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    _ = try storage.store(Span(), ofBucket: number, depth: depth, keys)
    var node: [UInt8] = []
    node.reserveCapacity(Tree.nodeByteCount)
    var start = 0
    for child in (number << 6)..<((number + 1) << 6) {
      var end = start
      while end < leaves.count, bucket(of: leaves, at: end, depth: depth) == child {
        end += Tree.entryByteCount
      }
      let entries = leaves.span.extracting(start..<end)
      let digest =
        entries.isEmpty
        ? .zero : try storage.store(entries, ofBucket: child, depth: depth, keys)
      node += digest.bytes
      start = end
    }
    // Entries left over would belong to another bucket.
    guard start == leaves.count else { throw .damaged(.bucket) }
    return try storage.store(node, level: depth - 1, index: number, depth: depth, keys)
  }

  private func bucket(of leaves: [UInt8], at offset: Int, depth: UInt8) -> UInt32 {
    let tag = ItemTag(leaves.span.extracting(offset..<(offset + 16)))
    return Tree.bucket(of: tag, depth: depth)
  }

  /// Writes the levels above the lowest nodes.
  ///
  /// - Parameter lowest: The digests of the lowest level's nodes.
  /// - Returns: The tree's root.
  func raise(
    _ lowest: [Digest], depth: UInt8, in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    var digests = lowest
    for level in (0..<(depth - 1)).reversed() {
      var above: [Digest] = []
      for index in 0..<(digests.count / Tree.fanout) {
        let children = digests[(index * Tree.fanout)..<((index + 1) * Tree.fanout)]
        above.append(
          try storage.store(
            children.flatMap(\.bytes), level: level, index: UInt32(index), depth: depth, keys))
      }
      digests = above
    }
    return digests[0]
  }
}

/// Holds an item's place in the tree.
struct TreeEntry {
  let tag: ItemTag
  let leaf: Digest
}

extension IntegrityTree {
  /// Writes a whole tree in the place of one of the same depth.
  ///
  /// - Parameter entries: All of them, ascending by tag.
  /// - Returns: The tree's root.
  func build(
    _ entries: [TreeEntry], depth: UInt8, in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    var next = 0
    var lowest: [Digest] = []
    for index in 0..<(UInt32(1) << (6 * UInt32(depth - 1))) {
      var node: [UInt8] = []
      for number in (index << 6)..<((index + 1) << 6) {
        var leaves: [UInt8] = []
        while next < entries.count, Tree.bucket(of: entries[next].tag, depth: depth) == number {
          leaves += entries[next].tag.bytes + entries[next].leaf.bytes
          next += 1
        }
        node += try storage.store(leaves.span, ofBucket: number, depth: depth, keys).bytes
      }
      lowest.append(
        try storage.store(node, level: depth - 1, index: index, depth: depth, keys))
    }
    return try raise(lowest, depth: depth, in: &storage, keys)
  }
}
