// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Sorts records by the bytes of their keys. They are packed in blocks: a million names need little
/// more than themselves, and nothing is moved while they come in.
@safe
struct ItemSorter: ~Copyable {
  private static let blockSize = 1 << 20
  /// The lengths of the key and of the rest, least significant byte first.
  private static let headCount = 6

  private var blocks: [[UInt8]] = []
  /// Where records begin: block × `blockSize` + offset.
  private var starts: [Int] = []

  init() {}

  /// Keeps a record.
  ///
  /// - Parameters:
  ///   - key: What it is sorted by; at most 65,535 bytes.
  ///   - rest: What else belongs to it; with the key less than 1 MiB.
  mutating func append(_ key: Span<UInt8>, _ rest: Span<UInt8>) {
    let count = Self.headCount + key.count + rest.count
    precondition(key.count <= Int(UInt16.max) && count <= Self.blockSize, "a record is small")
    if blocks.isEmpty || blocks[blocks.count - 1].count + count > Self.blockSize {
      blocks.append([])
      blocks[blocks.count - 1].reserveCapacity(Self.blockSize)
    }
    let last = blocks.count - 1
    starts.append(last * Self.blockSize + blocks[last].count)
    for shift in [0, 8] { blocks[last].append(UInt8(truncatingIfNeeded: key.count >> shift)) }
    for shift in [0, 8, 16, 24] {
      blocks[last].append(UInt8(truncatingIfNeeded: rest.count >> shift))
    }
    for index in key.indices { blocks[last].append(key[index]) }
    for index in rest.indices { blocks[last].append(rest[index]) }
  }

  /// Hands out the records, sorted.
  consuming func visit<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ rest: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var starts = starts
    starts.sort { isLess($0, $1) }
    for start in starts {
      let (key, rest) = parts(start)
      let block = blocks[start / Self.blockSize]
      try body(block.span.extracting(key), block.span.extracting(rest))
    }
  }

  private func parts(_ start: Int) -> (key: Range<Int>, rest: Range<Int>) {
    let block = blocks[start / Self.blockSize]
    let offset = start % Self.blockSize
    func number(_ at: Int, _ width: Int) -> Int {
      var number = 0
      for index in 0..<width { number |= Int(block[offset + at + index]) << (8 * index) }
      return number
    }
    let key = offset + Self.headCount..<offset + Self.headCount + number(0, 2)
    return (key, key.upperBound..<key.upperBound + number(2, 4))
  }

  private func isLess(_ left: Int, _ right: Int) -> Bool {
    let (leftOffset, rightOffset) = (left % Self.blockSize, right % Self.blockSize)
    return unsafe blocks[left / Self.blockSize].withUnsafeBytes { left in
      unsafe blocks[right / Self.blockSize].withUnsafeBytes { right in
        let leftCount = unsafe Int(left.loadUnaligned(fromByteOffset: leftOffset, as: UInt16.self))
        let rightCount = unsafe Int(
          right.loadUnaligned(fromByteOffset: rightOffset, as: UInt16.self))
        let order = unsafe memcmp(
          left.baseAddress! + leftOffset + Self.headCount,
          right.baseAddress! + rightOffset + Self.headCount, min(leftCount, rightCount))
        return order == 0 ? leftCount < rightCount : order < 0
      }
    }
  }
}
