// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Says why a secret could not be held.
public enum SecureMemoryError: Error, Equatable, Sendable {
  /// The system has no memory left for a block of that many bytes; nothing was allocated.
  case allocationFailed(byteCount: Int)
}

/// Owns one secret in guarded memory, and zeroes it when destroyed.
///
/// A secret cannot be copied by accident: it has one owner at a time. Its pages stay out of core
/// dumps, of child processes and, where `RLIMIT_MEMLOCK` allows, out of swap.
@safe
public struct SecretBytes: ~Copyable {
  @usableFromInline let base: UnsafeMutableRawPointer
  /// What was allocated, which a shrunken secret still has to give back.
  private let capacity: Int

  /// The length of the secret, in bytes.
  public internal(set) var count: Int

  /// Allocates `count` zero bytes.
  ///
  /// - Parameter count: The length, in bytes; not negative.
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)`` when no memory is left.
  public init(count: Int) throws(SecureMemoryError) {
    precondition(count >= 0, "a secret has no negative length")
    guard let base = unsafe kura_secret_allocate(count) else {
      throw .allocationFailed(byteCount: count)
    }
    unsafe self.base = base
    self.capacity = count
    self.count = count
  }

  /// Allocates a copy of bytes that stand elsewhere.
  ///
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)`` when no memory is left.
  public init(copying source: Span<UInt8>) throws(SecureMemoryError) {
    try self.init(count: source.count)
    overwrite(at: 0, with: source)
  }

  deinit { unsafe kura_secret_free(base, capacity) }
}

// A secret has one owner, and its memory has no ties to a thread.
extension SecretBytes: @unchecked Sendable {}

// MARK: - Access

extension SecretBytes {
  /// The secret, to read; the view cannot outlive its owner.
  @inlinable public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      let start = unsafe base.assumingMemoryBound(to: UInt8.self)
      let span = unsafe Span(_unsafeStart: UnsafePointer(start), count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The secret, to write; the view cannot outlive its owner.
  @inlinable public var mutableBytes: MutableSpan<UInt8> {
    @_lifetime(&self) mutating get {
      let start = unsafe base.assumingMemoryBound(to: UInt8.self)
      let span = unsafe MutableSpan(_unsafeStart: start, count: count)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// Lends the memory to a C call that reads it.
  ///
  /// - Parameter body: Must not keep the pointer, nor copy the bytes into memory that is not wiped.
  @inlinable
  public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Lends the memory to a C call that writes it.
  ///
  /// - Parameter body: Must not keep the pointer.
  @inlinable
  public mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeMutableRawBufferPointer(start: base, count: count))
  }
}

extension SecretBytes {
  /// A part of the secret, to write; `offset + count` is at most its length.
  @_lifetime(&self)
  mutating func mutableBytes(from offset: Int, count: Int) -> MutableSpan<UInt8> {
    precondition(offset >= 0 && count >= 0 && count <= self.count - offset, "outside the secret")
    let start = unsafe (base + offset).assumingMemoryBound(to: UInt8.self)
    let span = unsafe MutableSpan(_unsafeStart: start, count: count)
    return unsafe _overrideLifetime(span, mutating: &self)
  }
}

// MARK: - Copies and lengths

extension SecretBytes {
  /// A second secret with the same bytes.
  ///
  /// - Throws: ``SecureMemoryError/allocationFailed(byteCount:)`` when no memory is left.
  public borrowing func copy() throws(SecureMemoryError) -> SecretBytes {
    try SecretBytes(copying: bytes)
  }

  /// Copies bytes that stand elsewhere into the secret.
  ///
  /// - Parameters:
  ///   - offset: Where the first one goes; `offset + source.count` is at most ``count``.
  ///   - source: The bytes.
  public mutating func overwrite(at offset: Int, with source: Span<UInt8>) {
    precondition(offset >= 0 && source.count <= count - offset, "outside the secret")
    unsafe source.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: start, byteCount: source.count)
    }
  }

  /// Keeps the first `count` bytes and zeroes the others.
  ///
  /// - Parameter count: The new length; at most the old one.
  public mutating func shrink(to count: Int) {
    precondition(count >= 0 && count <= self.count, "a secret can only shrink")
    unsafe kura_secret_wipe(base + count, self.count - count)
    self.count = count
  }
}

extension SecretBytes {
  /// Drops the first bytes, moves the others to the front and zeroes what they leave behind.
  ///
  /// - Parameter dropped: How many; at most ``count``.
  public mutating func removeFirst(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count, "dropping more than is held")
    unsafe base.copyMemory(from: base + dropped, byteCount: count - dropped)
    shrink(to: count - dropped)
  }
}

// MARK: - Comparison

extension SecretBytes {
  /// Whether both hold the same bytes, in time that depends on their lengths only.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    unsafe count == other.count && kura_secret_equal(base, other.base, count) == 1
  }

  /// Whether both hold the same bytes, in time that depends on their lengths only.
  public borrowing func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return unsafe other.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return true }
      return unsafe kura_secret_equal(base, start, count) == 1
    }
  }
}
