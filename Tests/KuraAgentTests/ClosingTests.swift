// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import Testing

@testable import KuraAgent

/// What a lock promises of the file: it is whole when the lock is answered, however slow the disk is.
@Suite struct `A closing` {
  private func fileSize(_ path: String) -> Int {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int(facts.st_size) : -1
  }

  /// The thread that closes, at something else, as behind a disk that hangs.
  private func occupy(_ bench: Bench) throws -> Gate {
    let gate = Gate()
    try #require(bench.agent.startedCloser()).start(gate)
    gate.awaitBegin()
    return gate
  }

  @Test func `comes after the keys are gone, and before the lock is answered`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let gate = try occupy(bench)
    defer { gate.open() }
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn(3)
    let session = try #require(bench.agent.sessions.first)
    #expect(!session.isUnlocked)
    #expect(try bench.status(other)?.state == .locked)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .locked)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    #expect(fileSize(bench.vault + "-wal") > 0)
    gate.open()
    #expect(try bench.reply(on: wire).isOK)
    #expect(fileSize(bench.vault + "-wal") < 0)
    #expect(fileSize(bench.vault + "-shm") < 0)
  }

  @Test func `that takes long is told after five seconds, and goes on`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let gate = try occupy(bench)
    defer { gate.open() }
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 4_999)
    try bench.turn(3)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    bench.clock.pass(milliseconds: 1)
    let told = try bench.reply(on: wire)
    #expect(told.refusal == .notWhole(isHeld: false, .text(bench.vault)))
    // Asked again, it waits for the same end.
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn(3)
    gate.open()
    #expect(try bench.reply(on: wire).isOK)
    #expect(fileSize(bench.vault + "-wal") < 0)
  }

  @Test func `is waited for by an unlock, and by whatever else opens the file`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let (slots, other) = (try bench.client(), try bench.client())
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let gate = try occupy(bench)
    defer { gate.open() }
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn()
    try other.send { try $0.unlock(Bench.passcode) }
    try slots.send { try $0.putRequest(.slots) }
    try bench.turn(20)
    other.receive()
    slots.receive()
    #expect(try other.nextFrame() == nil)
    #expect(try slots.nextFrame() == nil)
    gate.open()
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.reply(on: slots).isOK)
    #expect(try bench.reply(on: other).isOK)
    #expect(try bench.ask(other) { try $0.get("a") }.isOK)
  }

  @Test func `of a vault that another program reads is told as such`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    // A reader of its own state, as another process is.
    let reader = try VaultReader(bench.vault)
    #expect(try bench.ask(wire) { try $0.put("b", "2") }.isOK)
    let told = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(told.refusal == .notWhole(isHeld: true, .text(bench.vault)))
    #expect(fileSize(bench.vault + "-wal") > 0)
    reader.end()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(fileSize(bench.vault + "-wal") < 0)
  }

  @Test func `of a vault that has no WAL does not look at its file`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    #expect(chmod(bench.vault, 0o644) == 0)
    let lock = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(lock.isOK)
    #expect(bench.agent.sessions.isEmpty)
    // With one the file is what it moves into, and must be fit for that.
    let file = open(bench.vault + "-wal", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    #expect(write(file, "W", 1) == 1)
    close(file)
    let refused = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(refused.failure == .placeUnsafe)
  }

  @Test func `of all vaults is waited for by the end of the agent`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    try wire.send { try $0.putRequest(.agentStop) }
    try bench.agent.run()
    wire.receive()
    #expect(try wire.nextFrame()?.isOK == true)
    #expect(fileSize(bench.vault + "-wal") < 0)
  }
}
