// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Reads what another program says on stdin.
enum CredentialInput {
  /// Reads to the end.
  static func all() throws(CommandError) -> SecretBuffer {
    do throws(FileError) {
      return try Descriptor.readAll(0, limit: CredentialLimit.bytes)
    } catch {
      guard error.errno == FileError.tooLarge else {
        throw .file(.read, path: "stdin", errno: error.errno)
      }
      throw .requestTooLong
    }
  }
}

/// What is wrong with a request of another program; nothing of it is told.
extension CommandError {
  static var requestTooLong: CommandError {
    .failure("the request has more than \(CredentialLimit.bytes) bytes")
  }

  static func requestLacks(_ field: String) -> CommandError {
    .failure("the request names no " + field)
  }

  /// A NUL or a carriage return, which two readers would take for two things.
  static func controlByte(line: Int) -> CommandError {
    .failure(
      "line \(line) of the request has a NUL or a carriage return", hint: "nothing was handed out")
  }
}

/// Reads the lines of a conversation on stdin, one after another.
struct CredentialLines: ~Copyable {
  private var held: SecretBuffer
  private var hasEnded = false

  init() throws(CommandError) {
    held = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
  }

  /// The next line without its newline; nil at the end.
  mutating func next() throws(CommandError) -> SecretBuffer? {
    while true {
      if let newline { return try take(newline, dropping: newline + 1) }
      if hasEnded { return held.count == 0 ? nil : try take(held.count, dropping: held.count) }
      guard held.count <= CredentialLimit.bytes else {
        throw .requestTooLong
      }
      try readSome()
    }
  }

  private var newline: Int? {
    let bytes = held.bytes
    return bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") }
  }

  private mutating func take(
    _ count: Int, dropping dropped: Int
  ) throws(CommandError) -> SecretBuffer {
    var line = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: count)
    }
    do throws(SecureMemoryError) {
      try line.append(held.bytes.extracting(first: count))
    } catch { throw .outOfMemory }
    held.removeFirst(dropped)
    return line
  }

  private mutating func readSome() throws(CommandError) {
    do throws(SecureMemoryError) { try held.reserve(4_096) } catch { throw .outOfMemory }
    do throws(FileError) {
      hasEnded = try Descriptor.read(0, into: &held, upTo: 4_096) == 0
    } catch { throw .file(.read, path: "stdin", errno: error.errno) }
  }
}
