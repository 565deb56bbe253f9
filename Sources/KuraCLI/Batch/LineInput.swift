// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Reads lines from a descriptor, one at a time, in guarded memory that no long input fills.
struct LineInput: ~Copyable {
  /// The most bytes of a line: 4 MiB.
  static let limit = 4 << 20

  private static let step = 65_536
  /// How often, and for how many milliseconds, it waits for the rest of a line.
  private static let waits = 10
  private static let wait: Int32 = 20
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

  /// Says what comes next.
  enum Step: Equatable {
    case line, end
    /// For a fifth of a second no line has been whole.
    case quiet
    /// Somebody interrupted this command.
    case interrupted
  }

  /// Goes on to the next line.
  ///
  /// - Parameter isPatient: Waits for it as long as it takes, and is never ``Step/quiet``.
  mutating func advance(patiently isPatient: Bool) throws(CommandError) -> Step {
    var searched = next
    var waits = Self.waits
    while true {
      if let end = newline(from: searched) {
        (start, self.end) = (next, end)
        next = end + 1
        break
      }
      if hasEnded {
        guard next < buffer.count else { return .end }
        (start, end, next) = (next, buffer.count, buffer.count)
        break
      }
      guard buffer.count - next <= Self.limit else {
        throw .usage(
          "it has more than \(Self.limit) bytes",
          hint: "'kura put NAME --file FILE' takes any value")
      }
      if let step = stepOfWait(isPatient, &waits) { return step }
      searched = try readMore()
    }
    number += 1
    return .line
  }

  /// Waits until there is something to read; what else came first.
  private func stepOfWait(_ isPatient: Bool, _ waits: inout Int) -> Step? {
    while true {
      let ready = kura_input_wait(descriptor, isPatient ? -1 : Self.wait)
      if ready > 0 { return nil }
      if ready < 0 { return .interrupted }
      guard !isPatient else { continue }
      waits -= 1
      if waits == 0 { return .quiet }
    }
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
