// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

/// More clients than can be at work, and more connections than there is room for.
@Suite struct AgentSeatsTests {
  private let bench: Bench

  init() throws {
    bench = try Bench {
      $0.limits.seats = 2
      $0.limits.connections = 8
    }
    try bench.agent.listen(in: bench.scratch.path + "/run")
  }

  /// A client that comes by the socket.
  private func connect() throws -> Wire {
    try Wire.connect(to: bench.scratch.path + "/run/agent.sock")
  }

  private func call(_ request: (inout SecretBuffer) throws -> Void) throws -> Wire {
    let wire = try connect()
    try wire.send {
      try $0.hello(bench.vault)
      try request(&$0)
    }
    return wire
  }

  private func hears(_ wire: Wire) throws -> Received {
    #expect(try bench.reply(on: wire).type == .agentHello)
    return try bench.reply(on: wire)
  }

  /// Clients that send a large value, and so have all the seats.
  private func busy() throws -> [Wire] {
    try (0..<2).map { number in
      let wire = try call { try $0.upload("big\(number)") }
      #expect(try hears(wire).isOK)
      return wire
    }
  }

  private func finish(_ wire: Wire) throws {
    try wire.send { buffer in
      try buffer.data([1, 2, 3])
      try buffer.putUploadEnd(.commit)
    }
    #expect(try bench.reply(on: wire).isOK)
  }
}

// MARK: - Seats

extension AgentSeatsTests {
  @Test func `who finds no seat is served when one is free`() throws {
    let first = try bench.unlocked()
    let wires = try busy()
    let late = try call { try $0.get("a") }
    #expect(try bench.reply(on: late).type == .agentHello)
    try bench.turn(5)
    late.receive()
    #expect(try late.nextFrame() == nil)
    try finish(wires[0])
    #expect(try bench.reply(on: late).failure == .notFound)
    #expect(try bench.ask(first) { try $0.get("big0") }.isOK)
  }

  @Test func `who waits for a seat for a second is told that the agent is busy`() throws {
    let first = try bench.unlocked()
    let wires = try busy()
    let late = try call { try $0.get("a") }
    try bench.turn(5)
    bench.clock.pass(milliseconds: 999)
    try bench.turn(2)
    late.receive()
    #expect(try late.nextFrame()?.type == .agentHello)
    #expect(try late.nextFrame() == nil)
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.reply(on: late).failure == .busy)
    for wire in wires { try finish(wire) }
    #expect(try bench.ask(late) { try $0.get("big0") }.isOK)
    withExtendedLifetime(first) {}
  }

  @Test func `a client that has its answer has no seat any more`() throws {
    let first = try bench.unlocked()
    let wires = try (0..<6).map { _ in try call { try $0.list() } }
    for wire in wires {
      #expect(try hears(wire).type == .end)
      #expect(try bench.ask(first) { try $0.get("a") }.failure == .notFound)
    }
  }

  @Test func `a burst of clients is served one after the other`() throws {
    var wires = try (0..<60).map { _ in try call { try $0.putRequest(.slots) } }
    while let wire = wires.first {
      #expect(try hears(wire).failure == .noVault)
      wires.removeFirst()
    }
  }
}

// MARK: - The owner

extension AgentSeatsTests {
  /// What silent clients may have said.
  enum Said: CaseIterable {
    case nothing, hello, halfHello, request, halfRequest
  }

  private func silent(_ said: Said) throws -> Wire {
    let wire = try connect()
    switch said {
    case .nothing: break
    case .hello: try wire.send { try $0.hello(bench.vault) }
    case .halfHello: try wire.send(bytes: [200, 0, 0, 0, 1])
    case .request:
      try wire.send {
        try $0.hello(bench.vault)
        try $0.get("a")
      }
    case .halfRequest:
      try wire.send { try $0.hello(bench.vault) }
      try wire.send(bytes: [200, 0, 0, 0, 0x10])
    }
    return wire
  }

  @Test(arguments: Said.allCases)
  func `can lock, whatever is silent, and however often`(_ said: Said) throws {
    let first = try bench.unlocked()
    var crowd: [Wire] = []
    for _ in 0..<40 {
      crowd.append(try silent(said))
      try bench.turn()
    }
    let status = try call { try $0.putRequest(.agentStatus) }
    #expect(try hears(status).isOK)
    let lock = try call { try $0.putRequest(.lock(.init(.asked, scope: .all))) }
    #expect(try hears(lock).isOK)
    _ = try? first.send { try $0.get("a") }
    #expect(try bench.status(lock)?.state == .locked)
    let stop = try call { try $0.putRequest(.agentStop) }
    #expect(try hears(stop).isOK)
    withExtendedLifetime(crowd) {}
  }

  @Test func `can ask how things are, and lock, while all seats are taken`() throws {
    let first = try bench.unlocked()
    let wires = try busy()
    let waiting = try call { try $0.get("a") }
    try bench.turn(2)
    let status = try call { try $0.putRequest(.status) }
    #expect(try hears(status).isOK)
    let agent = try call { try $0.putRequest(.agentStatus) }
    #expect(try hears(agent).isOK)
    let lock = try call { try $0.putRequest(.lock(.init(.asked, scope: .all))) }
    #expect(try hears(lock).isOK)
    for wire in wires { #expect(try bench.reply(on: wire).lockReason == .asked) }
    #expect(try hears(waiting).failure == .locked)
    withExtendedLifetime(first) {}
  }
}

// MARK: - Who goes

extension AgentSeatsTests {
  private func crowd(_ count: Int) throws -> [Wire] {
    try (0..<count).map { _ in
      let wire = try connect()
      try bench.turn()
      return wire
    }
  }

  @Test func `a client at work stays, whoever comes`() throws {
    let first = try bench.unlocked()
    let upload = try call { try $0.upload("big") }
    #expect(try hears(upload).isOK)
    let other = try call { try $0.upload("other") }
    #expect(try hears(other).isOK)
    let silent = try crowd(40)
    try finish(upload)
    try finish(other)
    withExtendedLifetime((first, silent)) {}
  }

  @Test func `who was silent longest goes first`() throws {
    let wires = try (0..<8).map { _ in try connect() }
    try bench.turn(10)
    try wires[0].send {
      try $0.hello(bench.vault)
      try $0.putRequest(.agentStatus)
    }
    #expect(try hears(wires[0]).isOK)
    // A hello alone, and bytes that drip, are no requests.
    try wires[1].send { try $0.hello(bench.vault) }
    try wires[2].send(bytes: [200, 0, 0, 0, 1])
    #expect(try bench.reply(on: wires[1]).type == .agentHello)
    let newcomers = try crowd(2)
    try bench.turn(10)
    for wire in wires { wire.receive() }
    #expect(wires.map(\.isAtEnd) == [false, true, true] + Array(repeating: false, count: 5))
    for wire in newcomers { wire.receive() }
    #expect(newcomers.allSatisfy { !$0.isAtEnd })
  }

  @Test func `what a client has just sent is heard before it would go`() throws {
    let wires = try (0..<8).map { _ in try connect() }
    try bench.turn(10)
    let newcomer = try connect()
    // Both are there when the agent looks, and it looks for newcomers first.
    try wires[0].send {
      try $0.hello(bench.vault)
      try $0.putRequest(.agentStatus)
    }
    try bench.turn(3)
    #expect(try hears(wires[0]).isOK)
    wires[1].receive()
    #expect(wires[1].isAtEnd)
    withExtendedLifetime(newcomer) {}
  }

  @Test func `who waits for a seat stays before one that is silent`() throws {
    let first = try bench.unlocked()
    let wires = try busy()
    let late = try call { try $0.get("a") }
    let silent = try crowd(20)
    try bench.turn(2)
    try finish(wires[0])
    #expect(try hears(late).failure == .notFound)
    withExtendedLifetime((first, silent)) {}
  }
}
