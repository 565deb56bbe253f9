// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraProtocol
import SecureMemory
import Synchronization
import TestGround

/// The clocks of a machine that a test sets going, and leaves standing otherwise.
final class ManualClock: Sendable {
  private let moment: Mutex<Moment>

  init(boot: UInt64 = 100_000) {
    moment = Mutex(Moment(boot: boot, monotonic: boot * 9 / 10, wall: 1_700_000_000_000))
  }

  var now: Moment { moment.withLock { $0 } }

  func pass(milliseconds: UInt64) {
    moment.withLock { moment in
      moment.boot += milliseconds
      moment.monotonic += milliseconds
      moment.wall += milliseconds
    }
  }

  /// The clock on the wall is read a moment later than the others, or was set.
  func drift(milliseconds: UInt64) { moment.withLock { $0.wall += milliseconds } }

  func sleep(milliseconds: UInt64) {
    moment.withLock { moment in
      moment.boot += milliseconds
      moment.wall += milliseconds
    }
  }
}

/// A directory of a test's own, gone at its end.
final class Scratch {
  let path: String

  init() throws {
    path = try Ground.onDisk.directory("agent")
  }

  deinit { Self.remove(path) }

  /// The names in a directory below.
  func names(in name: String) -> [String] { Self.names(path + "/" + name) }

  private static func names(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func remove(_ path: String) {
    for name in names(path) { remove(path + "/" + name) }
    _ = Glibc.remove(path)
  }
}

/// An agent in the test's own thread: nothing happens in it but in ``turn()``.
final class Bench {
  let scratch: Scratch
  let clock = ManualClock()
  let agent: Agent
  let vault: String

  init(_ adjust: (inout AgentConfiguration) -> Void = { _ in }) throws {
    scratch = try Scratch()
    vault = scratch.path + "/data/default.kura"
    var configuration = AgentConfiguration(stateDirectory: scratch.path + "/state")
    let clock = clock
    configuration.clock = { clock.now }
    adjust(&configuration)
    agent = try Agent(configuration)
  }

  /// A client that is connected and has said nothing.
  func connect() throws -> Wire {
    let (ours, wire) = try Wire.pair()
    try agent.serve(socket: ours)
    return wire
  }

  /// A client that has said hello.
  func client(of vault: String? = nil) throws -> Wire {
    let wire = try connect()
    try wire.send { try $0.hello(vault ?? self.vault) }
    guard try reply(on: wire).type == .agentHello else { throw TestFailure("no hello came") }
    return wire
  }

  /// One round of the agent, without waiting.
  func turn(_ count: Int = 1) throws {
    for _ in 0..<count { try agent.turn(waitingAtMost: 0) }
  }

  /// Turns until a frame came on a wire.
  func reply(on wire: Wire) throws -> Received {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      wire.receive()
      if let frame = try wire.nextFrame() { return frame }
      if wire.isAtEnd { throw TestFailure("the agent hung up") }
      try agent.turn(waitingAtMost: 5)
    }
    throw TestFailure("no frame came in time")
  }

  /// Sends a request and turns until it was answered.
  func ask(
    _ wire: Wire, _ build: (inout SecretBuffer) throws -> Void
  ) throws -> Received {
    try wire.send(build)
    return try reply(on: wire)
  }

  /// Turns until the agent hung up.
  func awaitEnd(of wire: Wire) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while !wire.isAtEnd {
      guard ContinuousClock.now < deadline else { throw TestFailure("the agent did not hang up") }
      try agent.turn(waitingAtMost: 5)
      wire.receive()
    }
  }
}

// MARK: - Vaults

extension Bench {
  static let passcode = "correct horse"

  /// Creates a vault.
  func create(at path: String? = nil) throws {
    let wire = try client(of: path)
    guard try ask(wire, { try $0.create(Self.passcode) }).isOK,
      try ask(wire, { try $0.putConfirm() }).isOK
    else { throw TestFailure("the vault was not created") }
  }

  /// A client of a vault that was created and unlocked.
  func unlocked(idle: UInt64 = 0, max: UInt64 = 0) throws -> Wire {
    try create()
    let wire = try client()
    let reply = try ask(wire) { try $0.unlock(Self.passcode, idle: idle, max: max) }
    guard reply.isOK else { throw TestFailure("not unlocked: \(reply.payload)") }
    return wire
  }

  /// Asks for another slot; a cheap one where it is derived.
  func add(
    _ order: SlotOrder, _ secret: String, with passcode: String = Bench.passcode, on wire: Wire
  ) throws -> Received {
    var order = order
    if order.kind == .passcode || order.kind == .local {
      order.cost = KDFParameters(memory: 8_192, passes: 1)
      order.flags.insert(.weakKDF)
    }
    return try ask(wire) {
      try $0.putRequest(
        .slotAdd(
          .init(
            SlotAuthority(.passcode, secret: passcode.utf8.span), order, secret: secret.utf8.span,
            label: order.label.utf8.span, place: order.place.utf8.span)))
    }
  }

  func status(_ wire: Wire) throws -> StatusReport? {
    try ask(wire) { try $0.putRequest(.status) }.status
  }
}

// MARK: - The worker

extension Bench {
  /// Turns until no key derivation of the vault is under way.
  func settle(_ wire: Wire) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while try status(wire)?.state == .unlocking {
      guard ContinuousClock.now < deadline else { throw TestFailure("the worker did not end") }
      try agent.turn(waitingAtMost: 5)
    }
  }
}
