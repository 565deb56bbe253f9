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
  private func raise(
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
