// SPDX-License-Identifier: MIT

import Glibc
import KuraFormat
import KuraHardware
import KuraProtocol
import SecureMemory
import Synchronization
import Testing

@testable import KuraAgent

/// Plays the program that asks for a finger: a test says what it tells.
private final class Reader: Sendable {
  private let ends = Mutex<[Int32]>([])
  private let fault: Int32

  init(fault: Int32 = 0) { self.fault = fault }

  deinit { ends.withLock { for end in $0 { close(end) } } }

  /// How often it was started.
  var count: Int { ends.withLock { $0.count } }

  func start() -> Int32 {
    guard fault == 0 else { return fault }
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | 0o2_000_000, 0, &pair) == 0 else {
      return -errno
    }
    let (agent, own) = (pair[0], pair[1])
    ends.withLock { $0.append(own) }
    return agent
  }

  func say(_ bytes: UInt8...) {
    let last = ends.withLock { $0.last ?? -1 }
    _ = send(last, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  func say(_ answers: FingerAnswer...) { for answer in answers { say(answer.byte) } }

  /// Ends without another word.
  func end() {
    let last = ends.withLock { $0.popLast() }
    if let last { close(last) }
  }

  /// Whether the agent hung up on the one that was started last.
  var isLetGo: Bool {
    let last = ends.withLock { $0.last ?? -1 }
    var byte: UInt8 = 0
    return recv(last, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }
}

/// Fingers that show who is there, and open nothing.
@Suite struct FingerTests {
  private let reader: Reader
  private let bench: Bench
  /// Of a vault that is unlocked.
  private let wire: Wire

  init() throws { try self.init(Reader()) }

  private init(_ reader: Reader) throws {
    bench = try Bench { $0.startFinger = { reader.start() } }
    self.reader = reader
    wire = try bench.unlocked()
    guard try bench.ask(wire, { try $0.set(.fingerprint, 1) }).isOK else {
      throw TestFailure("it was not switched on")
    }
  }

  /// Turns until something is so.
  private func turn(until condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while !condition() {
      guard ContinuousClock.now < deadline else { throw TestFailure("it did not come to that") }
      try bench.agent.turn(waitingAtMost: 5)
    }
  }

  /// What comes of a finger of which the program says that much.
  @discardableResult
  private func ask(_ answers: FingerAnswer..., on wire: Wire? = nil) throws -> Received {
    let wire = wire ?? self.wire
    try wire.send { try $0.putRequest(.finger) }
    let before = reader.count
    try turn { reader.count > before }
    for answer in answers { reader.say(answer) }
    let frame = try bench.reply(on: wire)
    guard frame.type == .progress else { return frame }
    return try bench.reply(on: wire)
  }

  private func entries() throws -> [LogFacts] {
    var entries: [LogFacts] = []
    var frame = try bench.ask(wire) { try $0.putRequest(.log) }
    while frame.type != .end {
      if frame.type != .data { throw TestFailure("the log was refused: \(frame.payload)") }
      for case .entry(let facts, _, _, _, _) in try LogBatch(frame.payload.span).parts
      where facts.verb == Verb.finger.rawValue { entries.append(facts) }
      frame = try bench.reply(on: wire)
    }
    return entries
  }

  @Test func `one that matches is the answer, and stands in the log`() throws {
    #expect(try ask(.ready, .match).isOK)
    #expect(reader.isLetGo)
    #expect(try entries().map(\.code) == [0])
  }

  @Test func `it is told when a reader waits, and not before`() throws {
    try wire.send { try $0.putRequest(.finger) }
    try bench.turn(3)
    #expect(!wire.waitReadable(milliseconds: 0))
    reader.say(.ready)
    #expect(try bench.reply(on: wire).type == .progress)
    reader.say(.match)
    #expect(try bench.reply(on: wire).isOK)
  }

  @Test func `it opens nothing, and is no word of the owner's`() throws {
    #expect(try bench.ask(wire) { try $0.put("pin", "1234") }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.protect(.init(name: "pin".utf8.span))) }.isOK)
    #expect(try ask(.ready, .match).isOK)
    #expect(try bench.ask(wire) { try $0.get("pin") }.failure == .protected)
    let loosen = ConfigRequest(.set, key: .idleTimeout, value: 604_800_000)
    #expect(try bench.ask(wire) { try $0.putRequest(.config(loosen)) }.failure == .ownerNeeded)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.finger) }.failure == .locked)
    #expect(reader.count == 1)
  }

  @Test func `a lock while the reader waits ends it, whatever comes after`() throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    let other = try bench.client()
    reader.say(.ready)
    #expect(try bench.reply(on: wire).type == .progress)
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    reader.say(.match)
    #expect(try bench.reply(on: wire).failure == .locked)
    #expect(reader.isLetGo)
  }

  @Test func `a machine that slept is locked before a match counts`() throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    bench.clock.sleep(milliseconds: 60_000)
    reader.say(.ready, .match)
    #expect(try bench.reply(on: wire).failure == .locked)
  }

  @Test func `who hangs up has the reader let go of`() throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    _ = shutdown(wire.raw, Int32(SHUT_RDWR))
    try turn { reader.isLetGo }
  }

  @Test func `where it was not switched on nobody is asked, nor where it was switched off`() throws
  {
    #expect(try bench.ask(wire) { try $0.set(.fingerprint, 0) }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.finger) }.refusal == .fingerUnfit(.off))
    #expect(reader.count == 0)
    #expect(try bench.ask(wire) { try $0.set(.fingerprint, 1) }.isOK)
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.set(.fingerprint, 0) }.isOK)
    reader.say(.ready, .match)
    #expect(try bench.reply(on: wire).type == .progress)
    #expect(try bench.reply(on: wire).refusal == .fingerUnfit(.off))
  }

  @Test func `either takes the passcode`() throws {
    for value: UInt64 in [0, 1] {
      let change = ConfigRequest(.set, key: .fingerprint, value: value)
      let isSo = value == 1
      let reply = try bench.ask(wire) { try $0.putRequest(.config(change)) }
      #expect(isSo ? reply.isOK : reply.failure == .ownerNeeded)
    }
  }
}

// MARK: - Tries

extension FingerTests {
  @Test func `after five that do not match only the passcode counts until it has worked`() throws {
    for left: UInt32 in [4, 3, 2, 1, 0] {
      #expect(try ask(.ready, .noMatch).refusal == .fingerWrong(left: left))
    }
    #expect(try bench.ask(wire) { try $0.putRequest(.finger) }.refusal == .fingerUnfit(.spent))
    #expect(reader.count == 5)
    #expect(try entries().map(\.code) == .init(repeating: Failure.fingerWrong.rawValue, count: 5))
    #expect(try bench.ask(wire) { try $0.unlock("wrong") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.putRequest(.finger) }.refusal == .fingerUnfit(.spent))
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try ask(.ready, .match).isOK)
  }

  @Test func `a code that is typed for the passcode does not make them count again`() throws {
    #expect(try bench.add(SlotOrder(.local), "2468", on: wire).isOK)
    #expect(try ask(.ready, .lockedOut).refusal == .fingerUnfit(.spent))
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.finger) }.refusal == .fingerUnfit(.spent))
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try ask(.ready, .match).isOK)
  }

  @Test func `a match does not make up for those that were wrong`() throws {
    for _ in 0..<4 { try ask(.ready, .noMatch) }
    #expect(try ask(.ready, .match).isOK)
    #expect(try ask(.ready, .noMatch).refusal == .fingerWrong(left: 0))
  }

  @Test func `what is no finger is no failure`() throws {
    for fault in [FingerFault.unplugged, .timedOut, .noReader, .busy, .failed, .denied] {
      for _ in 0..<2 { #expect(try ask(.ready, .fault(fault)).refusal == .fingerUnfit(fault)) }
    }
    #expect(try ask(.ready, .noMatch).refusal == .fingerWrong(left: 4))
  }
}

// MARK: - The program

extension FingerTests {
  @Test(
    arguments: [
      [2], [3], [4], [1, 1], [1, 0], [1, 5], [0], [0x81], [1, 0x82], [1, 0x83], [0xFF],
    ] as [[UInt8]])
  func `one that says what it cannot know is not believed`(_ bytes: [UInt8]) throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    for byte in bytes { reader.say(byte) }
    reader.say(.match)
    var frame = try bench.reply(on: wire)
    if frame.type == .progress { frame = try bench.reply(on: wire) }
    #expect(frame.refusal == .fingerUnfit(.programFailed))
    #expect(try ask(.ready, .noMatch).refusal == .fingerWrong(left: 4))
  }

  @Test(arguments: [false, true])
  func `one that ends says nothing`(_ isReady: Bool) throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    if isReady { reader.say(.ready) }
    reader.end()
    var frame = try bench.reply(on: wire)
    if frame.type == .progress { frame = try bench.reply(on: wire) }
    #expect(frame.refusal == .fingerUnfit(.programFailed))
  }

  @Test func `one that hangs is given up, and holds nobody up meanwhile`() throws {
    try wire.send { try $0.putRequest(.finger) }
    try turn { reader.count > 0 }
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.putRequest(.status) }.isOK)
    bench.clock.pass(milliseconds: 70_000)
    #expect(try bench.reply(on: wire).refusal == .fingerUnfit(.programFailed))
    #expect(reader.isLetGo)
  }

  @Test func `without one nobody is asked`() throws {
    for (fault, reason) in [(-ENOENT, FingerFault.noProgram), (-EMFILE, .programFailed)] {
      let tests = try FingerTests(Reader(fault: fault))
      let reply = try tests.bench.ask(tests.wire) { try $0.putRequest(.finger) }
      #expect(reply.refusal == .fingerUnfit(reason))
    }
  }

  private func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] {
    [UInt8(payload.count + 1), 0, 0, 0, type.rawValue] + payload
  }

  @Test func `no client tells of a finger`() throws {
    // Whatever stands in a request for one, or behind it, ends the connection.
    for bytes: [UInt8] in [[100, 2], [100, 1, 2], [100, 0]] {
      let client = try bench.client()
      try client.send(bytes: frame(.request, bytes))
      #expect(try bench.reply(on: client).failure == .malformed)
    }
    for type in [FrameType.clientData, .clientEnd, .confirm] {
      let client = try bench.client()
      try client.send(bytes: frame(.request, [100]) + frame(type, [2]))
      #expect(try bench.reply(on: client).failure == .malformed)
    }
  }
}
