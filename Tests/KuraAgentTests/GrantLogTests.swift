// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// What the access log keeps of what owners are asked for and give.
@Suite struct GrantLogTests {
  private struct Line: Equatable {
    let verb: Verb?
    let name: String
    var other = ""
    var detail: UInt64 = 0
    var code: UInt16 = 0
    var process: UInt32 = 0
  }

  /// 100 is a build below shell 10, with 110 below it; 20 is another shell, where the owner answers.
  private static let links = [
    link(5, below: 1, at: 0, "foot"), link(10, below: 5, at: 1), link(20, below: 5, at: 1),
    link(100, below: 10, at: 2, "make"), link(110, below: 100, at: 3, "kura"),
  ]

  private let bench: Bench
  private let holder: Holder
  private let wire: Wire

  init() throws {
    let processes = Processes(Self.links)
    let holder = Holder(processes)
    self.holder = holder
    bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.livesAtEnd = { _ in true }
      configuration.holdProcess = holder.hold
    }
    wire = try bench.unlocked()
    for name in ["a", "b"] {
      #expect(try bench.ask(wire) { try $0.put(name, "value-" + name, flags: .protect) }.isOK)
    }
  }

  private func client(_ process: Int32) throws -> Wire {
    let before = Set(bench.agent.connections.map { ObjectIdentifier($0) })
    let wire = try bench.client()
    for connection in bench.agent.connections
    where !before.contains(ObjectIdentifier(connection)) {
      connection.process = process
    }
    return wire
  }

  /// Has `a` granted to the build.
  private func grant(
    for lifetime: UInt64 = 60_000, uses: UInt32 = GrantRequest.anyUses
  ) throws {
    var list = try SecretBuffer(capacity: 16)
    try list.put16(text: "a")
    let reply = try bench.ask(try client(100)) {
      try $0.putRequest(
        .grant(
          .init(
            SlotAuthority(.passcode, secret: Bench.passcode.utf8.span),
            KeyFields(list.bytes, count: 1), to: .client, lifetime: lifetime, uses: uses,
            reason: "nightly".utf8.span)))
    }
    #expect(reply.isOK)
  }

  private func wish(by wire: Wire, patience: UInt64) throws {
    var list = try SecretBuffer(capacity: 16)
    try list.put16(text: "b")
    try wire.send {
      try $0.putRequest(
        .wish(.init(KeyFields(list.bytes, count: 1), patience: patience, reason: "why".utf8.span)))
    }
    try bench.turn(3)
  }

  /// The entries about grants since a place, without who asked.
  private func lines(from first: Int = 0) throws -> [Line] {
    let verbs: Set<Verb> = [.get, .grant, .grantRevoke, .wish, .approve, .decline]
    var lines: [Line] = []
    var frame = try bench.ask(wire) { try $0.putRequest(.log) }
    while frame.type != .end {
      if frame.type != .data { throw TestFailure("the log was refused: \(frame.payload)") }
      for case .entry(let facts, _, _, let name, let other) in try LogBatch(frame.payload.span)
        .parts
      {
        guard let verb = Verb(rawValue: facts.verb), verbs.contains(verb) else { continue }
        lines.append(
          Line(
            verb: verb, name: String(decoding: frame.payload[name], as: UTF8.self),
            other: String(decoding: frame.payload[other], as: UTF8.self), detail: facts.detail,
            code: facts.code))
      }
      frame = try bench.reply(on: wire)
    }
    return Array(lines.dropFirst(first))
  }

  private func read(_ name: String, by process: Int32) throws -> Bool {
    try bench.ask(try client(process)) { try $0.get(name) }.isOK
  }

  @Test func `what is read under a grant names it, and what is refused says so`() throws {
    #expect(try !read("a", by: 110))
    try grant()
    #expect(try read("a", by: 110))
    #expect(try !read("b", by: 110))
    #expect(
      try lines() == [
        Line(verb: .get, name: "a", code: Failure.protected.rawValue),
        Line(verb: .grant, name: "a", other: "nightly", detail: 1),
        Line(verb: .get, name: "a", detail: LoggedGrant.detail(1)),
        Line(verb: .get, name: "b", code: Failure.protected.rawValue),
      ])
    // What was asked after it under none names none.
    #expect(try bench.ask(wire) { try $0.put("c", "1") }.isOK)
    let other = try client(110)
    #expect(try bench.ask(other) { try $0.get("a") }.isOK)
    #expect(try bench.ask(other) { try $0.get("c") }.isOK)
    #expect(try lines().last == Line(verb: .get, name: "c"))
  }

  @Test func `each end of a grant is noted with its reason`() throws {
    func end(_ number: UInt64, _ cause: GrantEnd) -> Line {
      Line(verb: .grantRevoke, name: "", detail: cause.logDetail(number))
    }
    func last() throws -> Line? {
      try bench.turn(2)
      return try lines().last
    }
    try grant(for: 5_000)
    bench.clock.pass(milliseconds: 5_000)
    #expect(try last() == end(1, .time))
    try grant(uses: 1)
    #expect(try read("a", by: 110))
    #expect(try last() == end(2, .uses))
    try grant()
    #expect(try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init(3))) }.isOK)
    #expect(try last() == end(3, .revoked))
    try grant()
    #expect(try bench.ask(wire) { try $0.put("a", "new", flags: [.replace, .protect]) }.isOK)
    #expect(try !read("a", by: 110))
    #expect(try lines().contains(end(4, .changed)))
    try grant()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try last() == end(5, .lock))
    try grant()
    holder.end(100)
    #expect(try !read("a", by: 110))
    #expect(try lines().contains(end(6, .process)))
  }

  /// Reads `a` by the passcode and a shell below the build, so that a window begins where there may be one.
  private func readByPasscode(again: Int = 0) throws {
    let reader = try authorized()
    for _ in 0...again { #expect(try bench.ask(reader) { try $0.get("a") }.isOK) }
  }

  /// A client below the build that proved the passcode.
  private func authorized() throws -> Wire {
    let reader = try client(110)
    let none = try SecretBuffer(capacity: 16)
    #expect(
      try bench.ask(reader) {
        let scope = ProofScope(KeyFields(none.bytes, count: 0))
        try $0.putRequest(
          .authorize(.init(.passcode, secret: Bench.passcode.utf8.span, for: scope)))
      }.isOK)
    return reader
  }

  @Test func `what reuse-window serves again has its beginning and its end`() throws {
    func end(_ cause: GrantEnd) -> Line {
      Line(verb: .grantRevoke, name: "a", detail: cause.logDetail(0))
    }
    let begins = Line(verb: .grant, name: "a")
    let read = Line(verb: .get, name: "a")
    // Where the owner set none, there is none.
    try readByPasscode()
    #expect(try lines() == [read])
    #expect(try bench.ask(wire) { try $0.set(.reuseWindow, 300_000) }.isOK)
    // The same passcode begins it once, another one anew.
    try readByPasscode(again: 1)
    #expect(try lines(from: 1) == [begins, read, read])
    bench.clock.pass(milliseconds: 1_000)
    try readByPasscode()
    #expect(try lines(from: 4) == [begins, read])
    bench.clock.pass(milliseconds: 300_000)
    try bench.turn(2)
    #expect(try lines(from: 6) == [end(.time)])
    try readByPasscode()
    #expect(
      try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init(GrantRevokeRequest.all))) }.isOK)
    #expect(try lines(from: 7) == [begins, read, end(.revoked)])
    try readByPasscode()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try lines(from: 10) == [begins, read, end(.lock)])
    try readByPasscode()
    holder.end(100)
    try bench.turn(2)
    #expect(try lines(from: 13) == [begins, read, end(.process)])
  }

  @Test func `what makes room for what is newer to be served again has its end`() throws {
    #expect(try bench.ask(wire) { try $0.set(.reuseWindow, 300_000) }.isOK)
    for number in 0...Window.most {
      #expect(try bench.ask(wire) { try $0.put("n\(number)", "1", flags: .protect) }.isOK)
    }
    let reader = try authorized()
    for number in 0...Window.most {
      #expect(try bench.ask(reader) { try $0.get("n\(number)") }.isOK)
    }
    let ends = try lines().filter { $0.verb == .grantRevoke }
    #expect(ends == [Line(verb: .grantRevoke, name: "n0", detail: GrantEnd.room.logDetail(0))])
  }

  @Test func `a wish is noted with its reason, and that nobody answered or somebody said no`()
    throws
  {
    let asker = try client(110)
    try wish(by: asker, patience: 5_000)
    bench.clock.pass(milliseconds: 5_000)
    try bench.turn(3)
    try wish(by: asker, patience: 5_000)
    try bench.turn(3)
    #expect(try bench.ask(try client(20)) { try $0.putRequest(.decline(.init(2))) }.isOK)
    try wish(by: asker, patience: 5_000)
    #expect(
      try lines() == [
        Line(verb: .wish, name: "b", other: "why"),
        Line(verb: .wish, name: "b", code: Failure.protected.rawValue),
        Line(verb: .wish, name: "b", other: "why"),
        Line(verb: .decline, name: "b", other: "why"),
        Line(verb: .wish, name: "b", code: Failure.cancelled.rawValue),
      ])
  }
}
