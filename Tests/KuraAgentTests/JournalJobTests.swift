// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// The journal is moved into the file beside the loop, which waits for nothing of it.
@Suite struct `A journal's move` {
  private static let pieceCount = 64 << 10

  /// A client that begins to store a large value.
  private func beginUpload(_ name: String, _ bench: Bench) throws -> Wire {
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.upload(name) }.isOK)
    return wire
  }

  /// Sends pieces of a value, and turns until the agent has taken them or the time is up.
  ///
  /// - Returns: How many it had taken by then.
  private func send(_ count: Int, on wire: Wire, _ bench: Bench) throws -> Int {
    var left: ArraySlice<UInt8> = []
    let piece = try framed(count: Self.pieceCount)
    for number in 0..<count {
      left = piece[...]
      var idle = 0
      while !left.isEmpty {
        let sent = try wire.sendSome(left)
        left = left.dropFirst(sent)
        idle = sent > 0 ? 0 : idle + 1
        guard idle < 200 else { return number }
        try bench.agent.turn(waitingAtMost: idle > 1 ? 1 : 0)
      }
    }
    return count
  }

  private func framed(count: Int) throws -> [UInt8] {
    var buffer = try SecretBuffer(capacity: count)
    try buffer.data([UInt8](repeating: 7, count: count))
    return (0..<buffer.count).map { buffer.bytes[$0] }
  }

  private func fileSize(_ path: String) -> Int {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int(facts.st_size) : -1
  }

  private func turn(_ bench: Bench, until isSo: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while !isSo(), ContinuousClock.now < deadline { try bench.agent.turn(waitingAtMost: 5) }
    #expect(isSo())
  }

  @Test func `goes on beside a key derivation`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    gate.awaitBegin()
    let wire = try beginUpload("large", bench)
    #expect(try send(192, on: wire, bench) == 192)
    try turn(bench) { fileSize(bench.vault) > 8 << 20 }
  }

  @Test func `that lasts lets a large value wait, and nobody else`() throws {
    let bench = try Bench()
    let other = try bench.unlocked()
    let gate = try occupyMover(of: bench)
    defer { gate.open() }
    let wire = try beginUpload("large", bench)
    let taken = try send(1_040, on: wire, bench)
    #expect((640..<1_040).contains(taken))
    #expect(fileSize(bench.vault) < 1 << 20)
    // However long it lasts.
    bench.clock.pass(milliseconds: 60_000)
    try bench.turn(5)
    #expect(try bench.ask(other) { try $0.put("small", "x") }.isOK)
    #expect(try bench.ask(other) { try $0.get("small") }.isOK)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    gate.open()
    try turn(bench) { bench.agent.sessions.allSatisfy { $0.move == nil } }
    #expect(fileSize(bench.vault) > 40 << 20)
  }

  @Test func `is followed by one more, then by those who waited`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    let session = try #require(bench.agent.sessions.first)
    var gate = try occupyMover(of: bench)
    let wire = try beginUpload("large", bench)
    #expect(try send(192, on: wire, bench) == 192)
    for count in 1...2 {
      let move = try #require(session.move)
      let next = Gate()
      try #require(bench.agent.startedMover()).start(next)
      // Beside a move there is always somebody who writes.
      #expect(try send(192, on: wire, bench) == 192)
      try bench.turn(100)
      gate.open()
      gate = next
      gate.awaitBegin()
      try turn(bench) { session.move !== move }
      #expect((session.move == nil) == (count == 2))
    }
    #expect(try send(192, on: wire, bench) == 192)
    #expect(session.move != nil)
    gate.open()
  }

  @Test func `does not keep keys from being wiped, and a lock is answered when it has ended`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let session = try #require(bench.agent.sessions.first)
    #expect(try bench.ask(wire) { try $0.put("a", "x") }.isOK)
    let gate = try occupyMover(of: bench)
    defer { gate.open() }
    // As if that were the move.
    session.move = gate
    try wire.send { try $0.putLock(.asked, scope: .vault) }
    try bench.turn(5)
    #expect(!session.isUnlocked)
    #expect(fileSize(bench.vault + "-wal") > 0)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    gate.open()
    #expect(try bench.reply(on: wire).isOK)
    #expect(fileSize(bench.vault + "-wal") < 0)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
  }

  @Test func `that has not begun is not made after a lock`() throws {
    let bench = try Bench()
    let other = try bench.unlocked()
    let gate = try occupyMover(of: bench)
    defer { gate.open() }
    let wire = try beginUpload("large", bench)
    #expect(try send(192, on: wire, bench) == 192)
    #expect(bench.agent.sessions.contains { $0.move != nil })
    try other.send { try $0.putLock(.asked, scope: .vault) }
    try bench.turn(5)
    #expect(bench.agent.sessions.allSatisfy { $0.move == nil && !$0.isUnlocked })
    gate.open()
    #expect(try bench.reply(on: other).isOK)
    #expect(fileSize(bench.vault + "-wal") < 0)
  }

  /// The thread that moves journals, at something else.
  private func occupyMover(of bench: Bench) throws -> Gate {
    let gate = Gate()
    try #require(bench.agent.startedMover()).start(gate)
    gate.awaitBegin()
    return gate
  }
}
