// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Keeps inner nodes of the tree that were verified under the root in hand.
///
/// Each has a place of its own. Memory is taken for the 64 below one node at a time, when the first of them
/// is kept: 130 KiB in all up to 262,144 items.
struct NodeCache {
  /// Holds nodes with places side by side.
  private struct Group {
    /// Which of them are kept, one bit each.
    var kept: UInt64 = 0
    var digests: [UInt8] = []
  }

  /// How many nodes fit: the top one, the 64 below it, and 64 below each of those.
  static let places = 4_161

  /// The top node, and those below each node, in their order.
  private var groups = [Group](repeating: Group(), count: 1 + places / Tree.fanout)

  /// How much memory the nodes take.
  var byteCount: Int { groups.reduce(0) { $0 + $1.digests.count } }

  /// Where a node stands: its group, and its place in it.
  private static func place(of id: UInt64) -> (group: Int, place: Int) {
    let (level, index) = (Int(id >> 32), Int(id & 0xFFFF_FFFF))
    let group = level + (level == 2 ? index / Tree.fanout : 0)
    // No tree is deeper than that.
    return (level > 2 ? .max : group, index % Tree.fanout)
  }

  private func holds(_ group: Int, _ place: Int) -> Bool {
    group < groups.count && groups[group].kept >> UInt64(place) & 1 == 1
  }

  /// A child's digest out of a kept node; nil when the node is not kept.
  func digest(of id: UInt64, child: Int) -> Digest? {
    let (group, place) = NodeCache.place(of: id)
    guard holds(group, place) else { return nil }
    let start = place * Tree.nodeByteCount + child * Digest.byteCount
    let digests = groups[group].digests
    return Digest(digests.span.extracting(start..<(start + Digest.byteCount)))
  }

  /// A copy of a kept node; nil when it is not kept.
  func node(_ id: UInt64) -> [UInt8]? {
    let (group, place) = NodeCache.place(of: id)
    guard holds(group, place) else { return nil }
    let start = place * Tree.nodeByteCount
    return Array(groups[group].digests[start..<(start + Tree.nodeByteCount)])
  }

  /// Keeps a node that was just verified.
  mutating func keep(_ id: UInt64, _ node: Span<UInt8>) {
    let (group, place) = NodeCache.place(of: id)
    guard group < groups.count else { return }
    if groups[group].digests.isEmpty {
      let count = group == 0 ? 1 : Tree.fanout
      groups[group].digests = [UInt8](repeating: 0, count: count * Tree.nodeByteCount)
    }
    groups[group].kept |= 1 << UInt64(place)
    let start = place * Tree.nodeByteCount
    var target = groups[group].digests.mutableSpan
    for index in node.indices { target[start + index] = node[index] }
  }

  /// Forgets everything, since the root is another.
  mutating func removeAll() {
    for group in groups.indices { groups[group].kept = 0 }
  }
}
