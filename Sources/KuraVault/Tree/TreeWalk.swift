// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Walks through all buckets, in order, and makes every hash anew.
struct TreeWalk {
  /// Says what a bucket holds.
  enum Bucket: Equatable {
    /// These entries; proved.
    case leaves([UInt8])
    /// Nothing that can be proved.
    case broken
  }

  /// Holds a node on the path to the bucket at hand.
  fileprivate enum Node {
    case digests([UInt8])
    /// Nothing below it holds anything.
    case empty
    /// Missing or changed.
    case broken
  }

  private let depth: UInt8
  private var path: [(index: UInt32, node: Node)] = []
  /// The bucket at hand.
  private(set) var number: UInt32 = 0
  /// What it holds; nil until it was loaded.
  private(set) var bucket: Bucket?
  /// The entry at hand.
  var entry = 0

  init(depth: UInt8) { self.depth = depth }

  /// Whether all buckets were walked through.
  var isAtEnd: Bool { UInt64(number) >= 1 << (6 * UInt64(depth)) }

  /// The entry at hand; nil behind the last one of the bucket.
  var leaf: (tag: ItemTag, digest: Digest)? {
    guard case .leaves(let bytes) = bucket else { return nil }
    let leaves = BucketLeaves(bytes.span)
    return entry < leaves.count ? (leaves.tag(entry), leaves.leaf(entry)) : nil
  }

  /// Goes on to the next bucket.
  mutating func advance() {
    number += 1
    bucket = nil
    entry = 0
  }

  /// Loads the bucket at hand.
  mutating func load(
    root: RootRecord, from storage: inout Storage, _ keys: borrowing Keyring,
    _ findings: inout FindingQueue
  ) throws(VaultError) {
    var expected: Digest? = root.treeRoot
    for level in 0..<depth {
      let place = TreePlace(number, level: level, depth: depth)
      try enter(place, expected, from: &storage, keys, &findings)
      expected = path[Int(level)].node.digest(of: place.child)
    }
    bucket = try leaves(expected, from: &storage, keys, &findings)
  }

  /// Loads a node unless it is the one at hand.
  private mutating func enter(
    _ place: TreePlace, _ expected: Digest?, from storage: inout Storage,
    _ keys: borrowing Keyring, _ findings: inout FindingQueue
  ) throws(VaultError) {
    let level = Int(place.level)
    if level < path.count, path[level].index == place.index { return }
    path.removeSubrange(min(level, path.count)...)
    let node = try node(place, expected, from: &storage, keys)
    if case .broken = node, expected != nil {
      try findings.add(.node, "node \(place.level)/\(place.index)")
    }
    path.append((place.index, node))
  }

  private func node(
    _ place: TreePlace, _ expected: Digest?, from storage: inout Storage,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> Node {
    guard let expected else { return .broken }
    if expected == .zero { return .empty }
    do throws(VaultError) {
      guard let row = try storage.node(at: place) else { return .broken }
      let digest = try keys.nodeDigest(level: place.level, index: place.index, depth: depth, row)
      let bytes = [UInt8](copying: row)
      // One without children has no row.
      return digest == expected && bytes.contains { $0 != 0 } ? .digests(bytes) : .broken
    } catch {
      guard error.isDamage else { throw error }
      return .broken
    }
  }

  private func leaves(
    _ expected: Digest?, from storage: inout Storage, _ keys: borrowing Keyring,
    _ findings: inout FindingQueue
  ) throws(VaultError) -> Bucket {
    guard let expected else { return .broken }
    if expected == .zero { return .leaves([]) }
    do throws(VaultError) {
      if let row = try storage.leaves(ofBucket: number) {
        let digest = try keys.bucketDigest(number, depth: depth, row)
        let isSound = BucketLeaves(row).belong(to: number, depth: depth)
        if digest == expected, isSound { return .leaves([UInt8](copying: row)) }
      }
    } catch { guard error.isDamage else { throw error } }
    try findings.add(.bucket, "bucket \(number)")
    return .broken
  }
}

extension TreeWalk.Node {
  /// The digest of a child; nil when nothing can be known of it.
  fileprivate func digest(of child: Int) -> Digest? {
    switch self {
    case .digests(let bytes):
      let start = child * Digest.byteCount
      return Digest(bytes.span.extracting(start..<(start + Digest.byteCount)))
    case .empty: return .zero
    case .broken: return nil
    }
  }
}
