// SPDX-License-Identifier: MIT

import CKuraSystem
import Glibc
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

@Suite struct `What a client shows of itself` {
  private static let own = getpid()

  /// Whether a client of a number is held by what a process has sent and handed over.
  private func holds(_ process: Int32, sent sender: Int32, _ handed: Int32) -> Bool {
    let held = Showing(sender: sender, handed: handed).held(of: process)
    switch held {
    case .none: return false
    case .some(let held): return kura_process_has_ended(held.raw) == 0
    }
  }

  @Test func `holds the process that sent it`() {
    #expect(holds(Self.own, sent: Self.own, kura_process_hold(Self.own)))
  }

  @Test func `holds nobody else than who sent it, and who connected`() {
    let other = getppid()
    #expect(!holds(Self.own, sent: other, kura_process_hold(Self.own)))
    #expect(!holds(Self.own, sent: 0, kura_process_hold(Self.own)))
    #expect(!holds(Self.own, sent: Self.own, kura_process_hold(other)))
    #expect(!holds(Self.own, sent: other, kura_process_hold(other)))
    #expect(!holds(0, sent: 0, kura_process_hold(Self.own)))
  }

  @Test func `is nothing where it is no process, or one that has ended`() throws {
    #expect(!holds(Self.own, sent: Self.own, -1))
    let file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
    #expect(file >= 0)
    #expect(!holds(Self.own, sent: Self.own, file))
    let home = try Home()
    let child = try home.agent()
    let handed = kura_process_hold(child.identifier)
    child.signal(SIGKILL)
    _ = try child.wait()
    #expect(!holds(child.identifier, sent: child.identifier, handed))
  }
}

/// An agent whose kernel tells of no peer, whose owner has answered for `a`, in the tree that the tests are in.
@Suite struct `An agent whose kernel tells of no peer` {
  private let bench: Bench

  init() throws {
    let own = UInt32(getpid())
    let processes = Processes([
      link(own, below: 10, at: 0, "kura"), link(10, below: 5, at: 0), link(5, below: 1, at: 0),
    ])
    let holder = Holder(processes)
    bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.holdProcess = holder.hold
      configuration.livesAtEnd = { _ in nil }
    }
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1", flags: .protect) }.isOK)
    #expect(try bench.ask(wire) { try $0.set(.reuseWindow, 300_000) }.isOK)
    let asker = try shown()
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(asker) { try $0.putRequest(.authorize(.init(.passcode, secret: word))) }.isOK)
    #expect(try bench.ask(asker) { try $0.get("a") }.isOK)
  }

  /// A client that has said hello, and shown itself with it.
  private func shown() throws -> Wire {
    let wire = try bench.connect()
    try show(wire) { try $0.hello(bench.vault) }
    #expect(try bench.reply(on: wire).type == .agentHello)
    return wire
  }

  private func show(_ wire: Wire, _ build: (inout SecretBuffer) throws -> Void) throws {
    var buffer = try SecretBuffer(capacity: 4_096)
    try build(&buffer)
    let bytes = (0..<buffer.count).map { buffer.bytes[$0] }
    let sent = bytes.withUnsafeBytes {
      kura_socket_send_first(wire.raw, $0.baseAddress!, $0.count, 1_000)
    }
    #expect(sent == bytes.count)
  }

  @Test func `serves who has shown itself what was answered for`() throws {
    let wire = try shown()
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `serves who has not what anybody may have`() throws {
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
    #expect(try bench.ask(wire) { try $0.show("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.mask) }.failure == .unsupported)
  }

  @Test func `knows of an end that comes after it was shown`() throws {
    let home = try Home()
    let child = try home.agent()
    let (ours, wire) = try Wire.pair()
    let connection = try #require(
      try bench.agent.admit(Descriptor(owning: ours), of: getuid(), child.identifier))
    #expect(bench.agent.lives(connection) == nil)
    connection.held = Descriptor(owning: kura_process_hold(child.identifier))
    #expect(bench.agent.lives(connection) == true)
    child.signal(SIGKILL)
    _ = try child.wait()
    #expect(bench.agent.lives(connection) == false)
    _ = wire
  }

  @Test func `hears nothing of that once a byte has come`() throws {
    let wire = try bench.client()
    try show(wire) { try $0.get("a") }
    #expect(try bench.reply(on: wire).failure == .protected)
  }
}
