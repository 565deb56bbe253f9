// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Holds a secret that grows, and zeroes each block that it outgrows.
@safe
public struct SecretBuffer: ~Copyable {
  private var storage: SecretBytes

  /// The number of bytes held so far.
  public private(set) var count = 0

  /// Allocates room for `capacity` bytes, so that appending them later moves nothing.
  ///
  /// - Parameter capacity: A guess, in bytes; not negative.
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)`` when no memory is left.
  public init(capacity: Int) throws(SecureMemoryError) {
    storage = try SecretBytes(count: max(capacity, 64))
  }

  /// The room there is before the buffer has to move.
  public var capacity: Int { storage.count }

  /// What is held, to read; the view cannot outlive its owner.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { storage.bytes.extracting(first: count) }
  }
}

// One owner, as its storage has.
extension SecretBuffer: Sendable {}

// MARK: - Growing

extension SecretBuffer {
  /// Makes room for `additional` bytes after those that are held.
  ///
  /// - Parameter additional: How many, not negative.
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)``; the content stays as it was.
  public mutating func reserve(_ additional: Int) throws(SecureMemoryError) {
    precondition(additional >= 0, "room is not negative")
    let (needed, overflow) = count.addingReportingOverflow(additional)
    guard !overflow else { throw .allocationFailed(byteCount: Int.max) }
    guard needed > storage.count else { return }
    let (double, isHuge) = storage.count.multipliedReportingOverflow(by: 2)
    var grown = try SecretBytes(count: isHuge ? needed : max(needed, double))
    grown.overwrite(at: 0, with: bytes)
    storage = grown
  }

  /// Appends one byte.
  ///
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)``; the content stays as it was.
  public mutating func append(_ byte: UInt8) throws(SecureMemoryError) {
    try reserve(1)
    var tail = storage.mutableBytes(from: count, count: 1)
    tail[0] = byte
    count += 1
  }

  /// Appends a copy of bytes that stand elsewhere.
  ///
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)``; the content stays as it was.
  public mutating func append(_ source: Span<UInt8>) throws(SecureMemoryError) {
    try reserve(source.count)
    storage.overwrite(at: count, with: source)
    count += source.count
  }

  /// Appends an integer, least significant byte first.
  ///
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)``; the content stays as it was.
  @inlinable
  public mutating func append<Integer: FixedWidthInteger>(
    integer: Integer
  ) throws(SecureMemoryError) {
    try append(UInt64(truncatingIfNeeded: integer), byteCount: Integer.bitWidth / 8)
  }

  /// Appends the low bytes of a number; not generic, so that callers elsewhere pay no witness calls.
  @usableFromInline
  mutating func append(_ number: UInt64, byteCount: Int) throws(SecureMemoryError) {
    precondition(byteCount <= 8, "integers of at most 64 bits")
    try reserve(byteCount)
    var tail = storage.mutableBytes(from: count, count: byteCount)
    for index in 0..<byteCount { tail[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    count += byteCount
  }

  /// Lets `fill` write up to `limit` bytes after those that are held, as read(2) does.
  ///
  /// - Parameters:
  ///   - limit: The most that `fill` may write; room for it must have been reserved.
  ///   - fill: Writes from the start of the view; returns how many bytes it wrote.
  /// - Returns: What `fill` returned.
  @discardableResult
  public mutating func append<Failure: Error>(
    upTo limit: Int, filling fill: (inout MutableSpan<UInt8>) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    precondition(limit >= 0 && limit <= storage.count - count, "reserve the room first")
    var tail = storage.mutableBytes(from: count, count: limit)
    let written = try fill(&tail)
    precondition(written >= 0 && written <= limit, "more was written than there is room")
    count += written
    return written
  }
}

// MARK: - Changing

extension SecretBuffer {
  /// Replaces bytes that are held already.
  ///
  /// - Parameters:
  ///   - offset: Where the first one goes; `offset + source.count` is at most `count`.
  ///   - source: The new bytes.
  public mutating func overwrite(at offset: Int, with source: Span<UInt8>) {
    precondition(offset >= 0 && source.count <= count - offset, "overwriting what is not there")
    storage.overwrite(at: offset, with: source)
  }

  /// Zeroes and forgets everything; the room stays.
  public mutating func removeAll() {
    unsafe storage.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe kura_secret_wipe(start, count)
    }
    count = 0
  }

  /// Drops the first bytes, moves the others to the front and zeroes what they leave behind.
  ///
  /// - Parameter dropped: How many; at most `count`.
  public mutating func removeFirst(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count, "dropping more than is held")
    let kept = count - dropped
    unsafe storage.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe start.copyMemory(from: start + dropped, byteCount: kept)
      unsafe kura_secret_wipe(start + kept, dropped)
    }
    count = kept
  }

  /// Drops bytes at the end and zeroes them.
  ///
  /// - Parameter dropped: How many; at most `count`.
  public mutating func removeLast(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count, "dropping more than is held")
    let kept = count - dropped
    unsafe storage.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe kura_secret_wipe(start + kept, dropped)
    }
    count = kept
  }

  /// Makes what is held unreadable in its place, or readable again by the same once more: adds a keystream of ChaCha20.
  ///
  /// - Parameters:
  ///   - key: 32 bytes.
  ///   - number: Tells texts apart that one key serves for.
  public mutating func mask(with key: borrowing SecretBytes, number: UInt8) {
    precondition(key.count == Int(KURA_MASK_KEY), "a key has 32 bytes")
    let held = count
    unsafe storage.withUnsafeMutableBytes { bytes in
      unsafe key.withUnsafeBytes { key in
        guard let start = bytes.baseAddress,
          let first = unsafe key.assumingMemoryBound(to: UInt8.self).baseAddress
        else { return }
        unsafe kura_mask(start, held, first, number)
      }
    }
  }

  /// Gives up the buffer for a secret of exactly what it held; nothing is copied.
  public consuming func finish() -> SecretBytes {
    storage.shrink(to: count)
    return storage
  }
}
