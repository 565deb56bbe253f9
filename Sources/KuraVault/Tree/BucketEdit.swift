// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Puts the entries of a batch into those of a bucket, in ascending order.
struct BucketEdit {
  let number: UInt32
  /// Its entries as they are.
  private let before: [UInt8]
  /// How many of the old entries stand in the new ones.
  private var taken = 0
  /// The new entries, up to the tag that ``leaf(of:)`` was asked for last.
  private(set) var after: [UInt8] = []

  init(_ number: UInt32, before: [UInt8]) {
    self.number = number
    self.before = before
    after.reserveCapacity(before.count + 4 * Tree.entryByteCount)
  }

  /// What it has of a tag, which is no smaller than those before; nil for a new one.
  mutating func leaf(of tag: ItemTag) -> Digest? {
    let end = self.end(of: tag)
    after += before[(taken * Tree.entryByteCount)..<(end * Tree.entryByteCount)]
    taken = end
    return last(is: tag)
  }

  /// Sets the leaf of the tag that ``leaf(of:)`` was asked for last.
  mutating func set(_ tag: ItemTag, _ leaf: Digest) {
    if last(is: tag) != nil { after.removeLast(Tree.entryByteCount) }
    after += tag.bytes
    let bytes = leaf.span
    for index in bytes.indices { after.append(bytes[index]) }
  }

  /// How many entries it had up to a tag, that one included.
  private func end(of tag: ItemTag) -> Int {
    let old = BucketLeaves(before.span)
    var end = taken
    while end < old.count, old.tag(end) <= tag { end += 1 }
    return end
  }

  /// The leaf of the last entry, when it is this tag's.
  private func last(is tag: ItemTag) -> Digest? {
    let new = BucketLeaves(after.span)
    guard new.count > 0, new.tag(new.count - 1) == tag else { return nil }
    return new.leaf(new.count - 1)
  }

  /// Takes over what is left.
  mutating func close() {
    after += before[(taken * Tree.entryByteCount)...]
    taken = before.count / Tree.entryByteCount
  }
}
