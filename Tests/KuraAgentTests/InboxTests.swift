// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// What clients sent and the agent has not served: it may be a value or a passcode.
@Suite struct InboxTests {
  /// Whether the agent holds anything that a client sent.
  private func holdsSomething(_ bench: Bench) -> Bool {
    bench.agent.connections.contains { !$0.inbox.isEmpty }
  }

  /// The bytes of a request, less so many at its end.
  private func bytes(
    less: Int, _ build: (inout SecretBuffer) throws -> Void
  ) throws -> [UInt8] {
    var buffer = try SecretBuffer(capacity: 4_096)
    try build(&buffer)
    return (0..<buffer.count - less).map { buffer.bytes[$0] }
  }

  @Test func `half a value is wiped at a lock, and its client told`() throws {
    let bench = try Bench()
    let (user, half) = (try bench.unlocked(), try bench.client())
    try half.send(bytes: bytes(less: 5) { try $0.put("a", "secret value") })
    try bench.turn(2)
    #expect(holdsSomething(bench))
    #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    try bench.turn()
    #expect(!holdsSomething(bench))
    #expect(try bench.reply(on: half).lockReason == .asked)
    try bench.awaitEnd(of: half)
    #expect(try bench.status(user)?.state == .locked)
  }

  @Test func `so is half a part of an upload, which is told once`() throws {
    let bench = try Bench()
    let (user, upload) = (try bench.unlocked(), try bench.client())
    #expect(try bench.ask(upload) { try $0.upload("big") }.isOK)
    try upload.send(bytes: bytes(less: 5) { try $0.data(Array(repeating: 7, count: 100)) })
    try bench.turn(2)
    #expect(holdsSomething(bench))
    #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    try bench.turn()
    #expect(!holdsSomething(bench))
    #expect(try bench.reply(on: upload).lockReason == .asked)
    try bench.awaitEnd(of: upload)
    #expect(try upload.nextFrame() == nil)
  }

  @Test func `what was sent behind an unlock that is under way is refused with it`() throws {
    let bench = try Bench()
    try bench.create()
    let (user, eager) = (try bench.client(), try bench.client())
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    gate.awaitBegin()
    try eager.send { buffer in
      try buffer.unlock(Bench.passcode)
      try buffer.put("a", "secret value")
    }
    try bench.turn(2)
    #expect(holdsSomething(bench))
    #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    try bench.turn()
    #expect(!holdsSomething(bench))
    #expect(try bench.reply(on: eager).failure == .locked)
    #expect(try bench.reply(on: eager).failure == .locked)
    #expect(bench.agent.attempts.isEmpty)
  }

  @Test func `half a value for a vault that stays unlocked is waited for`() throws {
    let bench = try Bench()
    let (user, half) = (try bench.unlocked(), try bench.client())
    let path = bench.scratch.path + "/data/other.kura"
    try bench.create(at: path)
    let other = try bench.client(of: path)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    let whole = try bytes(less: 0) { try $0.put("a", "secret value") }
    try half.send(bytes: Array(whole.dropLast(5)))
    try bench.turn(2)
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    try half.send(bytes: Array(whole.suffix(5)))
    #expect(try bench.reply(on: half).isOK)
    #expect(try bench.ask(user) { try $0.get("a") }.value == "secret value")
  }

  @Test func `requests that came whole before a lock are answered`() throws {
    let bench = try Bench()
    let (user, eager) = (try bench.unlocked(), try bench.client())
    try user.send { buffer in
      try buffer.putRequest(.lock(.init(.asked, scope: .all)))
      try buffer.get("a")
      try buffer.putRequest(.agentStatus)
    }
    try eager.send { buffer in for _ in 0..<3 { try buffer.get("a") } }
    #expect(try bench.reply(on: user).isOK)
    #expect(try bench.reply(on: user).failure == .locked)
    #expect(try bench.reply(on: user).isOK)
    for _ in 0..<3 {
      let reply = try bench.reply(on: eager)
      #expect(reply.failure == .locked || reply.failure == .notFound)
    }
  }

  /// What parks a request for as long as others please.
  @Test(arguments: [false, true])
  func `nothing is kept behind a request that may wait for ever`(isWatch: Bool) throws {
    let bench = try Bench()
    let user = try bench.unlocked()
    if !isWatch {
      #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    }
    let eager = try bench.client()
    try eager.send { buffer in
      if isWatch {
        try buffer.putRequest(.watch)
      } else {
        try buffer.putRequest(.wait(.init(milliseconds: 9_999)))
      }
      try buffer.put("a", "secret value")
      try buffer.unlock(Bench.passcode)
    }
    try bench.turn(2)
    #expect(!holdsSomething(bench))
    if isWatch { #expect(try bench.reply(on: eager).type == .progress) }
    #expect(try bench.reply(on: eager).failure == .malformed)
    try bench.awaitEnd(of: eager)
  }

  @Test func `what is sent later behind a wait is not read before it is over`() throws {
    let bench = try Bench()
    let user = try bench.unlocked()
    #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    let waiting = try bench.client()
    try waiting.send { try $0.putRequest(.wait(.init(milliseconds: 1_000))) }
    try bench.turn(2)
    try waiting.send { try $0.unlock(Bench.passcode) }
    try bench.turn(2)
    #expect(!holdsSomething(bench))
    bench.clock.pass(milliseconds: 1_000)
    #expect(try bench.reply(on: waiting).failure == .locked)
    #expect(try bench.reply(on: waiting).isOK)
  }
}
