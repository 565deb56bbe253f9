// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import KuraVault
import Testing

@testable import KuraAgent

/// Making a vault's file short is nothing that a lock, a client or another vault waits for.
@Suite struct `A compaction under way` {
  /// One that has the file until the test runs it: what it is to the loop does not hang on how fast it is.
  private func begin(_ bench: Bench) throws -> Compaction {
    let session = try #require(bench.agent.sessions.first)
    let compaction = try session.withVault { vault throws(VaultError) in try vault.compaction() }
    session.compaction = compaction
    return compaction
  }

  @Test func `does not keep keys from being wiped, and a lock is answered when it has ended`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let session = try #require(bench.agent.sessions.first)
    let compaction = try begin(bench)
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn(3)
    #expect(!session.isUnlocked)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .locked)
    // What is behind the closing of this vault, such as another's, goes before it.
    let next = Gate()
    defer { next.open() }
    try #require(bench.agent.startedCloser()).start(next)
    next.awaitBegin()
    #expect(session.closing != nil && session.closing?.outcome == nil)
    next.open()
    compaction.run()
    #expect(try bench.reply(on: wire).isOK)
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }

  @Test func `is waited for by a writer, who is told what is in the way, and not by a reader`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let compaction = try begin(bench)
    var writer: VaultWriter? = try VaultWriter(bench.vault)
    try wire.send { try $0.put("b", "2") }
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.get("a") }.value == "1")
    bench.clock.pass(milliseconds: 5_000)
    let refused = try bench.reply(on: wire)
    #expect(refused.refusal == .compacting)
    try wire.send { try $0.put("b", "3") }
    try bench.turn(3)
    _ = writer.take()
    compaction.run()
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.ask(other) { try $0.get("b") }.value == "3")
  }

  @Test func `is the only one`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let compaction = try begin(bench)
    try wire.send { try $0.putRequest(.compact) }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 5_000)
    let refused = try bench.reply(on: wire)
    #expect(refused.refusal == .compacting)
    compaction.run()
    try wire.send { try $0.putRequest(.compact) }
    try bench.turn(3)
    #expect(bench.agent.sessions.first?.compaction !== compaction)
  }

  @Test func `ends with its client, and changes nothing then`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", String(repeating: "x", count: 3_000)) }.isOK)
    try VaultEdit.run("CREATE TABLE room(data); DROP TABLE room", at: bench.vault)
    let session = try #require(bench.agent.sessions.first)
    var writer: VaultWriter? = try VaultWriter(bench.vault)
    let client = try bench.client()
    try client.send { try $0.putRequest(.compact) }
    try bench.turn(3)
    let compaction = try #require(session.compaction)
    // Its thread has begun, and waits for whoever writes.
    while compaction.progress.total == 0, compaction.isUnderWay { usleep(500) }
    _ = shutdown(client.raw, Int32(SHUT_RDWR))
    while bench.agent.connections.contains(where: { $0.phase.stream != nil }) { try bench.turn() }
    _ = writer.take()
    while compaction.isUnderWay { usleep(500) }
    #expect(throws: VaultError.busy) { _ = try compaction.outcome?.get() }
    #expect(try bench.ask(wire) { try $0.put("b", "2") }.isOK)
  }
}
