// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Writes what was asked for to stdout: nothing else ever goes there.
///
/// It may be a value, so what waits to be written waits in guarded memory.
struct Output: ~Copyable {
  private static let standardLimit = 16_384

  private let descriptor: Int32
  /// How much waits before it is written.
  private let limit: Int
  private var waiting: SecretBuffer
  /// Whether the next member or element of a JSON document comes after another.
  var needsComma = false

  /// Whether a person reads it, so that nothing may reach the terminal that it obeys.
  let isTerminal: Bool

  /// Prepares to write to a descriptor, which stays the caller's.
  init(
    descriptor: Int32 = 1, isTerminal: Bool, limit: Int = standardLimit
  ) throws(CommandError) {
    waiting = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 64) }
    self.descriptor = descriptor
    self.isTerminal = isTerminal
    self.limit = limit
  }

  /// Standard output.
  static func standard() throws(CommandError) -> Output {
    try Output(isTerminal: kura_is_terminal(1))
  }

  /// An output that is kept for ``take(_:)``.
  static func page(isTerminal: Bool) throws(CommandError) -> Output {
    try Output(descriptor: -1, isTerminal: isTerminal, limit: .max)
  }
}

// MARK: - Writing

extension Output {
  /// Writes bytes as they are, soon.
  mutating func write(_ bytes: Span<UInt8>) throws(CommandError) {
    guard bytes.count < limit else { return try send(bytes) }
    if bytes.count > limit - waiting.count { try flush() }
    do throws(SecureMemoryError) { try waiting.append(bytes) } catch { throw .outOfMemory }
  }

  /// Writes text of ours.
  mutating func write(_ text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    try write(bytes.span)
  }

  /// Writes bytes as they are, now; what waits goes first.
  mutating func send(_ bytes: Span<UInt8>) throws(CommandError) {
    try flush()
    do throws(FileError) { try Descriptor.write(bytes, to: descriptor) } catch {
      throw .output(error.errno)
    }
  }

  /// Hands out what waits, and forgets it.
  mutating func take(_ body: (Span<UInt8>) -> Void) {
    body(waiting.bytes)
    waiting.removeAll()
    needsComma = false
  }

  /// Writes text of ours to stdout by itself, where no secret can come before or after it: guarded memory
  /// takes a tenth of such a command's time.
  static func tell(_ text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    do throws(FileError) { try Descriptor.write(bytes.span, to: 1) } catch {
      throw .output(error.errno)
    }
  }

  /// Writes everything that waits.
  mutating func flush() throws(CommandError) {
    guard waiting.count > 0 else { return }
    defer { waiting.removeAll() }
    do throws(FileError) { try Descriptor.write(waiting.bytes, to: descriptor) } catch {
      throw .output(error.errno)
    }
  }
}

// MARK: - What others wrote

extension Output {
  /// Writes a name or another text that stands on one line: harmless on a terminal, exact
  /// elsewhere.
  mutating func write(line text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    try write(line: bytes.span)
  }

  mutating func write(line bytes: Span<UInt8>) throws(CommandError) {
    guard isTerminal else { return try write(bytes) }
    var escaping = Escaping(.line)
    try write(bytes, &escaping)
    try finish(&escaping)
  }

  /// Writes what others chose and nobody asked for by name, such as a program's path, on a line that says
  /// more: harmless everywhere, so that a pipe gets no line of theirs.
  mutating func write(escaped text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    try write(escaped: bytes.span)
  }

  mutating func write(escaped bytes: Span<UInt8>) throws(CommandError) {
    var escaping = Escaping(.line)
    try escape(bytes, &escaping)
    try finish(&escaping)
  }

  /// Writes a name or another text, and ends its line.
  mutating func write(wholeLine bytes: Span<UInt8>) throws(CommandError) {
    try write(line: bytes)
    if waiting.count == limit { try flush() }
    do throws(SecureMemoryError) { try waiting.append(UInt8(ascii: "\n")) } catch {
      throw .outOfMemory
    }
  }

  /// Writes a part of a text, which may end inside a character: harmless on a terminal, exact
  /// elsewhere.
  mutating func write(_ bytes: Span<UInt8>, _ escaping: inout Escaping) throws(CommandError) {
    guard isTerminal else { return try write(bytes) }
    try escape(bytes, &escaping)
  }

  private mutating func escape(
    _ bytes: Span<UInt8>, _ escaping: inout Escaping
  ) throws(CommandError) {
    var harmless = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: bytes.count + 64)
    }
    do throws(SecureMemoryError) { try escaping.append(bytes, to: &harmless) } catch {
      throw .outOfMemory
    }
    try write(harmless.bytes)
  }

  /// Writes what is left of a character cut short.
  mutating func finish(_ escaping: inout Escaping) throws(CommandError) {
    do throws(SecureMemoryError) { try escaping.finish(into: &waiting) } catch {
      throw .outOfMemory
    }
  }
}
