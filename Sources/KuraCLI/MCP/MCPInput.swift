// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Reads what an MCP client says, a message a line. Nothing of it is a secret.
struct MCPInput: ~Copyable {
  /// The longest message, which says more than any client has to.
  private static let longest = 1 << 20

  private var buffer: SecretBuffer
  private(set) var hasEnded = false

  init() throws(CommandError) {
    buffer = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
  }

  /// The next whole message that has come; nil where none has.
  mutating func next() throws(CommandError) -> [UInt8]? {
    if let line = line() {
      buffer.removeFirst(line.count + 1)
      return line
    }
    guard buffer.count <= Self.longest else {
      throw .failure(
        "a message has more than \(Self.longest) bytes", hint: "an MCP client writes one a line")
    }
    return nil
  }

  private func line() -> [UInt8]? {
    let bytes = buffer.bytes
    guard let end = bytes.indices.first(where: { bytes[$0] == 0x0A }) else { return nil }
    return [UInt8](copying: bytes.extracting(first: end))
  }

  /// Waits for more.
  mutating func fill() throws(CommandError) {
    do throws(SecureMemoryError) { try buffer.reserve(4_096) } catch { throw .outOfMemory }
    do throws(FileError) {
      hasEnded = try Descriptor.read(0, into: &buffer, upTo: 4_096) == 0
    } catch { throw .client(.input(error.errno)) }
  }
}
