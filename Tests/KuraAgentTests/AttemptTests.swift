// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import SecureMemory
import Synchronization
import Testing

@testable import KuraAgent

/// Work that needs a key derivation: who asked for it may go, and the file may be in other hands.
@Suite struct `An attempt` {
  @Test func `that has not begun goes with its client`() throws {
    let bench = try Bench()
    try bench.create()
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    let other = try bench.client()
    for _ in 0..<10 {
      let asker = try bench.client()
      try asker.send { try $0.unlock(Bench.passcode) }
      try bench.turn()
      #expect(bench.agent.attempts.count == 1)
      #expect(try bench.status(other)?.state == .unlocking)
      close(asker)
      try bench.turn()
      #expect(bench.agent.attempts.isEmpty)
      #expect(try bench.status(other)?.state == .locked)
    }
    gate.open()
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `beyond one for each place finds the agent busy`() throws {
    let bench = try Bench { $0.limits.seats = 2 }
    try bench.create()
    try bench.turn(2)
    let gate = Gate()
    defer { gate.open() }
    // It has begun, and runs to its end without its client.
    let gone = try bench.client()
    let client = try #require(bench.agent.connections.first { _ in true })
    let occupation = Attempt(Occupation(gate), try SecretBytes(count: 1), for: client)
    bench.agent.start(occupation, for: client)
    gate.awaitBegin()
    close(gone)
    try bench.turn(2)
    let (first, second) = (try bench.client(), try bench.client())
    try first.send { try $0.unlock(Bench.passcode) }
    try bench.turn()
    try second.send { try $0.unlock(Bench.passcode) }
    try bench.turn(2)
    #expect(bench.agent.attempts.count == 2)
    bench.clock.pass(milliseconds: 5_000)
    try bench.turn()
    second.receive()
    #expect(try second.nextFrame()?.failure == .busy)
    gate.open()
    #expect(try bench.reply(on: first).isOK)
    #expect(try bench.ask(second) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `leaves the names in it to a lock, though the worker is not done`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    let gate = Gate()
    defer { gate.open() }
    let act = Occupation(gate)
    let session = try #require(bench.agent.sessions.first)
    let client = try #require(bench.agent.connections.first { _ in true })
    bench.agent.start(
      Attempt(act, try SecretBytes(count: 1), of: session, for: client), for: client)
    gate.awaitBegin()
    #expect(!act.isForgotten)
    bench.agent.lock(session, .asked)
    #expect(act.isForgotten)
  }

  private func close(_ wire: Wire) { _ = shutdown(wire.raw, Int32(SHUT_RDWR)) }
}

/// Occupies the worker for a client.
private final class Occupation: Act {
  private let gate: Gate
  private let mark = Atomic(false)
  var isForgotten: Bool { mark.load(ordering: .relaxed) }

  init(_ gate: Gate) { self.gate = gate }

  func forget() { mark.store(true, ordering: .relaxed) }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) { gate.run() }
  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {}
}

// MARK: - Busy vaults

extension `An attempt` {
  /// Holds what this machine knows of the vault as another engine does, meanwhile.
  private func holding<Result>(_ bench: Bench, _ body: () throws -> Result) throws -> Result {
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".seen") })
    let held = open(bench.scratch.path + "/state/" + name, O_RDWR | O_CLOEXEC)
    defer {
      // A child being started may have it open, too.
      _ = flock(held, LOCK_UN)
      Glibc.close(held)
    }
    try #require(flock(held, LOCK_EX) == 0)
    return try body()
  }

  @Test func `to unlock says that the vault is busy, and the next one succeeds`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    let refused = try holding(bench) { try bench.ask(wire) { try $0.unlock(Bench.passcode) } }
    #expect(refused.failure == .tooBusy)
    #expect(try bench.status(wire)?.state == .locked)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `to change a locked vault's passcode does so, too`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    let refused = try holding(bench) {
      try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "new") }
    }
    #expect(refused.failure == .tooBusy)
    #expect(try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "new") }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock("new") }.isOK)
  }

  @Test func `to add a slot to a locked vault does so, too`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    let refused = try holding(bench) {
      try bench.add(SlotOrder(.passcode), "second", on: wire)
    }
    #expect(refused.failure == .tooBusy)
    #expect(try bench.add(SlotOrder(.passcode), "second", on: wire).isOK)
    #expect(try bench.ask(wire) { try $0.unlock("second") }.isOK)
  }

  @Test func `to add a recovery key to a busy vault shows none, and the next one does`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    let refused = try holding(bench) { try bench.add(SlotOrder(.recoveryKey), "", on: wire) }
    #expect(refused.failure == .tooBusy && refused.recoveryKey == nil)
    let shown = try bench.add(SlotOrder(.recoveryKey), "", on: wire)
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    let key = try #require(shown.recoveryKey)
    #expect(try bench.ask(wire) { try $0.unlock(key, kind: .recoveryKey) }.isOK)
  }

  /// A recovery key was shown, and another program writes until nobody waits for it any more.
  private func refuseWord(_ bench: Bench, _ wire: Wire) throws {
    #expect(try bench.add(SlotOrder(.recoveryKey), "", on: wire).recoveryKey != nil)
    let writer = try VaultWriter(bench.vault)
    try wire.send { try $0.putConfirm() }
    try bench.turn(3)
    bench.clock.pass(milliseconds: bench.agent.configuration.limits.busy)
    #expect(try bench.reply(on: wire).failure == .busy)
    withExtendedLifetime(writer) {}
  }

  @Test func `to add a recovery key that is busy at the word for it ends with that`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    try refuseWord(bench, wire)
    let shown = try bench.add(SlotOrder(.recoveryKey), "", on: wire)
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    let key = try #require(shown.recoveryKey)
    #expect(try bench.ask(wire) { try $0.unlock(key, kind: .recoveryKey) }.isOK)
  }

  @Test func `whose word was refused says nothing when the time for it is over`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    try refuseWord(bench, wire)
    bench.clock.pass(milliseconds: 300_000)
    try bench.turn(2)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    #expect(try bench.status(wire)?.state == .locked)
  }

  @Test func `to add a recovery key shows it once, and waits for another program's write`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.add(SlotOrder(.recoveryKey), "", on: wire).recoveryKey != nil)
    var writer: VaultWriter? = try VaultWriter(bench.vault)
    try wire.send { try $0.putConfirm() }
    try bench.turn(3)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    withExtendedLifetime(writer) {}
    writer = nil
    let reply = try bench.reply(on: wire)
    #expect(reply.isOK && reply.recoveryKey == nil)
  }
}
