// SPDX-License-Identifier: MIT

/// Sorts records by the bytes of their keys. They are packed in blocks: a million names need little
/// more than themselves, and nothing is moved while they come in. What stands in a block is sorted as
/// soon as it is full, while the agent still reads the next ones; the standard library's sort takes
/// such runs as they are and merges them.
@safe
struct ItemSorter: ~Copyable {
  /// `u16 key length ‖ u32 rest's length ‖ key ‖ rest`, in this machine's order of bytes.
  fileprivate static let headCount = 6
  private static let blockSize = 1 << 20

  private var blocks: [UnsafeMutableRawPointer] = unsafe []
  /// Bytes of the last block that are taken.
  private var used = blockSize
  private var records: [Record] = []
  /// How many of them are in order, as far as they came block by block.
  private var sortedCount = 0

  init() {}

  deinit {
    for index in unsafe blocks.indices { unsafe blocks[index].deallocate() }
  }

  /// Keeps a record.
  ///
  /// - Parameters:
  ///   - key: What it is sorted by; at most 65,535 bytes.
  ///   - rest: What else belongs to it; with the key less than 1 MiB.
  mutating func append(_ key: Span<UInt8>, _ rest: Span<UInt8>) {
    let count = Self.headCount + key.count + rest.count
    precondition(key.count <= Int(UInt16.max) && count <= Self.blockSize, "a record is small")
    if used + count > Self.blockSize { beginBlock() }
    guard let block = unsafe blocks.last else { return }
    let start = unsafe block + used
    unsafe start.storeBytes(of: UInt16(key.count), as: UInt16.self)
    unsafe start.storeBytes(of: UInt32(rest.count), toByteOffset: 2, as: UInt32.self)
    unsafe key.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe (start + Self.headCount).copyMemory(from: base, byteCount: bytes.count)
    }
    unsafe rest.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe (start + Self.headCount + key.count).copyMemory(from: base, byteCount: bytes.count)
    }
    used += count
    unsafe records.append(Record(start: UnsafeRawPointer(start), keyCount: key.count))
  }

  private mutating func beginBlock() {
    records[sortedCount...].sort { $0.comesBefore($1) }
    sortedCount = records.count
    unsafe blocks.append(.allocate(byteCount: Self.blockSize, alignment: 16))
    used = 0
  }

  /// Hands out the records, sorted.
  consuming func visit<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ rest: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    records[sortedCount...].sort { $0.comesBefore($1) }
    records.sort { $0.comesBefore($1) }
    for record in records {
      let (keyCount, restCount) = record.counts
      let key = unsafe record.key.assumingMemoryBound(to: UInt8.self)
      try unsafe body(
        Span(_unsafeStart: key, count: keyCount),
        Span(_unsafeStart: key + keyCount, count: restCount))
    }
  }
}

/// Finds a record in its block, and compares it with others.
@safe
private struct Record {
  private static let wordCount = 8

  /// The first bytes of its key as a number, which mostly decides; zeros stand for what it has not.
  private let prefix: UInt64
  private let start: UnsafeRawPointer

  init(start: UnsafeRawPointer, keyCount: Int) {
    unsafe self.start = start
    var prefix: UInt64 = 0
    if keyCount >= Record.wordCount {
      prefix = unsafe Record.word(start + ItemSorter.headCount)
    } else {
      for index in 0..<keyCount {
        let byte = unsafe start.load(fromByteOffset: ItemSorter.headCount + index, as: UInt8.self)
        prefix |= UInt64(byte) << UInt64(56 - 8 * index)
      }
    }
    self.prefix = prefix
  }

  var key: UnsafeRawPointer { unsafe start + ItemSorter.headCount }

  var counts: (key: Int, rest: Int) {
    let key = unsafe start.loadUnaligned(as: UInt16.self)
    let rest = unsafe start.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
    return (Int(key), Int(rest))
  }

  func comesBefore(_ other: Record) -> Bool {
    prefix == other.prefix ? comesBeforeBehindPrefix(other) : prefix < other.prefix
  }

  private func comesBeforeBehindPrefix(_ other: Record) -> Bool {
    let (ownCount, otherCount) = (counts.key, other.counts.key)
    let count = min(ownCount, otherCount)
    var offset = Record.wordCount
    while offset + Record.wordCount <= count {
      let (own, others) = unsafe (Record.word(key + offset), Record.word(other.key + offset))
      if own != others { return own < others }
      offset += Record.wordCount
    }
    while offset < count {
      let own = unsafe key.load(fromByteOffset: offset, as: UInt8.self)
      let others = unsafe other.key.load(fromByteOffset: offset, as: UInt8.self)
      if own != others { return own < others }
      offset += 1
    }
    return ownCount < otherCount
  }

  /// Eight bytes as a number that is ordered as they are.
  private static func word(_ start: UnsafeRawPointer) -> UInt64 {
    unsafe UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
  }
}
