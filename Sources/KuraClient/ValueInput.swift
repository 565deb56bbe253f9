// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// A value on its way in: the exact bytes that a descriptor gives until its end.
public struct ValueInput: ~Copyable {
  private let descriptor: Int32
  private let trimsNewline: Bool
  /// A newline that is the value's last byte, unless more arrives.
  private var holdsNewline = false
  /// Whether the end was reached.
  private(set) var hasEnded = false

  /// Whether the last byte that arrived is a newline, trimmed or not; known at the end.
  public private(set) var endedInNewline = false

  /// The bytes handed on.
  public private(set) var count: UInt64 = 0

  /// Reads from a descriptor, which stays open.
  ///
  /// - Parameter trimsNewline: Leave out one newline at the very end.
  public init(descriptor: Int32, trimsNewline: Bool = false) {
    self.descriptor = descriptor
    self.trimsNewline = trimsNewline
  }

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
      try buffer.reserve(limit - buffer.count)
      if holdsNewline { try buffer.append(Self.newline) }
    } catch { throw .outOfMemory }
    let read: Int
    do throws(FileError) {
      read = try Descriptor.read(descriptor, into: &buffer, upTo: limit - buffer.count)
    } catch { throw .input(error.errno) }
    hasEnded = read == 0
    if !hasEnded {
      endedInNewline = buffer.bytes[buffer.count - 1] == Self.newline
      holdsNewline = trimsNewline && endedInNewline
    }
    // At the end it is the one before the end that was put back too early.
    if holdsNewline { buffer.removeLast(1) }
  }

  private static let newline = UInt8(ascii: "\n")
}
