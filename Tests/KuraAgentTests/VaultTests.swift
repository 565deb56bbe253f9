// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraProtocol
import Testing

/// Several vaults in one agent, and vaults that change behind its back.
@Suite struct VaultTests {
  @Test func `each vault has a session of its own`() throws {
    let bench = try Bench()
    let first = try bench.unlocked()
    let path = bench.scratch.path + "/data/other.kura"
    try bench.create(at: path)
    let second = try bench.client(of: path)
    #expect(try bench.ask(second) { try $0.get("a") }.lockReason == .neverUnlocked)
    #expect(try bench.ask(second) { try $0.unlock(Bench.passcode) }.isOK)
    _ = try bench.ask(first) { try $0.put("a", "first") }
    _ = try bench.ask(second) { try $0.put("a", "second") }
    #expect(try bench.ask(first) { try $0.get("a") }.value == "first")
    #expect(try bench.ask(first) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(second) { try $0.get("a") }.value == "second")
  }

  @Test func `one request locks them all`() throws {
    let bench = try Bench()
    let first = try bench.unlocked()
    let path = bench.scratch.path + "/data/other.kura"
    try bench.create(at: path)
    let second = try bench.client(of: path)
    _ = try bench.ask(second) { try $0.unlock(Bench.passcode) }
    #expect(try bench.ask(first) { try $0.putRequest(.lock(.init(.screenLock, scope: .all))) }.isOK)
    #expect(try bench.ask(first) { try $0.get("a") }.lockReason == .screenLock)
    #expect(try bench.ask(second) { try $0.get("a") }.lockReason == .screenLock)
  }

  @Test func `two paths to one file are one vault`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    let link = bench.scratch.path + "/link"
    try #require(symlink(bench.scratch.path + "/data", link) == 0)
    let wire = try bench.client(of: link + "/default.kura")
    #expect(try bench.status(wire)?.state == .unlocked)
  }

  @Test func `an unlocked vault is not served in another's place before its owner says so`() throws
  {
    let bench = try Bench()
    _ = try bench.unlocked()
    let path = bench.scratch.path + "/data/other.kura"
    try bench.create(at: path)
    let new = bench.scratch.path + "/data/new.kura"
    try #require(unlink(path) == 0 && link(bench.vault, path) == 0 && link(path, new) == 0)
    let wire = try bench.client(of: path)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .exchanged)
    #expect(try bench.ask(wire) { try $0.putRequest(.status) }.failure == .exchanged)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.failure == .exchanged)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode, flags: .acceptExchange) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
    // No other vault stood there.
    #expect(try bench.ask(try bench.client(of: new)) { try $0.get("a") }.failure == .notFound)
  }

  @Test func `a vault whose file is gone is locked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    try #require(rename(bench.vault, bench.vault + ".away") == 0)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK == false)
    try #require(rename(bench.vault + ".away", bench.vault) == 0)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .vaultChanged)
  }

  @Test func `the request that comes with the hello may be what finds another file`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    try #require(rename(other, bench.vault) == 0)
    let late = try bench.connect()
    try late.send {
      try $0.hello(bench.vault)
      try $0.get("a")
    }
    #expect(try bench.reply(on: late).type == .agentHello)
    #expect(try bench.reply(on: late).failure == .locked)
    #expect(try bench.status(late)?.lockReason == .vaultChanged)
  }

  @Test func `another file at the path is another vault`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    try #require(rename(other, bench.vault) == 0)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .vaultChanged)
    #expect(try bench.status(wire)?.state == .locked)
    #expect(try bench.status(wire)?.lockReason == .vaultChanged)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK == false)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode, flags: .acceptExchange) }.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.status(wire)?.lockReason == .asked)
  }

  @Test func `an upload whose end finds another file is answered once`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.upload("big") }.isOK)
    try replaceVault(of: bench)
    try wire.send {
      try $0.data([1, 2, 3])
      try $0.putUploadEnd(.commit)
    }
    #expect(try bench.reply(on: wire).lockReason == .vaultChanged)
    #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.sessionCount == 0)
  }

  @Test func `an upload that finds another file is answered once, and its rest is no request`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.upload("big") }.isOK)
    try replaceVault(of: bench)
    let part = [UInt8](repeating: 7, count: ProtocolLimit.chunk)
    var answer: Received?
    for _ in 0..<64 where answer == nil {
      try wire.send { try $0.data(part) }
      // Nothing is half there when the vault is locked: that ends the connection.
      try bench.turn(32)
      wire.receive()
      answer = try wire.nextFrame()
    }
    #expect(answer?.lockReason == .vaultChanged)
    try wire.send {
      try $0.data(part)
      try $0.putUploadEnd(.commit)
    }
    #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.sessionCount == 0)
  }

  @Test func `a word that finds another file is answered once, and locks the vault`() throws {
    let asks: [(Bench, Wire) throws -> Received] = [
      { bench, wire in try bench.add(SlotOrder(.recoveryKey), "", on: wire) },
      { bench, wire in
        try bench.ask(wire) {
          try $0.putRequest(
            .rekey(
              .init(current: Bench.passcode.utf8.span, keyFile: Span(), flags: .recoveryKey)))
        }
      },
    ]
    for ask in asks {
      let bench = try Bench()
      let wire = try bench.unlocked()
      #expect(try ask(bench, wire).recoveryKey != nil)
      try replaceVault(of: bench)
      #expect(try bench.ask(wire) { try $0.putConfirm() }.lockReason == .vaultChanged)
      #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.sessionCount == 0)
    }
  }

  @Test func `a path that is none is refused`() throws {
    let bench = try Bench()
    let wire = try bench.client(of: "/tmp/\u{0}x")
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .pathInvalid)
    #expect(try bench.ask(wire) { try $0.create("x") }.failure == .pathInvalid)
    #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.isOK)
  }

  @Test func `the agent tells what it holds`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let reply = try bench.ask(wire) { try $0.putRequest(.agentStatus) }
    let report = try AgentReport(reply.payload.span)
    #expect(report.processID == UInt32(getpid()))
    #expect(report.sessionCount == 1)
    #expect(report.lockedBytes + report.unlockedBytes > 0)
  }

  @Test func `an agent that is asked to stop locks and ends`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try wire.send { try $0.putRequest(.agentStop) }
    try bench.agent.run()
    // The hang-up comes when all is done, for who waits for that.
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
    wire.receive()
    #expect(try wire.nextFrame()?.isOK == true)
    try bench.awaitEnd(of: wire)
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }

  /// Puts another vault in the place of a bench's, which stays unlocked for now.
  private func replaceVault(of bench: Bench) throws {
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    try #require(rename(other, bench.vault) == 0)
  }
}

extension Received {
  /// How many vaults an agent has unlocked; nil for what is no answer to that.
  fileprivate var sessionCount: UInt16? { try? AgentReport(payload.span).sessionCount }
}
