// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Holds some buckets with the rows that they name, copied out of the file: they can be looked at while the
/// storage reads on, and by another thread. Nothing of it is verified but the buckets' digests.
struct ItemSlice: Sendable {
  /// Ties a bucket to the digest that it has to come to.
  struct Bucket {
    let number: UInt32
    let digest: Digest
    /// Where its entries stand.
    let leaves: Range<Int>
    /// Which rows have one of its tags.
    var rows = 0..<0
  }

  /// Says where a row's bytes stand: history, meta and the ends of its body, one behind the other.
  struct Row {
    let facts: RowFacts
    let history: Range<Int>
    let meta: Range<Int>
    let body: Range<Int>
  }

  /// The state of the vault that it was read from.
  private(set) var epoch: UInt64 = 0
  private(set) var depth: UInt8 = 0
  private(set) var bytes: [UInt8] = []
  private(set) var buckets: [Bucket] = []
  private(set) var rows: [Row] = []
  /// The first tag behind it; nil at the end of the vault.
  private(set) var next: ItemTag?
  /// The bucket whose rows are being added.
  private var openBucket = 0

  /// Empties the slice, and keeps its memory.
  mutating func begin(under root: RootRecord) {
    epoch = root.epoch
    depth = root.depth
    next = nil
    openBucket = 0
    bytes.removeAll(keepingCapacity: true)
    buckets.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
  }

  /// Sets the first tag behind the slice.
  mutating func end(before next: ItemTag?) { self.next = next }

  /// Adds a bucket.
  ///
  /// - Returns: How many rows it names.
  mutating func add(bucket number: UInt32, _ digest: Digest, _ leaves: Span<UInt8>) -> Int {
    let range = add(leaves)
    buckets.append(Bucket(number: number, digest: digest, leaves: range))
    return range.count / Tree.entryByteCount
  }

  private mutating func add(_ part: Span<UInt8>) -> Range<Int> {
    let start = bytes.count
    bytes.append(copying: part)
    return start..<bytes.count
  }
}

// MARK: - Rows

extension ItemSlice {
  /// Bytes after which no further bucket is begun: attributes can make a meta 64 KiB long.
  private static let enoughBytes = 1_048_576

  /// Adds the rows that the buckets name, out of a scan that has come to them: what the tree does not know
  /// of is passed over, and what is missing is left to be missed.
  mutating func addRows(from storage: inout Storage) throws(VaultError) {
    var place = 0
    beginBucket(&place)
    while openBucket < buckets.count, let row = try storage.nextRow() {
      let facts = try RowFacts(row)
      while openBucket < buckets.count {
        let tag = ItemTag(bytes.span.extracting(place..<(place + 16)))
        if tag > facts.tag { break }
        place += Tree.entryByteCount
        if tag == facts.tag { add(row, facts) }
        if place == buckets[openBucket].leaves.upperBound { endBucket(&place) }
        if tag == facts.tag { break }
      }
    }
    while openBucket < buckets.count { endBucket(&place) }
  }

  private mutating func beginBucket(_ place: inout Int) {
    guard openBucket < buckets.count else { return }
    place = buckets[openBucket].leaves.lowerBound
    buckets[openBucket].rows = rows.count..<rows.count
  }

  private mutating func endBucket(_ place: inout Int) {
    buckets[openBucket].rows = buckets[openBucket].rows.lowerBound..<rows.count
    openBucket += 1
    if bytes.count > Self.enoughBytes, openBucket < buckets.count {
      // The others are for the next slice.
      next = Tree.firstTag(ofBucket: buckets[openBucket].number, depth: depth)
      buckets.removeSubrange(openBucket...)
    }
    beginBucket(&place)
  }

  private mutating func add(_ row: borrowing ItemRow, _ facts: RowFacts) {
    let history = add(row.history)
    let meta = add(row.meta)
    let start = bytes.count
    bytes.append(copying: row.body.extracting(first: Seal.headCount))
    bytes.append(copying: row.body.extracting(last: Seal.tagCount))
    rows.append(Row(facts: facts, history: history, meta: meta, body: start..<bytes.count))
  }
}

extension VaultRows {
  /// The most buckets of a slice; in a tree that items have left they may all be empty.
  private static let sliceBuckets = 1_024

  /// Copies some whole buckets from a tag on, and the rows that they name.
  ///
  /// - Parameters:
  ///   - cursor: The first tag of a bucket.
  ///   - rowCount: How many rows are enough.
  mutating func read(
    _ slice: inout ItemSlice, from cursor: ItemTag, atLeast rowCount: Int, under root: RootRecord,
    _ keys: borrowing Keyring
  ) throws(VaultError) {
    slice.begin(under: root)
    let first = Tree.bucket(of: cursor, depth: root.depth)
    let end: UInt32 = 1 << (6 * UInt32(root.depth))
    var (number, count) = (first, 0)
    while number < end, count < rowCount, Int(number - first) < Self.sliceBuckets {
      count += try add(number, to: &slice, under: root, keys)
      number += 1
    }
    slice.end(before: number < end ? Tree.firstTag(ofBucket: number, depth: root.depth) : nil)
    let tag = cursor.bytes
    try fromStorage(storage.scanItems(from: tag.span))
    try slice.addRows(from: &storage)
  }

  private mutating func add(
    _ number: UInt32, to slice: inout ItemSlice, under root: RootRecord, _ keys: borrowing Keyring
  ) throws(VaultError) -> Int {
    let digest = try tree.digest(ofBucket: number, under: root, in: &storage, keys)
    guard digest != .zero else { return 0 }
    guard let leaves = try storage.leaves(ofBucket: number) else { throw .damaged(.bucket) }
    return slice.add(bucket: number, digest, leaves)
  }
}
