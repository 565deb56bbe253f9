// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraFormat
import KuraProtocol
import Testing

@Suite struct TryTests {
  /// A bench with a vault, and a client that has not tried anything.
  private func bench() throws -> (Bench, Wire) {
    let bench = try Bench()
    try bench.create()
    return (bench, try bench.client())
  }

  /// Another agent of the same user.
  private func second(
    _ first: Bench, _ adjust: (inout AgentConfiguration) -> Void = { _ in }
  ) throws -> (Bench, Wire) {
    let bench = try Bench { configuration in
      configuration.stateDirectory = first.scratch.path + "/state"
      adjust(&configuration)
    }
    return (bench, try bench.client(of: first.vault))
  }

  /// Tries so many different wrong passcodes.
  private func mistake(_ count: Int, _ bench: Bench, _ wire: Wire) throws {
    for number in 0..<count {
      let reply = try bench.ask(wire) { try $0.unlock("wrong \(number)") }
      guard reply.failure == .wrongPasscode else { throw TestFailure("\(reply.payload)") }
    }
  }

  private func passcodes(_ bench: Bench, _ wire: Wire) throws -> TryReport? {
    try bench.status(wire)?.tries.first { $0.kind == .passcode }
  }

  @Test func `a wrong passcode says how many there were, and the fifth how long to wait`() throws {
    let (bench, wire) = try bench()
    for number in 1...5 {
      let wrong = try bench.ask(wire) { try $0.unlock("wrong \(number)") }.wrong
      #expect(wrong?.failures == UInt32(number))
      #expect(wrong?.wait == (number == 5 ? 5_000 : 0))
    }
  }

  @Test func `after five nothing is tried until the wait is over`() throws {
    let (bench, wire) = try bench()
    try mistake(5, bench, wire)
    bench.clock.pass(milliseconds: 1_000)
    for passcode in ["wrong", Bench.passcode] {
      #expect(try bench.ask(wire) { try $0.unlock(passcode) }.throttle == 4_000)
    }
    bench.clock.pass(milliseconds: 4_000)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try passcodes(bench, wire)?.failures == 0)
  }

  @Test func `status shows what is left, then the wait`() throws {
    let (bench, wire) = try bench()
    #expect(try passcodes(bench, wire)?.left == 5)
    try mistake(3, bench, wire)
    let left = TryReport(kind: .passcode, failures: 3, left: 2, wait: 0)
    #expect(try bench.status(wire)?.tries == [left])
    // Others than before: what was tried once is no mistake again.
    for passcode in ["fourth", "fifth"] {
      #expect(try bench.ask(wire) { try $0.unlock(passcode) }.failure == .wrongPasscode)
    }
    bench.clock.pass(milliseconds: 1_000)
    let wait = TryReport(kind: .passcode, failures: 5, left: 0, wait: 4_000)
    #expect(try bench.status(wire)?.tries == [wait])
  }

  @Test func `the same wrong passcode is one mistake`() throws {
    let (bench, wire) = try bench()
    for _ in 0..<20 {
      #expect(try bench.ask(wire) { try $0.unlock("yesterday's") }.failure == .wrongPasscode)
    }
    #expect(try passcodes(bench, wire)?.failures == 1)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `a mistake made before begins no wait, whatever was tried since`() throws {
    let (bench, wire) = try bench()
    try mistake(5, bench, wire)
    bench.clock.pass(milliseconds: 5_000)
    for _ in 0..<3 {
      let wrong = try bench.ask(wire) { try $0.unlock("wrong 3") }.wrong
      #expect(wrong?.failures == 5 && wrong?.wait == 0)
    }
    #expect(try passcodes(bench, wire)?.failures == 5)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `a mistake is remembered for each vault, until something is right`() throws {
    let (bench, wire) = try bench()
    let path = bench.scratch.path + "/data/other.kura"
    try bench.create(at: path)
    let other = try bench.client(of: path)
    for client in [wire, other, wire, other] {
      #expect(try bench.ask(client) { try $0.unlock("yesterday's") }.failure == .wrongPasscode)
      #expect(try passcodes(bench, client)?.failures == 1)
    }
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    _ = try bench.ask(wire) { try $0.unlock("yesterday's") }
    #expect(try passcodes(bench, wire)?.failures == 1)
  }

  @Test func `a change of the passcode is slowed down like an unlock`() throws {
    let (bench, wire) = try bench()
    try mistake(4, bench, wire)
    let wrong = try bench.ask(wire) { try $0.changePasscode("another", to: "new") }
    #expect(wrong.wrong?.wait == 5_000)
    let early = try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "new") }
    #expect(early.failure == .throttled)
    bench.clock.pass(milliseconds: 5_000)
    #expect(try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "new") }.isOK)
    #expect(try passcodes(bench, wire)?.failures == 0)
  }

  @Test func `a passcode that cannot be one is no try`() throws {
    let (bench, wire) = try bench()
    for _ in 0..<6 {
      #expect(try bench.ask(wire) { try $0.unlock("") }.failure == .passcodeInvalid)
    }
    let keyFile = try bench.ask(wire) { try $0.unlock("no slot for it", kind: .keyFile) }
    #expect(keyFile.failure == .noSuchSlot)
    #expect(try passcodes(bench, wire)?.failures == 0)
  }
}

// MARK: - Slots that cost too much

extension TryTests {
  /// The header of the passcode's slot, with 17 passes.
  private static let costly =
    "CAST(substr(header, 1, 4) || x'11000000' || substr(header, 9) AS BLOB)"

  @Test func `a slot that costs too much is no wrong passcode, and no try`() throws {
    let (bench, wire) = try bench()
    try VaultEdit.run(
      "UPDATE slot SET header = \(Self.costly) WHERE number = 0", at: bench.vault)
    for number in 0..<6 {
      #expect(try bench.ask(wire) { try $0.unlock("wrong \(number)") }.failure == .kdfTooCostly)
    }
    #expect(try passcodes(bench, wire)?.failures == 0)
  }

  @Test func `a wrong passcode beside such a slot is not called one, but is a try`() throws {
    let (bench, wire) = try bench()
    try VaultEdit.run(
      "INSERT INTO slot SELECT 9, \(Self.costly), key, protected FROM slot WHERE number = 0",
      at: bench.vault)
    #expect(try bench.ask(wire) { try $0.unlock("wrong") }.failure == .kdfTooCostly)
    #expect(try passcodes(bench, wire)?.failures == 1)
    // The right one opens its slot; that somebody was at the file is seen then.
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.failure == .damaged)
  }
}

// MARK: - Recovery keys

extension TryTests {
  @Test func `a recovery key is taken at once, and clears the count`() throws {
    let bench = try Bench()
    let maker = try bench.client()
    let created = try bench.ask(maker) { try $0.create("x", flags: [.weakKDF, .recoveryKey]) }
    _ = try bench.ask(maker) { try $0.putConfirm() }
    let key = try #require(created.recoveryKey)
    let wire = try bench.client()
    try mistake(5, bench, wire)
    #expect(try bench.ask(wire) { try $0.unlock("x") }.failure == .throttled)
    #expect(try bench.ask(wire) { try $0.unlock(key, kind: .recoveryKey) }.isOK)
    #expect(try passcodes(bench, wire)?.failures == 0)
  }
}

// MARK: - Notices

extension TryTests {
  private func notices(_ bench: Bench, _ wire: Wire) throws -> Notice {
    let reply = try bench.ask(wire) { try $0.unlock(Bench.passcode) }
    return try UnlockReply(reply: reply.payload.span).notices
  }

  @Test func `mistakes of others are told at the next unlock, own ones are not`() throws {
    let (bench, wire) = try bench()
    try mistake(2, bench, wire)
    #expect(try !notices(bench, wire).contains(.triesFailed))
    #expect(try bench.ask(wire) { try $0.unlock("a third") }.failure == .wrongPasscode)
    #expect(try notices(bench, try bench.client()).contains(.triesFailed))
    #expect(try !notices(bench, wire).contains(.triesFailed))
  }

  @Test func `a count that cannot be kept is told, and does not stop the owner`() throws {
    let (bench, wire) = try bench()
    _ = try notices(bench, wire)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".tries") })
    let path = bench.scratch.path + "/state/" + name
    #expect(remove(path) == 0)
    #expect(mkdir(path, 0o700) == 0)
    #expect(try notices(bench, wire).contains(.triesNotKept))
    #expect(try bench.status(wire)?.weaknesses.contains(.triesNotKept) == true)
    try mistake(8, bench, wire)
    #expect(rmdir(path) == 0)
    #expect(try !notices(bench, wire).contains(.triesNotKept))
    #expect(try bench.status(wire)?.weaknesses.contains(.triesNotKept) == false)
  }
}

extension TryTests {
  @Test func `a code is not tried while it cannot be counted, be it the right one`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.add(SlotOrder(.local), "2468", on: wire).isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".tries") })
    let path = bench.scratch.path + "/state/" + name
    #expect(remove(path) == 0)
    #expect(mkdir(path, 0o700) == 0)
    for code in ["1111", "2222", "2468"] {
      let reply = try bench.ask(wire) { try $0.unlock(code, kind: .local) }
      #expect(reply.refusal == .triesNotKept)
    }
    #expect(rmdir(path) == 0)
    #expect(try bench.ask(wire) { try $0.unlock("2468", kind: .local) }.isOK)
  }
}

// MARK: - Several engines

extension TryTests {
  @Test func `all agents of a user count together`() throws {
    let (first, wire) = try bench()
    try mistake(3, first, wire)
    let (other, guest) = try second(first)
    #expect(try passcodes(other, guest)?.failures == 3)
    // What was wrong for the one is news to the other.
    try mistake(2, other, guest)
    #expect(try first.ask(wire) { try $0.unlock(Bench.passcode) }.failure == .throttled)
    #expect(try other.ask(guest) { try $0.unlock(Bench.passcode) }.failure == .throttled)
  }

  @Test func `a restart of the machine begins the wait again`() throws {
    let (first, wire) = try bench()
    try mistake(5, first, wire)
    first.clock.pass(milliseconds: 60_000)
    #expect(try passcodes(first, wire)?.wait == 0)
    let (other, guest) = try second(first) { configuration in
      configuration.origin.boot = .zero
      let clock = ManualClock(boot: 200_000)
      configuration.clock = { clock.now }
    }
    // Whatever names the start of the machine could be another file in a namespace of one's own.
    #expect(try passcodes(other, guest)?.wait == 5_000)
    #expect(try other.ask(guest) { try $0.unlock(Bench.passcode) }.throttle == 5_000)
  }

  @Test func `another time namespace begins the wait anew, once`() throws {
    let (first, wire) = try bench()
    try mistake(5, first, wire)
    let clock = ManualClock(boot: 1 << 40)
    let (other, guest) = try second(first) { configuration in
      configuration.origin.namespace = 7
      configuration.clock = { clock.now }
    }
    #expect(try passcodes(other, guest)?.wait == 5_000)
    #expect(try other.ask(guest) { try $0.unlock(Bench.passcode) }.throttle == 5_000)
    clock.pass(milliseconds: 4_999)
    #expect(try other.ask(guest) { try $0.unlock(Bench.passcode) }.throttle == 1)
    clock.pass(milliseconds: 1)
    #expect(try other.ask(guest) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `one key derivation runs at a time, and nobody else is kept waiting`() throws {
    let (bench, wire) = try bench()
    try mistake(1, bench, wire)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".tries") })
    let held = open(bench.scratch.path + "/state/" + name, O_RDWR | O_CLOEXEC)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    try wire.send { try $0.unlock(Bench.passcode) }
    try bench.turn(3)
    let other = try bench.client()
    #expect(try bench.status(other)?.state == .unlocking)
    #expect(try passcodes(bench, other)?.failures == 1)
    #expect(flock(held, LOCK_UN) == 0)
    #expect(try bench.reply(on: wire).isOK)
  }

  @Test func `a try in another engine keeps no other vault waiting, nor a lock`() throws {
    let (bench, wire) = try bench()
    try mistake(1, bench, wire)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".tries") })
    let held = open(bench.scratch.path + "/state/" + name, O_RDWR | O_CLOEXEC)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    try wire.send { try $0.unlock(Bench.passcode) }
    try bench.turn(3)
    let second = bench.scratch.path + "/data/second.kura"
    try bench.create(at: second)
    let other = try bench.client(of: second)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    // A lock takes back what has not begun.
    let third = try bench.client()
    _ = try bench.ask(third) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.reply(on: wire).failure == .locked)
    try bench.settle(third)
    #expect(try bench.status(third)?.state == .locked)
    try wire.send { try $0.unlock(Bench.passcode) }
    var reply: Received?
    for _ in 0..<10_000 where reply == nil {
      bench.clock.pass(milliseconds: 20_000)
      try bench.agent.turn(waitingAtMost: 1)
      wire.receive()
      reply = try wire.nextFrame()
    }
    #expect(reply?.failure == .tooBusy)
  }

  @Test func `an engine that is killed while it derives has had its try`() throws {
    let bench = try Bench()
    let maker = try bench.client()
    let slow = KDFParameters(memory: 64 << 20, passes: 16)
    let created = try bench.ask(maker) {
      try $0.putRequest(.create(.init(passcode: "x".utf8.span, cost: slow, flags: [])))
    }
    #expect(created.isOK)
    #expect(try bench.ask(maker) { try $0.putConfirm() }.isOK)
    let state = bench.scratch.path + "/.local/state/kura"
    let (input, wire) = try Wire.pair()
    let engine = try AgentProcess(["--stdio"], home: bench.scratch.path, input: input)
    close(input)
    try wire.send { try $0.hello(bench.vault) }
    try wire.send { try $0.unlock("x") }
    let isCounted = try awaitRecord(in: bench.scratch)
    engine.signal(SIGKILL)
    #expect(try engine.wait() == 128 + SIGKILL)
    #expect(isCounted)
    let (other, guest) = try second(bench) { $0.stateDirectory = state }
    #expect(try passcodes(other, guest)?.failures == 1)
  }

  /// Waits until a record was written.
  private func awaitRecord(in scratch: Scratch) throws -> Bool {
    for _ in 0..<20_000 {
      let names = scratch.names(in: ".local/state/kura")
      if let name = names.first(where: { $0.hasSuffix(".tries") }) {
        var status = stat()
        if stat(scratch.path + "/.local/state/kura/" + name, &status) == 0, status.st_size == 512 {
          return true
        }
      }
      usleep(500)
    }
    return false
  }
}
