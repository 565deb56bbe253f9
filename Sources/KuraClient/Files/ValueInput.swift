// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Reads a value on its way in: the exact bytes that a descriptor gives until its end.
///
/// Its beginning is kept until the agent has taken the value, or begun to take it: what was
/// refused, since the vault was locked or the item is there, can be put again.
public struct ValueInput: ~Copyable {
  private let descriptor: Int32
  private let trimsNewline: Bool
  /// A newline that is the value's last byte, unless more arrives.
  private var holdsNewline = false
  /// Whether the end was reached.
  private(set) var hasEnded = false

  /// What was read and not yet taken by the agent.
  private var head: SecretBuffer?

  /// Whether a part of the value is gone, so that it cannot be put again.
  public private(set) var isSpent = false

  /// Whether the last byte that arrived is a newline, trimmed or not; known at the end.
  public private(set) var endedInNewline = false

  /// The bytes read, without a trimmed newline.
  public private(set) var count: UInt64 = 0

  /// Reads from a descriptor, which stays open.
  ///
  /// - Parameters:
  ///   - descriptor: What to read from.
  ///   - trimsNewline: Leave out one newline at the very end.
  public init(descriptor: Int32, trimsNewline: Bool = false) {
    self.descriptor = descriptor
    self.trimsNewline = trimsNewline
  }

  /// The value's beginning: all of it, or one byte more than fits into a request.
  mutating func takeHead() throws(ClientError) -> SecretBuffer {
    precondition(!isSpent, "the value is gone")
    if let head = head.take() { return head }
    let limit = ProtocolLimit.inlineValue + 1
    var head = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: Self.step)
    }
    do throws(ClientError) {
      try fill(&head, upTo: limit)
    } catch {
      isSpent = true
      throw error
    }
    return head
  }

  /// Keeps the beginning for another time.
  mutating func giveBack(_ head: consuming SecretBuffer) { self.head = consume head }

  /// From here on, what is read is gone.
  mutating func spend() { isSpent = true }

  /// Reads until the buffer holds about `limit` bytes, never more, or to the end.
  ///
  /// A newline that may be the last byte is kept back: the buffer then holds one byte less.
  mutating func fill(_ buffer: inout SecretBuffer, upTo limit: Int) throws(ClientError) {
    let before = buffer.count
    while !hasEnded, limit - buffer.count > (holdsNewline ? 1 : 0) {
      try readSome(into: &buffer, upTo: limit)
    }
    count += UInt64(buffer.count - before)
  }

  private mutating func readSome(
    into buffer: inout SecretBuffer, upTo limit: Int
  ) throws(ClientError) {
    do throws(SecureMemoryError) {
      // Most values are short: the room grows with what arrives.
      try buffer.reserve(min(limit - buffer.count, max(Self.step, buffer.count)))
      if holdsNewline { try buffer.append(Self.newline) }
    } catch { throw .outOfMemory }
    let room = min(limit, buffer.capacity) - buffer.count
    let read: Int
    do throws(FileError) {
      read = try Descriptor.read(descriptor, into: &buffer, upTo: room)
    } catch { throw .input(error.errno) }
    hasEnded = read == 0
    if !hasEnded {
      endedInNewline = buffer.bytes[buffer.count - 1] == Self.newline
      holdsNewline = trimsNewline && endedInNewline
    }
    // At the end it is the one before the end that was put back too early.
    if holdsNewline { buffer.removeLast(1) }
  }

  private static let step = 4_096
  private static let newline = UInt8(ascii: "\n")
}
