// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

@Suite struct StreamTests {
  /// Bytes that differ from chunk to chunk.
  static func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 16) }
  }

  /// Sends a value in chunks, turning the agent whenever the socket is full.
  private func upload(
    _ bytes: [UInt8], as name: String, _ bench: Bench, _ wire: Wire,
    flags: PutRequest.Flags = []
  ) throws -> Received {
    let goAhead = try bench.ask(wire) { try $0.upload(name, flags: flags) }
    guard goAhead.isOK else { return goAhead }
    var frames = try SecretBuffer(capacity: bytes.count + 4_096)
    for start in stride(from: 0, to: bytes.count, by: 65_536) {
      let end = min(start + 65_536, bytes.count)
      try frames.data(Array(bytes[start..<end]))
    }
    try frames.putUploadEnd(.commit)
    let all = (0..<frames.count).map { frames.bytes[$0] }
    var sent = 0
    while sent < all.count {
      sent += try wire.sendSome(all[sent...])
      try bench.turn()
    }
    return try bench.reply(on: wire)
  }

  /// Reads a value that comes in chunks.
  private func download(_ name: String, _ bench: Bench, _ wire: Wire) throws -> [UInt8] {
    let reply = try bench.ask(wire) { try $0.get(name) }
    #expect(try GetReply(reply: reply.payload.span).isStream == true)
    var bytes: [UInt8] = []
    while case let frame = try bench.reply(on: wire), frame.type == .data {
      #expect(frame.payload.count <= ProtocolLimit.chunk)
      bytes += frame.payload
    }
    return bytes
  }

  @Test func `a lock leaves no reply behind that its client did not take`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try upload(Self.pattern(60_000), as: "value", bench, wire).isOK)
    let sleeper = try bench.client()
    try sleeper.send { for _ in 0..<40 { try $0.get("value") } }
    try bench.turn(5)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }
    var count = 0
    while let frame = try? bench.reply(on: sleeper) { count += frame.type == .reply ? 1 : 0 }
    #expect(count < 40)
    try bench.awaitEnd(of: sleeper)
  }

  @Test func `a lock leaves no last reply behind, of a client that asks for nothing more`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try upload(Self.pattern(60_000), as: "value", bench, wire).isOK)
    let sleeper = try bench.client()
    // One at a time, until a reply does not fit into the socket.
    var asked = 0
    while !bench.agent.connections.contains(where: { $0.hasPending }) {
      try sleeper.send { try $0.get("value") }
      try bench.turn(2)
      asked += 1
    }
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    var taken = 0
    while taken < asked, (try? bench.reply(on: sleeper)) != nil { taken += 1 }
    try #require(taken == asked - 1)
    try bench.awaitEnd(of: sleeper)
  }

  @Test(arguments: [65_537, 131_072, 1_000_003])
  func `a large value comes back as it was`(count: Int) throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let bytes = Self.pattern(count)
    #expect(try upload(bytes, as: "big", bench, wire).isOK)
    #expect(try download("big", bench, wire) == bytes)
  }

  @Test(arguments: [1, 65_535, 65_536])
  func `a small value may be streamed, and comes back inside the reply`(count: Int) throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let bytes = Self.pattern(count)
    #expect(try upload(bytes, as: "small", bench, wire).isOK)
    let reply = try bench.ask(wire) { try $0.get("small") }
    let got = try GetReply(reply: reply.payload.span)
    #expect(got.isStream == false)
    #expect(got.value.bytes.indices.map { got.value.bytes[$0] } == bytes)
  }

  @Test func `an empty stream has to be meant`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try upload([], as: "a", bench, wire).failure == .valueEmpty)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
    #expect(try upload([], as: "a", bench, wire, flags: .allowEmpty).isOK)
  }

  @Test func `an abandoned upload stores nothing`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.upload("a") }.isOK)
    try wire.send { buffer in
      try buffer.data(Self.pattern(65_536))
      try buffer.putUploadEnd(.abandon)
    }
    #expect(try bench.reply(on: wire).failure == .cancelled)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
  }

  @Test func `an upload is refused before it begins where it can be`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    #expect(try bench.ask(wire) { try $0.upload("a") }.failure == .exists)
    #expect(try bench.ask(wire) { try $0.upload("b/") }.failure == .nameInvalid)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `a hang-up in the middle of an upload leaves the old value`() throws {
    let bench = try Bench()
    let other = try bench.unlocked()
    _ = try bench.ask(other) { try $0.put("a", "old") }
    var wire: Wire? = try bench.client()
    if let wire {
      #expect(try bench.ask(wire) { try $0.upload("a", flags: .replace) }.isOK)
      try wire.send { try $0.data(Self.pattern(65_536)) }
    }
    try bench.turn(2)
    wire = nil
    try bench.turn(2)
    #expect(try bench.ask(other) { try $0.get("a") }.value == "old")
  }
}

// MARK: - Fairness

extension StreamTests {
  /// A vault with a value that does not fit into a socket.
  private func withLargeValue() throws -> (Bench, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try upload(Self.pattern(4 << 20), as: "big", bench, wire).isOK)
    _ = try bench.ask(wire) { try $0.put("small", "1") }
    return (bench, wire)
  }

  @Test func `a get is served between two slices of a stream`() throws {
    let (bench, other) = try withLargeValue()
    let slow = try bench.client()
    try slow.send { try $0.get("big") }
    try bench.turn(2)
    try other.send { try $0.get("small") }
    try bench.turn()
    other.receive()
    #expect(try other.nextFrame()?.value == "1")
    slow.receive(atMost: 1)
    #expect(!slow.isAtEnd)
  }

  /// What is counted is the whole process's, so it has one of its own.
  @Test func `a client that does not read costs two slices of memory`() async {
    await #expect(processExitsWith: .success) {
      let (bench, _) = try StreamTests().withLargeValue()
      let before = LockedMemory.status
      let slow = try bench.client()
      try slow.send { try $0.get("big") }
      try bench.turn(50)
      let after = LockedMemory.status
      let grown =
        after.lockedByteCount + after.unlockedByteCount - before.lockedByteCount
        - before.unlockedByteCount
      // Eight chunks in the outbox of a small socket, as many opened ahead and as many sealed ones'
      // places, in regions of 512 KiB.
      #expect(grown <= 2 << 20)
    }
  }

  @Test func `a client that takes nothing for thirty seconds is cut`() throws {
    let (bench, other) = try withLargeValue()
    let slow = try bench.client()
    try slow.send { try $0.get("big") }
    try bench.turn(50)
    bench.clock.pass(milliseconds: 29_999)
    try bench.turn(2)
    slow.receive()
    try bench.turn(2)
    bench.clock.pass(milliseconds: 29_999)
    try bench.turn(2)
    #expect(try bench.ask(other) { try $0.putRequest(.agentStatus) }.isOK)
    bench.clock.pass(milliseconds: 30_000)
    try bench.turn(2)
    try bench.awaitEnd(of: slow)
  }

  @Test func `a client that takes something again is not cut for what it did not take before`()
    throws
  {
    let (bench, _) = try withLargeValue()
    let slow = try bench.client()
    try slow.send { try $0.get("big") }
    try bench.turn(50)
    bench.clock.pass(milliseconds: 20_000)
    slow.receive()
    try bench.turn()
    bench.clock.pass(milliseconds: 20_000)
    try bench.turn()
    let (count, end) = try rest(bench, slow)
    #expect(count == 4 << 20)
    #expect(end.isOK)
  }

  /// Reads what a stream still has, up to its end.
  private func rest(_ bench: Bench, _ wire: Wire) throws -> (count: Int, end: Received) {
    var count = 0
    while true {
      let frame = try bench.reply(on: wire)
      if frame.type == .end { return (count, frame) }
      if frame.type == .data { count += frame.payload.count }
    }
  }

  @Test func `a lock in the middle of a download ends it, and says why`() throws {
    let (bench, other) = try withLargeValue()
    let slow = try bench.client()
    try slow.send { try $0.get("big") }
    try bench.turn(50)
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let (count, end) = try rest(bench, slow)
    #expect(count < 4 << 20)
    #expect(end.lockReason == .asked)
    #expect(try bench.ask(slow) { try $0.get("small") }.lockReason == .asked)
  }

  @Test func `a client that takes parts of slices is told just so`() throws {
    let (bench, other) = try withLargeValue()
    let slow = try bench.client()
    try slow.send { try $0.get("big") }
    for _ in 0..<40 {
      try bench.turn(3)
      slow.receive(atMost: 10_000)
    }
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try rest(bench, slow).end.lockReason == .asked)
  }

  @Test func `a lock in the middle of an upload is told at once, and the rest thrown away`() throws
  {
    let (bench, other) = try withLargeValue()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.upload("new") }.isOK)
    try wire.send { try $0.data(Self.pattern(65_536)) }
    try bench.turn(2)
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.reply(on: wire).lockReason == .asked)
    try wire.send { buffer in
      try buffer.data(Self.pattern(65_536))
      try buffer.putUploadEnd(.commit)
    }
    #expect(try bench.ask(wire) { try $0.putRequest(.agentStatus) }.type == .reply)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("new") }.failure == .notFound)
  }

  @Test func `the clocks run out in the middle of a stream, too`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(max: 10_000)
    #expect(try upload(Self.pattern(4 << 20), as: "big", bench, wire).isOK)
    try wire.send { try $0.get("big") }
    try bench.turn(50)
    bench.clock.pass(milliseconds: 10_000)
    #expect(try rest(bench, wire).end.lockReason == .sessionLimit)
  }

  @Test func `a stream that is read is use, slice by slice`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(idle: 1_000)
    #expect(try upload(Self.pattern(1 << 20), as: "big", bench, wire).isOK)
    var count = try bench.ask(wire) { try $0.get("big") }.isOK ? 0 : -1_000
    while case let frame = try bench.reply(on: wire), frame.type == .data {
      count += 1
      bench.clock.pass(milliseconds: 100)
    }
    #expect(count == 16)
    #expect(try bench.status(wire)?.state == .unlocked)
  }
}
