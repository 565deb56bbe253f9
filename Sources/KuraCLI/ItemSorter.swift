// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Sorts records by the bytes of their keys. They are packed in blocks: a million names need little
/// more than themselves. A block is sorted as soon as it is full, while the next records are still
/// being read by the agent; at the end the blocks are merged.
struct ItemSorter: ~Copyable {
  private var full: [SortedBlock] = []
  private var block = RecordBlock()

  init() {}

  /// Keeps a record.
  ///
  /// - Parameters:
  ///   - key: What it is sorted by; at most 65,535 bytes.
  ///   - rest: What else belongs to it; with the key less than 1 MiB.
  mutating func append(_ key: Span<UInt8>, _ rest: Span<UInt8>) {
    if !block.hasPlace(for: key, rest) { finishBlock() }
    block.append(key, rest)
  }

  /// Hands out the records, sorted.
  consuming func visit<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ rest: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    finishBlock()
    // A heap of blocks: the one whose next record comes first stands in front.
    var heap: [SortedBlock] = []
    swap(&heap, &full)
    for root in (0..<heap.count / 2).reversed() { heap.sink(from: root) }
    while let first = heap.first {
      let (key, rest) = first.record
      try body(first.bytes.span.extracting(key), first.bytes.span.extracting(rest))
      if first.isLast {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
      } else {
        heap[0].advance()
      }
      heap.sink(from: 0)
    }
  }

  private mutating func finishBlock() {
    guard !block.isEmpty else { return }
    full.append(SortedBlock(block))
    block = RecordBlock()
  }
}

/// Records one after another: `u16 key length ‖ u32 rest's length ‖ key ‖ rest`, in this machine's
/// order of bytes.
private struct RecordBlock {
  static let headCount = 6
  private static let size = 1 << 20

  fileprivate var bytes: [UInt8] = []
  /// Where records begin.
  fileprivate var starts: [UInt32] = []

  init() { bytes.reserveCapacity(Self.size) }

  var isEmpty: Bool { starts.isEmpty }

  func hasPlace(for key: Span<UInt8>, _ rest: Span<UInt8>) -> Bool {
    bytes.count + Self.headCount + key.count + rest.count <= Self.size
  }

  mutating func append(_ key: Span<UInt8>, _ rest: Span<UInt8>) {
    precondition(key.count <= Int(UInt16.max) && hasPlace(for: key, rest), "a record is small")
    starts.append(UInt32(bytes.count))
    for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: key.count >> shift)) }
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: rest.count >> shift)) }
    unsafe key.withUnsafeBufferPointer { key in unsafe bytes.append(contentsOf: key) }
    unsafe rest.withUnsafeBufferPointer { rest in unsafe bytes.append(contentsOf: rest) }
  }
}

/// A block's records in order, and how far they were handed out.
private struct SortedBlock {
  let bytes: [UInt8]
  private let starts: [UInt32]
  private var next = 0

  init(_ block: RecordBlock) {
    bytes = block.bytes
    starts = unsafe bytes.withUnsafeBytes { bytes in
      block.starts.sorted { left, right in
        unsafe compareKeys(bytes, Int(left), bytes, Int(right)) < 0
      }
    }
  }

  var isLast: Bool { next == starts.count - 1 }

  mutating func advance() { next += 1 }

  /// The next record's key and rest.
  var record: (key: Range<Int>, rest: Range<Int>) {
    let start = Int(starts[next])
    let key = start + RecordBlock.headCount
    let rest = key + (Int(bytes[start]) | Int(bytes[start + 1]) << 8)
    var count = 0
    for index in 0..<4 { count |= Int(bytes[start + 2 + index]) << (8 * index) }
    return (key..<rest, rest..<rest + count)
  }

  func comesBefore(_ other: borrowing SortedBlock) -> Bool {
    unsafe bytes.withUnsafeBytes { left in
      unsafe other.bytes.withUnsafeBytes { right in
        unsafe compareKeys(left, Int(starts[next]), right, Int(other.starts[other.next])) < 0
      }
    }
  }
}

extension [SortedBlock] {
  /// Moves a block down to where none behind it comes before it.
  fileprivate mutating func sink(from root: Int) {
    var root = root
    while 2 * root + 1 < count {
      var child = 2 * root + 1
      if child + 1 < count, self[child + 1].comesBefore(self[child]) { child += 1 }
      guard self[child].comesBefore(self[root]) else { return }
      swapAt(root, child)
      root = child
    }
  }
}

/// Compares two records' keys as bytes: under 0 when the left one comes first.
private func compareKeys(
  _ left: UnsafeRawBufferPointer, _ leftStart: Int,
  _ right: UnsafeRawBufferPointer, _ rightStart: Int
) -> Int {
  let leftCount = unsafe Int(left.loadUnaligned(fromByteOffset: leftStart, as: UInt16.self))
  let rightCount = unsafe Int(right.loadUnaligned(fromByteOffset: rightStart, as: UInt16.self))
  guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else {
    return 0
  }
  let order = unsafe memcmp(
    leftBase + leftStart + RecordBlock.headCount, rightBase + rightStart + RecordBlock.headCount,
    min(leftCount, rightCount))
  return order == 0 ? leftCount - rightCount : Int(order)
}
