// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Reads the entries of a bucket, tag and leaf each, ascending by tag.
struct BucketLeaves: ~Escapable {
  let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// How many entries there are.
  var count: Int { bytes.count / Tree.entryByteCount }

  /// The tag of an entry.
  func tag(_ index: Int) -> ItemTag {
    let start = index * Tree.entryByteCount
    return ItemTag(bytes.extracting(start..<(start + 16)))
  }

  /// The leaf of an entry.
  func leaf(_ index: Int) -> Digest {
    let start = index * Tree.entryByteCount + 16
    return Digest(bytes.extracting(start..<(start + Digest.byteCount)))
  }

  /// Whether the tags ascend and all belong to a bucket.
  func belong(to bucket: UInt32, depth: UInt8) -> Bool {
    guard count > 0 else { return true }
    var last = tag(0)
    guard Tree.bucket(of: last, depth: depth) == bucket else { return false }
    for index in 1..<count {
      let next = tag(index)
      guard last < next else { return false }
      last = next
    }
    return Tree.bucket(of: last, depth: depth) == bucket
  }

  /// The first entry whose tag is not before this one; `count` when there is none.
  func place(of wanted: ItemTag) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if tag(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The leaf that a tag has; nil when it has none.
  func leaf(of wanted: ItemTag) -> Digest? {
    let place = place(of: wanted)
    return place < count && tag(place) == wanted ? leaf(place) : nil
  }
}

extension [UInt8] {
  /// Gives a tag a leaf, in a bucket's bytes.
  mutating func setLeaf(_ leaf: Digest, of tag: ItemTag) {
    replaceSubrange(entryRange(of: tag), with: tag.bytes + leaf.bytes)
  }

  /// Takes the entry of a tag out of a bucket's bytes; without one, does nothing.
  mutating func removeLeaf(of tag: ItemTag) { removeSubrange(entryRange(of: tag)) }

  /// Where the entry of a tag stands, or is to stand.
  private func entryRange(of tag: ItemTag) -> Range<Int> {
    let leaves = BucketLeaves(span)
    let place = leaves.place(of: tag)
    let isThere = place < leaves.count && leaves.tag(place) == tag
    let start = place * Tree.entryByteCount
    return start..<(isThere ? start + Tree.entryByteCount : start)
  }
}
