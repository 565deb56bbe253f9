// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Sorts records by the bytes of their keys. They are packed in blocks: a million names need little
/// more than themselves, and nothing is moved while they come in. What stands in a block is sorted as
/// soon as it is full, while the agent still reads the next ones; the standard library's sort takes
/// such runs as they are and merges them.
@safe
struct ItemSorter: ~Copyable {
  /// `u16 key length ‖ u32 rest's length ‖ key ‖ rest`, in this machine's order of bytes.
  private static let headCount = 6
  private static let blockSize = 1 << 20

  private var blocks: [UnsafeMutableRawPointer] = unsafe []
  /// Bytes of the last block that are taken.
  private var used = blockSize
  /// Where records begin.
  private var starts: [UnsafeRawPointer] = unsafe []
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
    unsafe starts.append(UnsafeRawPointer(start))
  }

  private mutating func beginBlock() {
    unsafe starts[sortedCount...].sort { unsafe Self.comesBefore($0, $1) }
    sortedCount = unsafe starts.count
    unsafe blocks.append(.allocate(byteCount: Self.blockSize, alignment: 16))
    used = 0
  }

  /// Hands out the records, sorted.
  consuming func visit<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ rest: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    unsafe starts[sortedCount...].sort { unsafe Self.comesBefore($0, $1) }
    unsafe starts.sort { unsafe Self.comesBefore($0, $1) }
    for index in unsafe starts.indices {
      let start = unsafe starts[index]
      let (keyCount, restCount) = unsafe Self.counts(start)
      let key = unsafe (start + Self.headCount).assumingMemoryBound(to: UInt8.self)
      try unsafe body(
        Span(_unsafeStart: key, count: keyCount),
        Span(_unsafeStart: key + keyCount, count: restCount))
    }
  }

  private static func counts(_ start: UnsafeRawPointer) -> (key: Int, rest: Int) {
    let key = unsafe start.loadUnaligned(as: UInt16.self)
    let rest = unsafe start.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
    return (Int(key), Int(rest))
  }

  private static func comesBefore(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer) -> Bool {
    let leftCount = unsafe counts(left).key
    let rightCount = unsafe counts(right).key
    let order = unsafe memcmp(left + headCount, right + headCount, min(leftCount, rightCount))
    return order == 0 ? leftCount < rightCount : order < 0
  }
}
