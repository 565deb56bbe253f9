// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import Testing

@testable import KuraAgent

/// What a client that means ill, or is broken, can do to the agent: end its own connection.
@Suite struct FrameTests {
  /// Bytes that are no protocol, sent instead of a hello.
  static let broken: [[UInt8]] = [
    Array("GET / HTTP/1.1\r\n\r\n".utf8),
    [0xff, 0xff, 0xff, 0xff, 0x01],
    [0, 0, 0, 0, 0x01],
    [1, 0, 0, 0, 0x77],
    [1, 0, 0, 0, 0x90],
    [0, 0, 0x20, 0, 0x01],
    [1, 0, 0, 0, 0x01],
    [6, 0, 0, 0, 0x10, 1, 2, 3, 4, 5],
    [5, 0, 0, 0, 0x01] + Array("KURX".utf8),
  ]

  @Test(arguments: broken) func `bytes that are no protocol end the connection`(
    bytes: [UInt8]
  ) throws {
    let bench = try Bench()
    let other = try bench.unlocked()
    let wire = try bench.connect()
    try wire.send(bytes: bytes)
    #expect(try bench.reply(on: wire).failure == .malformed)
    try bench.awaitEnd(of: wire)
    #expect(try bench.status(other)?.state == .unlocked)
  }

  @Test(arguments: [
    [2, 0, 0, 0, 0x10, 5], [3, 0, 0, 0, 0x10, 1, 0], [1, 0, 0, 0, 0x13], [2, 0, 0, 0, 0x12, 0],
    [2, 0, 0, 0, 0x11, 0], [2, 0, 0, 0, 0x10, 14], [1, 0, 0, 0, 0x10],
  ])
  func `a broken request ends the connection`(bytes: [UInt8]) throws {
    let bench = try Bench()
    let wire = try bench.client()
    try wire.send(bytes: bytes)
    #expect(try bench.reply(on: wire).failure == .malformed)
    try bench.awaitEnd(of: wire)
  }

  @Test func `a verb of a later release is refused, and the connection goes on`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    try wire.send(bytes: [2, 0, 0, 0, 0x10, 200])
    #expect(try bench.reply(on: wire).failure == .unsupported)
    #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.isOK)
  }

  @Test func `a client of another version is told ours`() throws {
    let bench = try Bench()
    let wire = try bench.connect()
    let fields: [UInt8] = [9, 0, 0, 0, 2, 0, 47, 97, 0, 0]
    try wire.send(bytes: [15, 0, 0, 0, 0x01] + Array("KURA".utf8) + fields)
    let hello = try bench.reply(on: wire)
    #expect(try HelloReply(hello.payload.span).version == ProtocolVersion.current)
    let refused = try bench.ask(wire) { try $0.get("a") }
    #expect(refused.refusal == .otherVersion(newest: ProtocolVersion.current))
  }

  @Test func `hello and first reply leave in one write`() throws {
    let bench = try Bench()
    let wire = try bench.connect()
    try wire.send {
      try $0.hello(bench.vault)
      try $0.putRequest(.agentStatus)
    }
    try bench.turn()
    wire.receive()
    #expect(try wire.nextFrame()?.type == .agentHello)
    #expect(try wire.nextFrame()?.type == .reply)
  }

  @Test func `requests sent together are answered in their order`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try wire.send { buffer in
      for number in 0..<20 {
        try buffer.put("a\(number)", "\(number)")
        try buffer.get("a\(number)")
      }
    }
    for number in 0..<20 {
      #expect(try bench.reply(on: wire).isOK)
      #expect(try bench.reply(on: wire).value == "\(number)")
    }
  }

  @Test func `requests that follow slow ones wait for their turn`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    try wire.send { buffer in
      try buffer.unlock(Bench.passcode)
      try buffer.put("a", "1")
      try buffer.list()
      try buffer.get("a")
    }
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.reply(on: wire).names == ["a"])
    #expect(try bench.reply(on: wire).type == .end)
    #expect(try bench.reply(on: wire).value == "1")
  }

  @Test func `a frame may come byte by byte`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    for byte: UInt8 in [2, 0, 0, 0, 0x10, 15] {
      try wire.send(bytes: [byte])
      try bench.turn()
    }
    #expect(try bench.reply(on: wire).isOK)
  }
}

// MARK: - Deadlines

extension FrameTests {
  @Test func `half a frame is waited for five seconds`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    try wire.send(bytes: [9, 0, 0, 0, 0x10, 5])
    try bench.turn(2)
    bench.clock.pass(milliseconds: 4_999)
    try bench.turn(2)
    wire.receive()
    #expect(!wire.isAtEnd)
    bench.clock.pass(milliseconds: 1)
    try bench.awaitEnd(of: wire)
  }

  @Test func `dripping bytes do not buy more time`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    try wire.send(bytes: [200, 0, 0, 0, 0x10])
    for _ in 0..<5 {
      try bench.turn()
      bench.clock.pass(milliseconds: 1_000)
      _ = try? wire.send(bytes: [5])
    }
    try bench.awaitEnd(of: wire)
  }

  @Test func `a client that never says hello is cut`() throws {
    let bench = try Bench()
    let wire = try bench.connect()
    try bench.turn()
    bench.clock.pass(milliseconds: 5_000)
    try bench.awaitEnd(of: wire)
  }

  @Test func `between frames a client may take its time`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(idle: 1 << 40)
    bench.clock.pass(milliseconds: 3_600_000)
    try bench.turn(2)
    #expect(try bench.ask(wire) { try $0.upload("big") }.isOK)
    bench.clock.pass(milliseconds: 3_600_000)
    try bench.turn(2)
    try wire.send { buffer in
      try buffer.data([1, 2, 3])
      try buffer.putUploadEnd(.commit)
    }
    #expect(try bench.reply(on: wire).isOK)
  }

  @Test func `another user's connection is closed without a word`() throws {
    let bench = try Bench()
    let (ours, wire) = try Wire.pair()
    try bench.agent.admit(Descriptor(owning: ours), of: getuid() + 1, getpid())
    try bench.awaitEnd(of: wire)
    #expect(try wire.nextFrame() == nil)
  }
}
