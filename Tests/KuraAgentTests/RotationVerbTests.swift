// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import KuraVault
import SecureMemory
import Testing

@testable import KuraAgent

@Suite struct `Rotation of a vault` {
  @Test func `is done when its end comes, after progress`() throws {
    let bench = try Bench()
    let wire = try bench.filled(120)
    try wire.send { try $0.putRequest(.rotate) }
    var frames: [FrameType] = []
    repeat { frames.append(try bench.next(on: wire).type) } while frames.last == .progress
    #expect(frames.last == .end)
    #expect(frames.count > 2)
    #expect(try bench.status(wire)?.rotation == nil)
    #expect(try bench.ask(wire) { try $0.get("item/7") }.value == "7")
    try wire.send { try $0.putRequest(.verify) }
    var frame = try bench.next(on: wire)
    while frame.type == .progress { frame = try bench.next(on: wire) }
    // A finding would come as data.
    #expect(frame.type == .end && frame.isOK)
  }

  @Test func `serves others between its steps`() throws {
    let bench = try Bench()
    let wire = try bench.filled(120)
    try wire.send { try $0.putRequest(.rotate) }
    let other = try bench.client()
    var served = 0
    while case let frame = try bench.next(on: wire), frame.type == .progress {
      #expect(try bench.ask(other) { try $0.get("item/\(served)") }.isOK)
      #expect(try bench.ask(other) { try $0.put("new/\(served)", "value") }.isOK)
      served += 1
    }
    #expect(served > 2)
  }

  @Test func `goes on without its client`() throws {
    let bench = try Bench()
    let other = try bench.filled(120)
    do {
      let wire = try bench.client()
      try wire.send { try $0.putRequest(.rotate) }
      try bench.turn(2)
    }
    #expect(try bench.status(other)?.rotation != nil)
    try bench.finishRotation(other)
  }

  @Test func `ends for its client with a lock, and goes on after the next unlock`() throws {
    let bench = try Bench()
    let other = try bench.filled(120)
    let wire = try bench.client()
    try wire.send { try $0.putRequest(.rotate) }
    #expect(try bench.next(on: wire).type == .progress)
    _ = try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    var frame = try bench.next(on: wire)
    while frame.type == .progress { frame = try bench.next(on: wire) }
    #expect(frame.type == .reply && frame.failure == .locked)
    #expect(try bench.status(other)?.rotation == nil)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.status(other)?.rotation != nil)
    try bench.finishRotation(other)
  }

  @Test func `is joined by a second client, which does not begin another`() throws {
    let bench = try Bench()
    let one = try bench.filled(120)
    let two = try bench.client()
    try one.send { try $0.putRequest(.rotate) }
    #expect(try bench.next(on: one).type == .progress)
    try two.send { try $0.putRequest(.rotate) }
    for wire in [one, two] {
      while true {
        let frame = try bench.next(on: wire)
        guard frame.type != .progress else { continue }
        #expect(frame.type == .end)
        break
      }
    }
    #expect(try bench.status(one)?.rotation == nil)
  }

  @Test(arguments: [false, true])
  func `of a busy vault keeps nobody waiting for long, and goes on afterwards`(
    _ isCompacting: Bool
  ) throws {
    let bench = try Bench()
    let wire = try bench.filled(120)
    try wire.send { try $0.putRequest(.rotate) }
    #expect(try bench.next(on: wire).type == .progress)
    do {
      let session = try #require(bench.agent.sessions.first)
      let compaction = try session.withVault { vault throws(VaultError) in try vault.compaction() }
      if isCompacting { session.compaction = compaction }
      let writer = try VaultWriter(bench.vault)
      var frame = try bench.next(on: wire)
      while frame.type == .progress { frame = try bench.next(on: wire) }
      withExtendedLifetime(writer) {}
      #expect(frame.refusal == (isCompacting ? .compacting : .busy))
      session.compaction = nil
    }
    try bench.finishRotation(wire)
  }
}

extension Bench {
  /// A client of an unlocked vault with items.
  func filled(_ count: Int) throws -> Wire {
    let wire = try unlocked()
    for number in 0..<count {
      guard try ask(wire, { try $0.put("item/\(number)", "\(number)") }).isOK else {
        throw TestFailure("not stored")
      }
    }
    return wire
  }

  /// The next frame on a wire, while time goes by.
  fileprivate func next(on wire: Wire) throws -> Received {
    for _ in 0..<10_000 {
      wire.receive()
      if let frame = try wire.nextFrame() { return frame }
      clock.pass(milliseconds: 5)
      try turn()
    }
    throw TestFailure("no frame came")
  }

  fileprivate func finishRotation(_ wire: Wire) throws {
    for _ in 0..<1_000 where try status(wire)?.rotation != nil {
      clock.pass(milliseconds: 5)
      try turn()
    }
    #expect(try status(wire)?.rotation == nil)
    #expect(try status(wire)?.state == .unlocked)
  }
}
