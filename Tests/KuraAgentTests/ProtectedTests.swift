// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

@Suite struct `A protected value of the agent's` {
  /// A bench with a protected item, and the client that stored it.
  private func bench(window: UInt64 = 0) throws -> (Bench, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1", flags: .protect) }.isOK)
    try bench.set(.reuseWindow, window, wire)
    return (bench, wire)
  }

  /// Why the value is refused; nil where it is served.
  private func refusal(_ bench: Bench, _ wire: Wire) throws -> Failure? {
    let reply = try bench.ask(wire) { try $0.get("a") }
    if reply.isOK { #expect(reply.value == "1") }
    return reply.isOK ? nil : reply.failure
  }

  @Test func `is served to the connection that proved the passcode, and to no other`() throws {
    let (bench, wire) = try bench()
    let other = try bench.client()
    #expect(try refusal(bench, wire) == .protected)
    #expect(try bench.authorize(wire).isOK)
    for _ in 0..<3 { #expect(try refusal(bench, wire) == nil) }
    #expect(try refusal(bench, other) == .protected)
  }

  @Test func `is named in the refusal, and its attributes ask for nothing`() throws {
    let (bench, wire) = try bench()
    #expect(try bench.ask(wire) { try $0.get("a") }.refusal == .protected(.text("a")))
    let reply = try bench.ask(wire) {
      try $0.put("a", "1", flags: .replace, attributes: [("user", "me")])
    }
    #expect(reply.isOK)
    #expect(try bench.ask(wire) { try $0.attribute("user", of: "a") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a", revision: 1) }.failure == .protected)
  }

  @Test func `is served for a minute, sleep included`() throws {
    let (bench, wire) = try bench()
    #expect(try bench.authorize(wire).isOK)
    bench.clock.pass(milliseconds: 59_999)
    #expect(try refusal(bench, wire) == nil)
    bench.clock.pass(milliseconds: 1)
    #expect(try refusal(bench, wire) == .protected)
  }

  @Test func `counts wrong passcodes as an unlock does`() throws {
    let (bench, wire) = try bench()
    for number in 1...5 {
      let refusal = try bench.authorize(wire, "wrong \(number)")
      #expect(refusal.wrong?.failures == UInt32(number))
    }
    #expect(try bench.authorize(wire).failure == .throttled)
    #expect(try refusal(bench, wire) == .protected)
    bench.clock.pass(milliseconds: 5_000)
    #expect(try bench.authorize(wire).isOK)
  }

  @Test func `is not served after a lock, whoever unlocks`() throws {
    let (bench, wire) = try bench(window: 300_000)
    #expect(try bench.authorize(wire).isOK)
    #expect(try refusal(bench, wire) == nil)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try refusal(bench, wire) == .locked)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try refusal(bench, wire) == .protected)
  }

  @Test func `takes an unlocked vault`() throws {
    let (bench, wire) = try bench()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.authorize(wire).failure == .locked)
  }

  @Test func `is served after an unlock that was to serve for it, too`() throws {
    let (bench, wire) = try bench()
    for isLocked in [true, false] {
      if isLocked {
        #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
      }
      let fresh = try bench.client()
      let reply = try bench.ask(fresh) {
        try $0.putRequest(
          .unlock(
            .init(
              .passcode, secret: Bench.passcode.utf8.span, idleTimeout: 0, maxSession: 0,
              flags: .authorize)))
      }
      #expect(reply.isOK)
      #expect(try refusal(bench, fresh) == nil)
      #expect(try refusal(bench, wire) == .protected)
    }
  }

  @Test func `is not served by a slot that does not open it`() throws {
    let (bench, wire) = try bench()
    let key = String(repeating: "k", count: 40)
    #expect(try bench.add(SlotOrder(.keyFile), key, on: wire).isOK)
    #expect(try bench.authorize(wire, key, .keyFile).failure == .opensNoProtected)
    var order = SlotOrder(.keyFile)
    order.flags = .withProtected
    #expect(try bench.add(order, key + "2", on: wire).isOK)
    #expect(try bench.authorize(wire, key + "2", .keyFile).isOK)
    #expect(try refusal(bench, wire) == nil)
  }

  @Test func `loses its protection with the passcode only`() throws {
    let (bench, wire) = try bench()
    let name = "a".utf8.span
    #expect(
      try bench.ask(wire) { try $0.putRequest(.unprotect(.init(name: name))) }.failure
        == .ownerNeeded)
    #expect(try bench.authorize(wire).isOK)
    // What was proved for reading is no word for that.
    let refused = try bench.ask(wire) { try $0.putRequest(.unprotect(.init(name: name))) }
    #expect(refused.refusal == .ownerNeeded(.text("a")))
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(.unprotect(.init(name: name, word: OwnerWord(.passcode, word))))
      }.isOK)
    let other = try bench.client()
    #expect(try refusal(bench, other) == nil)
    #expect(try bench.ask(other) { try $0.putRequest(.protect(.init(name: name))) }.isOK)
    #expect(try refusal(bench, other) == .protected)
  }
}

@Suite struct `A proof that names items` {
  private let bench: Bench
  private let wire: Wire

  /// Two protected items, of which one has an earlier value and a secret attribute.
  init() throws {
    bench = try Bench()
    wire = try bench.unlocked()
    for name in ["a", "b"] {
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
    }
    #expect(try bench.ask(wire) { try $0.put("a", "2", flags: .replace) }.isOK)
    #expect(try bench.ask(wire) { try $0.setSecret("pin", "0815", of: "a") }.isOK)
  }

  private func failure(_ name: String, _ revision: UInt64 = 0, _ wire: Wire) throws -> Failure? {
    try bench.ask(wire) { try $0.get(name, revision: revision) }.failure
  }

  @Test func `opens these, with what stands beside them, and no others`() throws {
    #expect(try bench.authorize(wire, for: ["a"]).isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "2")
    #expect(try bench.ask(wire) { try $0.attribute("pin", of: "a") }.isOK)
    #expect(try failure("a", 1, wire) == .protected)
    #expect(try failure("b", 0, wire) == .protected)
    // Nor what comes later.
    #expect(try bench.ask(wire) { try $0.put("a", "3", flags: .replace) }.isOK)
    #expect(try failure("a", 0, wire) == .protected)
  }

  @Test func `opens the revision that it names beside the current one`() throws {
    #expect(try bench.authorize(wire, for: ["a"], revision: 1).isOK)
    #expect(try bench.ask(wire) { try $0.get("a", revision: 1) }.value == "1")
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "2")
    #expect(try failure("b", 1, wire) == .protected)
  }

  @Test func `takes the place of the one before, and passes over what is not there`() throws {
    #expect(try bench.authorize(wire, for: ["b", "none", "a//b"], revision: 7).isOK)
    #expect(try failure("b", 0, wire) == nil)
    #expect(try failure("none", 0, wire) == .notFound)
    #expect(try bench.authorize(wire, for: ["a"]).isOK)
    #expect(try failure("a", 0, wire) == nil)
    #expect(try failure("b", 0, wire) == .protected)
    #expect(try bench.authorize(wire).isOK)
    #expect(try failure("b", 0, wire) == nil)
  }

  @Test(arguments: [true, false]) func `may be an unlock`(ofLocked isLocked: Bool) throws {
    if isLocked {
      #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    }
    let fresh = try bench.client()
    let names = try Bench.names(["a"])
    let reply = try bench.ask(fresh) {
      try $0.putRequest(
        .unlock(
          .init(
            .passcode, secret: Bench.passcode.utf8.span, flags: .authorize,
            scope: ProofScope(KeyFields(names.bytes, count: 1)))))
    }
    #expect(reply.isOK)
    #expect(try failure("a", 0, fresh) == nil)
    #expect(try failure("b", 0, fresh) == .protected)
  }

  @Test func `begins the window of what is read by it`() throws {
    try bench.set(.reuseWindow, 300_000, wire)
    let other = try bench.client()
    #expect(try bench.authorize(wire, for: ["a", "b"]).isOK)
    #expect(try failure("a", 0, wire) == nil)
    #expect(try failure("a", 0, other) == nil)
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "a") }.isOK)
    #expect(try failure("b", 0, other) == .protected)
    #expect(try bench.authorize(wire, for: ["a"], revision: 1).isOK)
    #expect(try failure("a", 1, other) == .protected)
    #expect(try failure("a", 1, wire) == nil)
    #expect(try failure("a", 1, other) == nil)
  }
}

@Suite struct `The window of protected values` {
  /// A bench with a window, and two clients of which the first has read in it.
  private func bench() throws -> (Bench, Wire, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1", flags: .protect) }.isOK)
    try bench.set(.reuseWindow, 300_000, wire)
    let other = try bench.client()
    #expect(try bench.authorize(wire).isOK)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .protected)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    return (bench, wire, other)
  }

  @Test func `serves the same program, so long after the passcode and no longer`() throws {
    let (bench, _, other) = try bench()
    bench.clock.pass(milliseconds: 200_000)
    #expect(try bench.ask(other) { try $0.get("a") }.isOK)
    bench.clock.sleep(milliseconds: 1_500)
    bench.clock.pass(milliseconds: 98_499)
    #expect(try bench.ask(other) { try $0.get("a") }.isOK)
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .protected)
  }

  @Test func `is wiped at its end by the timer, without a request`() throws {
    let (bench, _, _) = try bench()
    let session = try #require(bench.agent.sessions.first)
    bench.clock.pass(milliseconds: 299_999)
    try bench.turn()
    #expect(session.windows.count == 1)
    bench.clock.pass(milliseconds: 1)
    try bench.turn()
    #expect(session.windows.isEmpty)
    #expect(session.isUnlocked)
  }

  @Test func `ends when it is shortened`() throws {
    let (bench, wire, other) = try bench()
    bench.clock.pass(milliseconds: 70_000)
    try bench.set(.reuseWindow, 71_000, wire)
    #expect(try bench.ask(other) { try $0.get("a") }.isOK)
    try bench.set(.reuseWindow, 70_000, wire)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .protected)
    try bench.set(.reuseWindow, 300_000, wire)
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .protected)
  }

  @Test(arguments: [Verb.get, .getAttribute, .getSecrets])
  func `covers a value and its secret attributes by one answer`(to verb: Verb) throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for name in ["a", "b"] {
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
      #expect(try bench.ask(wire) { try $0.setSecret("pin", "0815", of: name) }.isOK)
    }
    try bench.set(.reuseWindow, 300_000, wire)
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "a") }.failure == .protected)
    #expect(try bench.authorize(wire).isOK)
    let read = try bench.ask(wire) { buffer in
      switch verb {
      case .getAttribute: try buffer.attribute("pin", of: "a")
      case .getSecrets: try buffer.getSecrets(of: "a")
      default: try buffer.get("a")
      }
    }
    #expect(read.isOK)
    #expect(try bench.ask(other) { try $0.get("a") }.value == "1")
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "a") }.isOK)
    #expect(try bench.ask(other) { try $0.getSecrets(of: "a") }.isOK)
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "b") }.failure == .protected)
    // What was set since was answered for by nobody.
    #expect(try bench.ask(wire) { try $0.setSecret("hint", "blue", of: "a") }.isOK)
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "a") }.isOK)
    #expect(try bench.ask(other) { try $0.attribute("hint", of: "a") }.failure == .protected)
    bench.clock.pass(milliseconds: 300_000)
    #expect(try bench.ask(other) { try $0.attribute("pin", of: "a") }.failure == .protected)
  }

  @Test func `keeps so many keys and no more, however many attributes there are`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try bench.set(.reuseWindow, 300_000, wire)
    let session = try #require(bench.agent.sessions.first)
    #expect(try bench.authorize(wire).isOK)
    let keys = 250
    var stored = 0
    repeat {
      let name = "n\(stored)"
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
      if stored == 0 { #expect(try bench.ask(wire) { try $0.setSecret("k", "1", of: name) }.isOK) }
      #expect(try bench.ask(wire) { try $0.putSecrets(keys, of: name) }.isOK)
      #expect(try bench.ask(wire) { try $0.get(name) }.isOK)
      stored += 1
    } while session.windows.count == stored
    #expect(stored > 1)
    let count = session.windows.reduce(0) { $0 + $1.body.count }
    #expect(count <= Window.mostKeys)
    #expect(count + keys + 1 > Window.mostKeys)
    #expect(session.windows.count == stored - 1)
  }

  @Test func `has five minutes at most`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let reply = try bench.ask(wire) {
      try $0.putRequest(.config(.init(.set, key: .reuseWindow, value: 300_001)))
    }
    #expect(reply.failure == .settingInvalid)
  }
}

extension Bench {
  fileprivate func authorize(
    _ wire: Wire, _ secret: String = Bench.passcode, _ kind: Credential = .passcode,
    for names: [String] = [], revision: UInt64 = 0
  ) throws -> Received {
    let list = try Self.names(names)
    return try ask(wire) {
      let scope = ProofScope(KeyFields(list.bytes, count: names.count), revision: revision)
      try $0.putRequest(.authorize(.init(kind, secret: secret.utf8.span, for: scope)))
    }
  }

  /// Names as a request has them.
  fileprivate static func names(_ names: [String]) throws -> SecretBuffer {
    var list = try SecretBuffer(capacity: 64)
    for name in names { try list.put16(text: name) }
    return list
  }

  fileprivate func set(_ key: Setting, _ value: UInt64, _ wire: Wire) throws {
    #expect(try ask(wire) { try $0.set(key, value) }.isOK)
  }
}

extension SecretBuffer {
  fileprivate mutating func setSecret(_ key: String, _ value: String, of name: String) throws {
    try putRequest(
      .setSecret(.init(name: name.utf8.span, key: key.utf8.span, value: value.utf8.span)))
  }

  fileprivate mutating func getSecrets(of name: String) throws {
    try putRequest(.getSecrets(.init(name: name.utf8.span)))
  }

  /// A new value with so many secret attributes.
  fileprivate mutating func putSecrets(_ count: Int, of name: String) throws {
    var pairs = try SecretBuffer(capacity: 16)
    for index in 0..<count { try pairs.putPair(key: "\(index)".utf8.span, value: "1".utf8.span) }
    try putRequest(
      .put(
        .init(
          name: name.utf8.span, flags: .replace,
          secrets: AttributeFields(pairs.bytes, count: count), value: "2".utf8.span)))
  }
}
