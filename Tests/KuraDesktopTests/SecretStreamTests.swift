// SPDX-License-Identifier: MIT

import Glibc
import SecureMemory
import Testing

@testable import KuraDesktop

/// What is written of a keeper of secrets, byte by byte.
@Suite struct SecretStreamTests {
  /// What a stream comes to.
  private func written(_ body: (inout SecretStream) throws -> Void) throws -> [UInt8] {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    var stream = try SecretStream(to: ends[1])
    try body(&stream)
    close(ends[1])
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(ends[0], &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  private func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count), 0, 0, 0] + text.utf8 }

  @Test func `records are as the page describes them`() throws {
    var item = SecretKeeper.Item()
    (item.label, item.attributes, item.type) = ("l", [["k", "v"]], "text/plain")
    (item.created, item.modified) = (1, 0x0102_0304_0506_0708)
    var secret = try SecretStream.buffer()
    for byte: UInt8 in [0, 0xFF] { try secret.append(byte) }
    var locked = item
    locked.isLocked = true
    let bytes = try written { stream in
      try stream.put(item, secret, in: "c")
      try stream.put(locked: "d")
      try stream.put(locked, secret, in: "c")
      try stream.end()
    }
    let first: [UInt8] =
      [1] + text("c") + text("l") + [1, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0]
      + text("k") + text("v") + text("text/plain") + [2, 0, 0, 0, 0, 0xFF]
    let rest: [UInt8] = [2] + text("d") + [3] + text("c") + text("l") + [4, 3, 0, 0, 0]
    #expect(bytes == Array("kura-secrets 1\n".utf8) + first + rest)
  }

  @Test func `one of nothing has an end`() throws {
    #expect(try written { try $0.end() } == Array("kura-secrets 1\n".utf8) + [4, 0, 0, 0, 0])
  }

  @Test(
    arguments: [
      ("org.freedesktop.DBus.Error.ServiceUnknown", true),
      ("org.freedesktop.DBus.Error.Spawn.ChildExited", true),
      ("org.freedesktop.DBus.Error.NoReply", false), ("", false),
    ])
  func `that nobody is there is told from all else`(_ name: String, _ isNobody: Bool) {
    #expect(SecretKeeper.isNobody(BusError(-EIO, name: name)) == isNobody)
  }
}
