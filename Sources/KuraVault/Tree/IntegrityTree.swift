// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Reads and writes the Merkle tree over all items as it stands in the storage; what it reads is verified.
///
/// It is told the root with every call; what it keeps was verified under the last one, and
/// ``forget()`` has to be called when another comes.
struct IntegrityTree: ~Copyable {
  private let checks: IntegrityChecks
  private var cache = NodeCache()
  /// Nodes written in the transaction under way.
  private var staged: [(id: UInt64, node: [UInt8])] = []
  /// Buckets that are changed in memory until ``VaultRows/settleTree(under:_:)``; nil where each change is written.
  private(set) var held: HeldBuckets?

  init(checks: IntegrityChecks) { self.checks = checks }

  /// Forgets every node, since the root is another.
  mutating func forget() {
    cache.removeAll()
    staged.removeAll()
    held?.removeAll()
  }

  /// Keeps the nodes that were written, once their transaction is committed.
  mutating func keepStaged() {
    for (id, node) in staged { cache.keep(id, node.span) }
    staged.removeAll()
  }
}

// MARK: - Holding

extension IntegrityTree {
  /// Keeps buckets in memory from here on: many of them are going to be looked at and changed in one transaction.
  ///
  /// - Parameter most: How many bytes of them.
  mutating func hold(atMost most: Int) { held = HeldBuckets(atMost: most) }

  /// Writes each change from here on; what was changed is written by now.
  mutating func release() { held = nil }

  /// Hands out what is kept, and keeps on from nothing; nil where nothing is.
  mutating func takeHeld() -> HeldBuckets? {
    let taken = held
    held?.removeAll()
    return taken
  }

  /// The entries of a bucket that is kept, or is from here on.
  private mutating func heldLeaves(
    ofBucket number: UInt32, under root: RootRecord, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8]? {
    guard let held else { return nil }
    if let known = held[number] { return known }
    let digest = try digest(ofBucket: number, under: root, in: &storage, keys)
    let leaves = try leaves(ofBucket: number, digest, root.depth, in: &storage, keys)
    self.held?.keep(leaves, ofBucket: number)
    return leaves
  }
}

// MARK: - Reading

extension IntegrityTree {
  /// The digest that the tree has of a bucket; zero when the bucket is empty.
  mutating func digest(
    ofBucket number: UInt32, under root: RootRecord, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    try digest(
      atLevel: root.depth, above: number, under: root, in: &storage, keys)
  }

  /// The digest that the tree has of what stands at a level of a bucket's path: of a node, or at the
  /// level of its depth of the bucket itself.
  mutating func digest(
    atLevel end: UInt8, above number: UInt32, under root: RootRecord,
    in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    var digest = root.treeRoot
    for level in 0..<end where digest != .zero {
      let place = TreePlace(number, level: level, depth: root.depth)
      if let kept = cache.digest(of: place.id, child: place.child) {
        digest = kept
      } else {
        let node = try node(place, digest, root.depth, in: &storage, keys)
        cache.keep(place.id, node)
        let start = place.child * Digest.byteCount
        digest = Digest(node.extracting(start..<(start + Digest.byteCount)))
      }
    }
    return digest
  }

  /// A node that comes to a digest other than zero.
  @_lifetime(&storage)
  private func node(
    _ place: TreePlace, _ expected: Digest, _ depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Span<UInt8> {
    guard let node = try storage.node(at: place) else { throw .damaged(.node) }
    let digest = try keys.nodeDigest(level: place.level, index: place.index, depth: depth, node)
    guard digest == expected || !checks.contains(.node) else { throw .damaged(.node) }
    // One without children has no row.
    guard node.indices.contains(where: { node[$0] != 0 }) else { throw .damaged(.node) }
    return node
  }

  /// A copy of a node that comes to a digest; one without children is empty.
  func copiedNode(
    _ place: TreePlace, _ expected: Digest, _ depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    guard expected != .zero else { return [UInt8](repeating: 0, count: Tree.nodeByteCount) }
    return [UInt8](copying: try node(place, expected, depth, in: &storage, keys))
  }

  /// The entries of a bucket that come to a digest other than zero.
  @_lifetime(&storage)
  private func bucket(
    _ number: UInt32, _ expected: Digest, _ depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Span<UInt8> {
    guard let leaves = try storage.leaves(ofBucket: number) else { throw .damaged(.bucket) }
    let digest = try keys.bucketDigest(number, depth: depth, leaves)
    guard digest == expected || !checks.contains(.bucket),
      BucketLeaves(leaves).belong(to: number, depth: depth)
    else { throw .damaged(.bucket) }
    return leaves
  }

  /// A copy of the entries of a bucket; without bytes when the tree knows of none.
  mutating func leaves(
    ofBucket number: UInt32, under root: RootRecord, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    if let held = try heldLeaves(ofBucket: number, under: root, in: &storage, keys) { return held }
    let digest = try digest(ofBucket: number, under: root, in: &storage, keys)
    return try leaves(ofBucket: number, digest, root.depth, in: &storage, keys)
  }

  func leaves(
    ofBucket number: UInt32, _ expected: Digest, _ depth: UInt8, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    guard expected != .zero else { return [] }
    return [UInt8](copying: try bucket(number, expected, depth, in: &storage, keys))
  }

  /// The leaf of a tag; nil is a proof that there is no item with this tag.
  mutating func leaf(
    of tag: ItemTag, under root: RootRecord, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest? {
    let number = Tree.bucket(of: tag, depth: root.depth)
    if let held = try heldLeaves(ofBucket: number, under: root, in: &storage, keys) {
      return BucketLeaves(held.span).leaf(of: tag)
    }
    let digest = try digest(ofBucket: number, under: root, in: &storage, keys)
    // A row that stands there all the same is nothing that the tree knows of.
    guard digest != .zero else { return nil }
    let leaves = try bucket(number, digest, root.depth, in: &storage, keys)
    return BucketLeaves(leaves).leaf(of: tag)
  }
}

/// Says where a bucket's path crosses a level of the tree.
struct TreePlace {
  let level: UInt8
  let index: UInt32
  /// Which of the node's children is next on the path.
  let child: Int

  var id: UInt64 { Tree.nodeID(level: level, index: index) }

  init(_ bucket: UInt32, level: UInt8, depth: UInt8) {
    let below = 6 * UInt32(depth - level - 1)
    let path = bucket >> below
    self.level = level
    index = path >> 6
    child = Int(path & 63)
  }
}

extension [UInt8] {
  /// The digest of a child, in a node's bytes.
  func digest(ofChild child: Int) -> Digest {
    let start = child * Digest.byteCount
    return Digest(span.extracting(start..<(start + Digest.byteCount)))
  }
}

// MARK: - Writing

/// Holds a bucket with the nodes above it, verified and about to change.
struct TreePath {
  let number: UInt32
  let depth: UInt8
  /// The tree's root that it was verified under.
  let root: Digest
  /// From the top down; none where the bucket is kept in memory.
  var nodes: [[UInt8]]
  var leaves: [UInt8]
}

extension IntegrityTree {
  /// Loads the path to a tag's bucket; everything on it is verified.
  mutating func path(
    to tag: ItemTag, under root: RootRecord, in storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> TreePath {
    let number = Tree.bucket(of: tag, depth: root.depth)
    if let held = try heldLeaves(ofBucket: number, under: root, in: &storage, keys) {
      return TreePath(
        number: number, depth: root.depth, root: root.treeRoot, nodes: [], leaves: held)
    }
    var nodes: [[UInt8]] = []
    var digest = root.treeRoot
    for level in 0..<root.depth {
      let place = TreePlace(number, level: level, depth: root.depth)
      let node: [UInt8]
      if digest == .zero {
        node = [UInt8](repeating: 0, count: Tree.nodeByteCount)
      } else if let kept = cache.node(place.id) {
        node = kept
      } else {
        node = [UInt8](copying: try self.node(place, digest, root.depth, in: &storage, keys))
      }
      digest = node.digest(ofChild: place.child)
      nodes.append(node)
    }
    let leaves = try leaves(ofBucket: number, digest, root.depth, in: &storage, keys)
    return TreePath(
      number: number, depth: root.depth, root: root.treeRoot, nodes: nodes, leaves: leaves)
  }

  /// Writes a path whose leaves were changed.
  ///
  /// - Returns: The tree's new root; the old one while buckets are kept in memory.
  mutating func store(
    _ path: consuming TreePath, in storage: inout Storage, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    guard held == nil else {
      held?.change(path.leaves, ofBucket: path.number)
      return path.root
    }
    var digest = try storage.store(
      path.leaves.span, ofBucket: path.number, depth: path.depth, keys)
    for level in (0..<path.depth).reversed() {
      let place = TreePlace(path.number, level: level, depth: path.depth)
      var node = path.nodes[Int(level)]
      let start = place.child * Digest.byteCount
      node.replaceSubrange(start..<(start + Digest.byteCount), with: digest.bytes)
      digest = try storage.store(
        node, level: level, index: place.index, depth: path.depth, keys)
      staged.append((place.id, node))
    }
    return digest
  }
}
