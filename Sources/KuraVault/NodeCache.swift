// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Inner nodes of the tree that were verified under the root in hand: at most 256 KiB.
///
/// The top node and the 64 below it have places of their own; the others share what is left.
struct NodeCache {
  private static let places = 126
  private static let sharedPlaces = places - 1 - Tree.fanout

  private var ids = [UInt64?](repeating: nil, count: places)
  private var digests = [UInt8](repeating: 0, count: places * Tree.nodeByteCount)

  /// How much memory it takes.
  var byteCount: Int { ids.count * MemoryLayout<UInt64?>.stride + digests.count }

  private static func place(of id: UInt64) -> Int {
    let (level, index) = (id >> 32, Int(id & 0xFFFF_FFFF))
    switch level {
    case 0: return 0
    case 1: return 1 + index % Tree.fanout
    default: return 1 + Tree.fanout + index % sharedPlaces
    }
  }

  /// A child's digest out of a kept node; nil when the node is not kept.
  func digest(of id: UInt64, child: Int) -> Digest? {
    let place = NodeCache.place(of: id)
    guard ids[place] == id else { return nil }
    let start = place * Tree.nodeByteCount + child * Digest.byteCount
    return Digest(digests.span.extracting(start..<(start + Digest.byteCount)))
  }

  /// A copy of a kept node; nil when it is not kept.
  func node(_ id: UInt64) -> [UInt8]? {
    let place = NodeCache.place(of: id)
    guard ids[place] == id else { return nil }
    let start = place * Tree.nodeByteCount
    return Array(digests[start..<(start + Tree.nodeByteCount)])
  }

  /// Keeps a node that was just verified, in place of what stood there.
  mutating func keep(_ id: UInt64, _ node: Span<UInt8>) {
    let place = NodeCache.place(of: id)
    ids[place] = id
    let start = place * Tree.nodeByteCount
    var target = digests.mutableSpan
    for index in node.indices { target[start + index] = node[index] }
  }

  /// Forgets everything, since the root is another.
  mutating func removeAll() {
    for place in ids.indices { ids[place] = nil }
  }
}
