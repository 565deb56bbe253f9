// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Synchronization
import Testing

@testable import KuraAgent

/// A room is served what its owner named, whatever comes out of it; and who is in other namespaces than the agent, nothing.
@Suite struct RoomTests {
  private let bench: Bench
  /// In how many namespaces the process is that the agent looks at next.
  private let depth: Depth

  private final class Depth: Sendable {
    let number = Mutex<Int?>(1)

    func set(_ new: Int?) { number.withLock { $0 = new } }
  }

  init() throws {
    let depth = Depth()
    self.depth = depth
    bench = try Bench { configuration in
      configuration.depths = { _ in depth.number.withLock { $0 } }
    }
    let owner = try bench.unlocked()
    for (name, value) in [("one", "first"), ("two", "second"), ("caf\u{E9}", "third")] {
      #expect(
        try bench.ask(owner) { try $0.put(name, value, attributes: [("user", "ada")]) }.isOK)
    }
  }

  /// A connection out of a room that may have these items, with the room's hello.
  private func room(_ names: String..., about vault: String? = nil) throws -> Wire {
    let wire = try relay(names)
    try wire.send { try $0.hello(vault ?? bench.vault) }
    return wire
  }

  /// The same before that hello.
  private func relay(_ names: [String]) throws -> Wire {
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.confine(names) }.isOK)
    return wire
  }

  @Test func `a room is served the items that were named`() throws {
    let wire = try room("one", "caf\u{E9}")
    #expect(try bench.reply(on: wire).type == .agentHello)
    #expect(try bench.ask(wire) { try $0.get("one") }.value == "first")
    #expect(try bench.ask(wire) { try $0.attribute("user", of: "one") }.isOK)
    #expect(try bench.ask(wire) { try $0.show("one") }.isOK)
    // However its name is composed.
    #expect(try bench.ask(wire) { try $0.get("cafe\u{301}") }.value == "third")
  }

  @Test func `it is served nothing else`() throws {
    let wire = try room("one", "missing")
    #expect(try bench.reply(on: wire).type == .agentHello)
    let requests: [(inout SecretBuffer) throws -> Void] = [
      { try $0.get("two") }, { try $0.get("one", revision: 1) }, { try $0.get("on") },
      { try $0.get("one/two") }, { try $0.attribute("user", of: "two") }, { try $0.show("two") },
      { try $0.list() }, { try $0.put("one", "mine", flags: .replace) }, { try $0.remove("one") },
      { try $0.putRequest(.status) }, { try $0.putRequest(.slots) }, { try $0.putRequest(.log) },
      { try $0.putRequest(.getSecrets(.init(name: "one".utf8.span))) },
      { try $0.putRequest(.mask) }, { try $0.putRequest(.watch) },
      { try $0.putRequest(.agentStop) }, { try $0.unlock(Bench.passcode) },
    ]
    for request in requests {
      #expect(try bench.ask(wire, request).refusal == .confined(.notServed))
    }
    // That an item is not there, only who may have it learns.
    #expect(try bench.ask(wire) { try $0.get("missing") }.failure == .notFound)
  }

  @Test func `nothing takes it back`() throws {
    let wire = try room("one")
    #expect(try bench.reply(on: wire).type == .agentHello)
    #expect(try bench.ask(wire) { try $0.confine(["two"]) }.refusal == .confined(.notServed))
    #expect(try bench.ask(wire) { try $0.get("two") }.refusal == .confined(.notServed))
    // A second hello is none.
    try wire.send { try $0.hello(bench.vault) }
    #expect(try bench.reply(on: wire).failure == .malformed)
    try bench.awaitEnd(of: wire)
  }

  @Test func `a request in the place of its hello ends it`() throws {
    let wire = try relay(["one"])
    #expect(try bench.ask(wire) { try $0.get("one") }.failure == .malformed)
    try bench.awaitEnd(of: wire)
  }

  @Test func `another vault than the first hello's is not served`() throws {
    let other = bench.scratch.path + "/data/other.kura"
    try bench.create(at: other)
    let wire = try room("one", about: other)
    #expect(try bench.reply(on: wire).refusal == .confined(.otherVault))
    try bench.awaitEnd(of: wire)
  }

  @Test func `what was proved before is not the room's`() throws {
    let owner = try bench.client()
    #expect(try bench.ask(owner) { try $0.putRequest(.protect(.init(name: "two".utf8.span))) }.isOK)
    #expect(
      try bench.ask(owner) {
        try $0.putRequest(.authorize(.init(.passcode, secret: Bench.passcode.utf8.span)))
      }.isOK)
    #expect(try bench.ask(owner) { try $0.get("two") }.value == "second")
    #expect(try bench.ask(owner) { try $0.confine(["two"]) }.isOK)
    try owner.send { try $0.hello(bench.vault) }
    #expect(try bench.reply(on: owner).type == .agentHello)
    #expect(try bench.ask(owner) { try $0.get("two") }.failure == .protected)
  }

  @Test func `who is in other namespaces than the agent is served nothing`() throws {
    for number in [2, 3] {
      depth.set(number)
      let wire = try bench.client()
      depth.set(1)
      for request: (inout SecretBuffer) throws -> Void in [
        { try $0.get("one") }, { try $0.putRequest(.status) }, { try $0.confine(["one"]) },
        { try $0.putRequest(.lock(.init(.asked, scope: .vault))) },
      ] {
        #expect(try bench.ask(wire, request).refusal == .confined(.otherNamespace))
      }
    }
  }

  @Test func `who has ended before he was seen can lock, and nothing else`() throws {
    depth.set(nil)
    let wire = try bench.client()
    depth.set(1)
    #expect(try bench.ask(wire) { try $0.get("one") }.refusal == .confined(.otherNamespace))
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
  }
}

extension SecretBuffer {
  fileprivate mutating func confine(_ names: [String]) throws {
    var list = try SecretBuffer(capacity: 64)
    for name in names { try list.put16(name.utf8.span) }
    try putRequest(.confine(.init(KeyFields(list.bytes, count: names.count))))
  }
}
