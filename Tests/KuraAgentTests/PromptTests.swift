// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

@Suite struct PromptTests {
  @Test func `the first to ask has the turn, and the others are told where it asks`() throws {
    let bench = try Bench()
    try bench.create()
    let first = try bench.client()
    #expect(try bench.ask(first, asking("pts/1")).news == .yours)
    let second = try bench.client()
    #expect(try bench.ask(second, asking("pts/2")).elsewhere == "pts/1")
    let third = try bench.client()
    #expect(try bench.ask(third, asking("pts/3")).elsewhere == "pts/1")
  }

  @Test func `an unlock by anybody ends all prompts, and the connections go on`() throws {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    _ = try bench.ask(second, asking("pts/2"))
    let third = try bench.client()
    #expect(try bench.ask(third) { try $0.unlock(Bench.passcode) }.isOK)
    for wire in [first, second] {
      let end = try bench.reply(on: wire)
      #expect(end.type == .end)
      #expect(end.isOK)
      #expect(try bench.status(wire)?.state == .unlocked)
    }
  }

  @Test
  func `who has the turn unlocks on the same connection, and a wrong passcode leaves the turn`()
    throws
  {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    _ = try bench.ask(second, asking("pts/2"))
    #expect(try bench.status(first)?.state == .locked)
    #expect(try bench.ask(first) { try $0.unlock("wrong") }.failure == .wrongPasscode)
    let third = try bench.client()
    #expect(try bench.ask(third, asking("pts/3")).elsewhere == "pts/1")
    let end = try bench.ask(first) { try $0.unlock(Bench.passcode) }
    #expect(end.type == .end && end.isOK)
    #expect(try bench.reply(on: first).type == .reply)
    for wire in [second, third] { #expect(try bench.reply(on: wire).type == .end) }
    #expect(try bench.ask(first) { try $0.put("a", "1") }.isOK)
  }

  @Test func `a try that is under way when another client unlocks is answered behind the end`()
    throws
  {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    #expect(try bench.ask(second) { try $0.unlock(Bench.passcode) }.isOK)
    try first.send { try $0.unlock("wrong") }
    #expect(try bench.reply(on: first).type == .end)
    #expect(try bench.reply(on: first).failure == .wrongPasscode)
    #expect(try bench.status(first)?.state == .unlocked)
  }

  @Test func `another file in the vault's place while a person types does not keep the turn`()
    throws
  {
    let bench = try Bench()
    try bench.create()
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    let wire = try bench.client()
    #expect(try bench.ask(wire, asking("pts/1")).news == .yours)
    #expect(rename(other, bench.vault) == 0)
    let end = try bench.ask(wire) {
      try $0.putRequest(
        .unlock(
          .init(
            .passcode, secret: Bench.passcode.utf8.span, idleTimeout: 0, maxSession: 0,
            flags: .acceptExchange)))
    }
    #expect(end.type == .end)
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
  }

  @Test func `who asks a person takes no other request meanwhile`() throws {
    let bench = try Bench()
    try bench.create()
    let requests: [(inout SecretBuffer) throws -> Void] = [
      { try $0.get("a") }, { try $0.putRequest(.lock(.init(.asked, scope: .vault))) },
      asking("pts/1"),
    ]
    for request in requests {
      let wire = try bench.client()
      #expect(try bench.ask(wire, asking("pts/1")).news == .yours)
      #expect(try bench.ask(wire, request).failure == .malformed)
    }
  }

  @Test func `an unlocked vault needs no prompt`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let end = try bench.ask(wire, asking("pts/1"))
    #expect(end.type == .end)
    #expect(end.isOK)
  }

  @Test func `a vault that is not there has no prompt`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    #expect(try bench.ask(wire, asking("pts/1")).failure == .noVault)
  }

  @Test func `each vault has a prompt of its own`() throws {
    let bench = try Bench()
    try bench.create()
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    let (first, second) = try (bench.client(), bench.client(of: other))
    #expect(try bench.ask(first, asking("pts/1")).news == .yours)
    #expect(try bench.ask(second, asking("pts/1")).news == .yours)
  }

  @Test func `the turn of one that hangs up goes on at once`() throws {
    let bench = try Bench()
    try bench.create()
    let second = try bench.client()
    do {
      let first = try bench.client()
      _ = try bench.ask(first, asking("pts/1"))
      #expect(try bench.ask(second, asking("pts/2")).elsewhere == "pts/1")
    }
    #expect(try bench.reply(on: second).news == .yours)
  }

  @Test func `one that wants to be asked is, and who asked before is told`() throws {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    _ = try bench.ask(second, asking("pts/2"))
    #expect(try bench.ask(second) { try $0.putPromptWord(.take) }.news == .yours)
    #expect(try bench.reply(on: first).elsewhere == "pts/2")
  }

  @Test func `a prompt that nobody touches for a minute goes on`() throws {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    _ = try bench.ask(second, asking("pts/2"))
    bench.clock.pass(milliseconds: 40_000)
    try first.send { try $0.putPromptWord(.touched) }
    try bench.turn(2)
    bench.clock.pass(milliseconds: 59_999)
    try bench.turn(2)
    second.receive()
    #expect(try second.nextFrame() == nil)
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.reply(on: second).news == .yours)
    #expect(try bench.reply(on: first).elsewhere == "pts/2")
  }

  @Test func `a cancel answers all, and those who come within two seconds`() throws {
    let bench = try Bench()
    try bench.create()
    let (first, second) = try (bench.client(), bench.client())
    _ = try bench.ask(first, asking("pts/1"))
    _ = try bench.ask(second, asking("pts/2"))
    // Who only waits cancels nothing.
    try second.send { try $0.putPromptWord(.cancel) }
    try bench.turn(2)
    #expect(try bench.ask(first) { try $0.putPromptWord(.cancel) }.failure == .cancelled)
    let end = try bench.reply(on: second)
    #expect(end.type == .end)
    #expect(end.failure == .cancelled)
    let third = try bench.client()
    bench.clock.pass(milliseconds: 1_999)
    let refused = try bench.ask(third, asking("pts/3"))
    #expect(refused.refusal == .cancelled(lasting: 1))
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.ask(third, asking("pts/3")).news == .yours)
  }

  @Test func `a word that crosses the end is ignored, and any other is an error`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire, asking("pts/1"))
    try wire.send { try $0.putPromptWord(.touched) }
    #expect(try bench.status(wire)?.state == .unlocked)
    try wire.send { try $0.putPromptWord(.touched) }
    #expect(try bench.reply(on: wire).failure == .malformed)
    try bench.awaitEnd(of: wire)
  }

  @Test func `waiting clients leave places for the answer`() throws {
    let bench = try Bench { $0.limits.seats = 11 }
    try bench.create()
    let wires = try (0..<3).map { _ in try bench.client() }
    for wire in wires { _ = try bench.ask(wire, asking("pts/1")) }
    let late = try bench.client()
    #expect(try bench.ask(late, asking("pts/9")).failure == .tooBusy)
    #expect(try bench.ask(late) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `what a client that is gone wanted to write is not written, but a lock is`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    do {
      // All of it is there before the agent looks, as after it was stopped.
      let gone = try bench.client()
      try gone.send { try $0.put("a", "1") }
    }
    try bench.turn(3)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
    do {
      let gone = try bench.client()
      try gone.send { try $0.putRequest(.lock(.init(.screenLock, scope: .vault))) }
    }
    try bench.turn(3)
    #expect(try bench.status(wire)?.lockReason == .screenLock)
  }

  @Test func `one that only sends no more is served`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let half = try bench.client()
    try half.send { try $0.put("a", "1") }
    shutdown(half.raw, Int32(SHUT_WR))
    #expect(try bench.reply(on: half).isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  private func asking(_ place: String) -> (inout SecretBuffer) throws -> Void {
    { try $0.putRequest(.prompt(.init(at: place.utf8.span, flags: .seesKeys))) }
  }
}

extension Received {
  fileprivate var news: PromptNews? {
    type == .data ? try? PromptNews(payload.span) : nil
  }

  fileprivate var elsewhere: String? {
    guard case .elsewhere(let place) = news else { return nil }
    return String(decoding: payload[place], as: UTF8.self)
  }
}
