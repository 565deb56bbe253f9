// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import Testing

@testable import KuraAgent

/// What a lock does first, and what it leaves for later: keys before disks.
@Suite struct `A lock` {
  @Test func `wipes the keys before it touches the file of the newest state`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try bench.turn(3)
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let session = try #require(bench.agent.sessions.first)
    let before = try seen(bench)
    bench.agent.lock(session, .asked)
    #expect(!session.isUnlocked)
    #expect(try seen(bench) == before)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try seen(bench) != before)
  }

  @Test func `is answered while somebody keeps that file, and the newest state is noted next time`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try bench.turn(3)
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let before = try seen(bench)
    let held = open(try path(bench), O_RDWR | O_CLOEXEC)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try seen(bench) == before)
    #expect(flock(held, LOCK_UN) == 0)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try seen(bench) != before)
  }

  @Test func `leaves a note that an older copy is told by`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn()
    let old = try bytes(bench.vault)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn()
    try write(old, to: bench.vault)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.failure == .rolledBack)
  }
}

// MARK: - Words that do not come

extension `A lock` {
  @Test func `of a vault that was locked already wipes what waits for a person's word`() throws {
    try whileAsked { bench, wire, other in
      _ = try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
      #expect(try bench.reply(on: wire).failure == .locked)
    }
  }

  @Test func `comes of itself for such a word, also after sleep`() throws {
    try whileAsked { bench, wire, _ in
      bench.clock.pass(milliseconds: 299_999)
      try bench.turn()
      #expect(bench.agent.nextWordDeadline != nil)
      bench.clock.pass(milliseconds: 1)
      #expect(try bench.reply(on: wire).failure == .unconfirmed)
    }
    try whileAsked { bench, wire, _ in
      bench.clock.sleep(milliseconds: 3_000)
      let reply = try bench.reply(on: wire)
      #expect(reply.failure == .unconfirmed)
    }
  }

  @Test func `of all vaults also takes a new one that nobody has confirmed`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    let shown = try bench.ask(wire) { try $0.create("x", flags: [.weakKDF, .recoveryKey]) }
    #expect(shown.recoveryKey != nil)
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    #expect(try bench.reply(on: wire).failure == .unconfirmed)
    #expect(access(bench.vault, F_OK) != 0)
    #expect(bench.agent.nextWordDeadline == nil)
  }

  @Test func `comes too late for a word that was said`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    #expect(try bench.add(SlotOrder(.recoveryKey), "", on: wire).recoveryKey != nil)
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    #expect(bench.agent.nextWordDeadline == nil)
    bench.clock.pass(milliseconds: 300_000)
    #expect(try bench.status(wire)?.state == .locked)
  }

  @Test func `leaves passcode and recovery key as they were when the new key was not confirmed`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.client()
    let created = try bench.ask(wire) { try $0.create("x", flags: [.weakKDF, .recoveryKey]) }
    let key = try #require(created.recoveryKey)
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    let shown = try bench.ask(wire) {
      try $0.changePasscode("x", to: "new", flags: [.weakKDF, .recoveryKey])
    }
    #expect(shown.recoveryKey?.count == 44)
    bench.clock.pass(milliseconds: 300_000)
    #expect(try bench.reply(on: wire).failure == .unconfirmed)
    #expect(try bench.ask(wire) { try $0.unlock("new") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock("x") }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock(key, kind: .recoveryKey) }.isOK)
  }

  /// A slot is being added to a locked vault, and the client is to say that it has the recovery key.
  private func whileAsked(_ body: (Bench, Wire, Wire) throws -> Void) throws {
    let bench = try Bench()
    try bench.create()
    let (wire, other) = (try bench.client(), try bench.client())
    #expect(try bench.add(SlotOrder(.recoveryKey), "", on: wire).recoveryKey != nil)
    #expect(bench.agent.nextWordDeadline != nil)
    try body(bench, wire, other)
    #expect(bench.agent.nextWordDeadline == nil)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
  }
}

// MARK: - Files

extension `A lock` {
  private func path(_ bench: Bench) throws -> String {
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".seen") })
    return bench.scratch.path + "/state/" + name
  }

  private func seen(_ bench: Bench) throws -> [UInt8] { try bytes(try path(bench)) }

  private func bytes(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { throw TestFailure("\(path): \(errno)") }
    return Array(bytes.prefix(count))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_TRUNC)
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
      throw TestFailure("\(path): \(errno)")
    }
  }
}
