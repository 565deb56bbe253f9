// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Keeps buckets within one long transaction, in front of those that are stored: a bucket is verified when it is first
/// looked at, changed in memory, and written and hashed once, however many of its entries are changed.
struct HeldBuckets {
  /// How many bytes are kept of buckets at most, before those go that were not changed and the others are written.
  static let most = 16 << 20

  private let most: Int
  private var buckets: [UInt32: [UInt8]] = [:]
  private var changed: Set<UInt32> = []
  private var byteCount = 0

  /// Whether it is time to write those that were changed.
  var isFull: Bool { byteCount > most }

  /// Those that were changed, ascending.
  var changes: [UInt32] { changed.sorted() }

  /// - Parameter most: How many bytes are kept.
  init(atMost most: Int) { self.most = most }

  subscript(number: UInt32) -> [UInt8]? { buckets[number] }

  /// Keeps a bucket that was just verified.
  mutating func keep(_ leaves: [UInt8], ofBucket number: UInt32) {
    if isFull { dropUnchanged() }
    buckets[number] = leaves
    byteCount += leaves.count
  }

  /// Keeps what a bucket, which is kept, is to be.
  mutating func change(_ leaves: [UInt8], ofBucket number: UInt32) {
    byteCount += leaves.count - (buckets[number]?.count ?? 0)
    buckets[number] = leaves
    changed.insert(number)
  }

  /// Forgets all of them, once those that were changed are written.
  mutating func removeAll() { self = HeldBuckets(atMost: most) }

  private mutating func dropUnchanged() {
    buckets = buckets.filter { changed.contains($0.key) }
    byteCount = buckets.values.reduce(0) { $0 + $1.count }
  }
}

extension VaultRows {
  /// Writes the buckets that were changed, and the nodes above them.
  ///
  /// - Parameter root: As it was when they began to be kept.
  /// - Returns: The tree's new root.
  mutating func settleTree(
    under root: RootRecord, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    guard let held = tree.takeHeld() else { return root.treeRoot }
    var edit = TreeEdit(of: root)
    for number in held.changes {
      _ = try edit.leaves(ofBucket: number, in: &self, keys)
      guard let leaves = held[number] else { throw .damaged(.bucket) }
      try edit.store(leaves, ofBucket: number, in: &storage, keys)
    }
    try edit.close(in: &storage, keys)
    tree.forget()
    return edit.treeRoot
  }
}
