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
    do {
      // Downwards, since a bucket's children take numbers at or above its own.
      for number in (0..<UInt32(bucketCount)).reversed() {
        let leaves = try leaves(ofBucket: number, under: root, in: &storage, keys)
        if leaves.isEmpty { continue }
        digests[Int(number)] = try split(
          leaves, ofBucket: number, depth: grown.depth, in: &storage, keys)
      }
      grown.treeRoot = try raise(digests, depth: grown.depth, in: &storage, keys)
    } catch {
      throw VaultError(error, about: .node)
    }
    forget()
    return grown
  }

  /// Writes a bucket's entries as the children of a node.
  ///
  /// - Returns: The node's digest.
  private func split(
    _ leaves: [UInt8], ofBucket number: UInt32, depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws -> Digest {
    try storage.storeBucket(number, Span())
    var node: [UInt8] = []
    node.reserveCapacity(Tree.nodeByteCount)
    var start = 0
    for child in (number << 6)..<((number + 1) << 6) {
      var end = start
      while end < leaves.count, bucket(of: leaves, at: end, depth: depth) == child {
        end += Tree.entryByteCount
      }
      let entries = leaves.span.extracting(start..<end)
      let digest = try keys.tree.bucket(child, depth: depth, leaves: entries)
      if !entries.isEmpty { try storage.storeBucket(child, entries) }
      node += digest.bytes
      start = end
    }
    // Entries left over would belong to another bucket.
    guard start == leaves.count else { throw VaultError.damaged(.bucket) }
    let level = depth - 1
    try storage.storeNode(Int64(Tree.nodeID(level: level, index: number)), node.span)
    return try keys.tree.node(level: level, index: number, depth: depth, digests: node.span)
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
  ) throws -> Digest {
    var digests = lowest
    for level in (0..<(depth - 1)).reversed() {
      var above: [Digest] = []
      for index in 0..<(digests.count / Tree.fanout) {
        let children = digests[(index * Tree.fanout)..<((index + 1) * Tree.fanout)]
        let id = Int64(Tree.nodeID(level: level, index: UInt32(index)))
        guard children.contains(where: { $0 != .zero }) else {
          try storage.storeNode(id, nil)
          above.append(.zero)
          continue
        }
        let node = children.flatMap(\.bytes)
        try storage.storeNode(id, node.span)
        above.append(
          try keys.tree.node(
            level: level, index: UInt32(index), depth: depth, digests: node.span))
      }
      digests = above
    }
    return digests[0]
  }
}

/// An item's place in the tree.
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
    do {
      for index in 0..<(UInt32(1) << (6 * UInt32(depth - 1))) {
        var node: [UInt8] = []
        for number in (index << 6)..<((index + 1) << 6) {
          var leaves: [UInt8] = []
          while next < entries.count, Tree.bucket(of: entries[next].tag, depth: depth) == number {
            leaves += entries[next].tag.bytes + entries[next].leaf.bytes
            next += 1
          }
          try storage.storeBucket(number, leaves.span)
          node += try keys.tree.bucket(number, depth: depth, leaves: leaves.span).bytes
        }
        lowest.append(try store(node, at: index, depth: depth, in: &storage, keys))
      }
      return try raise(lowest, depth: depth, in: &storage, keys)
    } catch {
      throw VaultError(error, about: .node)
    }
  }

  /// Writes a node of the lowest level; one without children is none.
  private func store(
    _ node: [UInt8], at index: UInt32, depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws -> Digest {
    let id = Int64(Tree.nodeID(level: depth - 1, index: index))
    guard node.contains(where: { $0 != 0 }) else {
      try storage.storeNode(id, nil)
      return .zero
    }
    try storage.storeNode(id, node.span)
    return try keys.tree.node(level: depth - 1, index: index, depth: depth, digests: node.span)
  }
}
