// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
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
    let bench = try Bench { $0.limits.connections = 2 }
    try bench.create()
    try bench.turn(2)
    let gate = Gate()
    defer { gate.open() }
    // It has begun, and runs to its end without its client.
    let gone = try bench.client()
    bench.agent.start(Occupation(gate), for: try #require(bench.agent.connections[0]))
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

  private func close(_ wire: Wire) { _ = shutdown(wire.raw, Int32(SHUT_RDWR)) }
}

/// Work that lasts as long as a test wants.
private final class Gate: Job {
  private let hasBegun = Atomic(false)
  private let isOpen = Atomic(false)

  func run() {
    hasBegun.store(true, ordering: .releasing)
    while !isOpen.load(ordering: .acquiring) { usleep(500) }
  }

  func open() { isOpen.store(true, ordering: .releasing) }

  func awaitBegin() { while !hasBegun.load(ordering: .acquiring) { usleep(500) } }
}

/// A client's attempt that is such work.
private final class Occupation: Attempt {
  let keeper: Keeper? = nil
  let job: any Job

  init(_ gate: Gate) { job = gate }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {}
  func settle() -> Bool { true }
}
