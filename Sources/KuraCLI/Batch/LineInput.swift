// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Lines that a descriptor gives, one at a time, in guarded memory that no long input fills.
struct LineInput: ~Copyable {
  /// The most bytes of a line: 4 MiB.
  static let limit = 4 << 20

  private static let step = 65_536
  private static let newline = UInt8(ascii: "\n")

  private let descriptor: Int32
  private var buffer: SecretBuffer
  /// Where the line at hand stands.
  private var (start, end) = (0, 0)
  /// Where the next one begins.
  private var next = 0
  private var hasEnded = false
  /// The number of the line at hand, from 1.
  private(set) var number: UInt64 = 0

  init(descriptor: Int32) throws(CommandError) {
    self.descriptor = descriptor
    buffer = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 2 * Self.step)
    }
  }

  /// The line at hand, without its newline.
  var line: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { buffer.bytes.extracting(start..<end) }
  }

  /// Goes on to the next line; false at the end.
  mutating func advance() throws(CommandError) -> Bool {
    var searched = next
    while true {
      if let end = newline(from: searched) {
        (start, self.end) = (next, end)
        next = end + 1
        break
      }
      if hasEnded {
        guard next < buffer.count else { return false }
        (start, end, next) = (next, buffer.count, buffer.count)
        break
      }
      guard buffer.count - next <= Self.limit else { throw .line(.tooLong(limit: Self.limit)) }
      searched = try readMore()
    }
    number += 1
    return true
  }

  /// Whether the next line is yet to be read, and nothing comes for a while.
  var isWaiting: Bool {
    if hasEnded || newline(from: next) != nil { return false }
    for _ in 0..<10 {
      if kura_socket_is_readable(descriptor) == 1 { return false }
      kura_pause(20)
    }
    return true
  }

  private func newline(from offset: Int) -> Int? {
    let bytes = buffer.bytes
    var index = offset
    while index < bytes.count {
      if bytes[index] == Self.newline { return index }
      index += 1
    }
    return nil
  }

  /// Reads what there is, behind the part of a line that is left.
  ///
  /// - Returns: The length of that part.
  private mutating func readMore() throws(CommandError) -> Int {
    if next > 0 { buffer.removeFirst(next) }
    let left = buffer.count
    (start, end, next) = (0, 0, 0)
    do throws(SecureMemoryError) { try buffer.reserve(Self.step) } catch { throw .outOfMemory }
    do throws(FileError) {
      hasEnded = try Descriptor.read(descriptor, into: &buffer, upTo: Self.step) == 0
    } catch { throw .client(.input(error.errno)) }
    return left
  }
}
