// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// A walk through all buckets, in order, that makes every hash anew.
struct TreeWalk {
  /// What a bucket holds.
  enum Bucket: Equatable {
    /// These entries; proved.
    case leaves([UInt8])
    /// Nothing that can be proved.
    case broken
  }

  /// A node on the path to the bucket at hand.
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
  ) throws {
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
  ) throws {
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
  ) throws -> Node {
    guard let expected else { return .broken }
    if expected == .zero { return .empty }
    do {
      guard let row = try storage.node(Int64(place.id)) else { return .broken }
      let digest = try keys.tree.node(
        level: place.level, index: place.index, depth: depth, digests: row)
      let bytes = [UInt8](copying: row)
      // One without children has no row.
      return digest == expected && bytes.contains { $0 != 0 } ? .digests(bytes) : .broken
    } catch StorageError.damaged, StorageError.corrupt {
      return .broken
    }
  }

  private func leaves(
    _ expected: Digest?, from storage: inout Storage, _ keys: borrowing Keyring,
    _ findings: inout FindingQueue
  ) throws -> Bucket {
    guard let expected else { return .broken }
    if expected == .zero { return .leaves([]) }
    do {
      if let row = try storage.bucket(number) {
        let digest = try keys.tree.bucket(number, depth: depth, leaves: row)
        let isSound = BucketLeaves(row).belong(to: number, depth: depth)
        if digest == expected, isSound { return .leaves([UInt8](copying: row)) }
      }
    } catch StorageError.damaged, StorageError.corrupt {}
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
