// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// A grant as a client sees it.
private struct Told: Equatable {
  var number: UInt64
  var process: UInt32
  var left: UInt64 = ProtocolLimit.grantTime
  var uses = GrantEntry.anyUses
  var program = "bash"
  var reason = ""
  var names: [String]
}

@Suite struct GrantTests {
  /// 100 is a build below shell 10, 110 and 111 are below it, 120 beside; 20 is another shell.
  private static let links = [
    link(5, below: 1, at: 0, "foot"), link(10, below: 5, at: 1), link(20, below: 5, at: 1),
    link(100, below: 10, at: 2, "make"), link(110, below: 100, at: 3), link(111, below: 110, at: 4),
    link(120, below: 10, at: 3), link(130, below: 10, at: 3, "kura"),
  ]

  private let bench: Bench
  private let processes: Processes
  private let holder: Holder
  private let wire: Wire

  init() throws {
    let processes = Processes(Self.links)
    let holder = Holder(processes)
    (self.processes, self.holder) = (processes, holder)
    bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.livesAtEnd = { _ in true }
      configuration.holdProcess = holder.hold
    }
    wire = try bench.unlocked()
    for name in ["a", "b", "c"] {
      #expect(try bench.ask(wire) { try $0.put(name, "value-" + name, flags: .protect) }.isOK)
    }
    #expect(try bench.ask(wire) { try $0.put("plain", "1") }.isOK)
  }

  /// A client that is that process.
  private func client(_ process: Int32) throws -> Wire {
    let before = Set(bench.agent.connections.map { ObjectIdentifier($0) })
    let wire = try bench.client()
    for connection in bench.agent.connections
    where !before.contains(ObjectIdentifier(connection)) {
      connection.process = process
    }
    return wire
  }

  private func grant(
    _ names: [String], to scope: GrantScope = .client, process: UInt32 = 0, by client: Int32 = 100,
    for lifetime: UInt64 = ProtocolLimit.grantTime, uses: UInt32 = 0, reason: String = "",
    passcode: String = Bench.passcode, on wire: Wire? = nil
  ) throws -> Received {
    var list = try SecretBuffer(capacity: 16)
    for name in names { try list.put16(text: name) }
    return try bench.ask(try wire ?? self.client(client)) {
      try $0.putRequest(
        .grant(
          .init(
            SlotAuthority(.passcode, secret: passcode.utf8.span),
            KeyFields(list.bytes, count: names.count), to: scope, process: process,
            lifetime: lifetime, uses: uses, reason: reason.utf8.span)))
    }
  }

  private func granted(_ names: [String]) throws -> GrantReply {
    let reply = try grant(names)
    return try GrantReply(reply: reply.payload.span)
  }

  private func standing() throws -> [Told] {
    let reply = try bench.ask(wire) { try $0.putRequest(.grants) }
    var told: [Told] = []
    try GrantsReply(reply: reply.payload.span).forEach { entry in
      var names: [String] = []
      entry.names.forEach { names.append(text($0)) }
      told.append(
        Told(
          number: entry.number, process: entry.process, left: entry.left, uses: entry.uses,
          program: text(entry.program), reason: text(entry.reason), names: names))
    }
    return told
  }

  /// What a process is handed; nil where it has to ask.
  private func value(_ name: String, for process: Int32, revision: UInt64 = 0) throws -> String? {
    let reply = try bench.ask(try client(process)) { try $0.get(name, revision: revision) }
    if !reply.isOK { #expect(reply.failure == .protected) }
    return reply.isOK ? reply.value : nil
  }

  private var table: GrantTable {
    get throws { try #require(bench.agent.sessions.first).grants }
  }
}

// MARK: - Whom it serves

extension GrantTests {
  @Test func `the programs below a process are served what was granted, and no others`() throws {
    let reply = try granted(["a", "b"])
    #expect(reply == GrantReply([], number: 1, granted: 2))
    for process: Int32 in [100, 110, 111] {
      #expect(try value("a", for: process) == "value-a")
      #expect(try value("b", for: process) == "value-b")
      #expect(try value("c", for: process) == nil)
    }
    for process: Int32 in [10, 120, 20] { #expect(try value("a", for: process) == nil) }
    // Neither who is below it in another namespace or for another user, nor who left it.
    processes.set(link(112, below: 110, at: 4, depth: 2))
    processes.set(link(113, below: 110, at: 4, user: 0))
    processes.set(link(114, below: 1, at: 4))
    for process: Int32 in [112, 113, 114] { #expect(try value("a", for: process) == nil) }
    // Nor one with the number of the process, or below it.
    processes.set(link(100, below: 10, at: 9, "make"))
    processes.set(link(115, below: 100, at: 10))
    for process: Int32 in [100, 115] { #expect(try value("a", for: process) == nil) }
  }

  @Test func `the program that asks is the nearest that is not kura`() throws {
    #expect(try grant(["a"], to: .program, by: 130).isOK)
    #expect(try standing().map(\.process) == [10])
    for process: Int32 in [10, 100, 111, 120, 130] {
      #expect(try value("a", for: process) == "value-a")
    }
    #expect(try value("a", for: 20) == nil)
  }

  @Test func `any process of the owner's can be named, and nothing that a login hangs on`() throws {
    #expect(try grant(["a"], to: .process, process: 20, by: 130).isOK)
    #expect(try value("a", for: 20) == "value-a")
    #expect(try value("a", for: 130) == nil)
    processes.set(link(40, below: 1, at: 0, "systemd"))
    processes.set(link(41, below: 1, at: 0, "tmux: server"))
    processes.set(link(42, below: 1, at: 0, user: 0))
    processes.set(link(43, below: 1, at: 0, depth: 2))
    processes.set(link(1, below: 0, at: 0))
    for process: UInt32 in [40, 41, 42, 43, 1] {
      let reply = try grant(["b"], to: .process, process: process, by: 130)
      #expect(reply.refusal == .processUnfit(process))
    }
    let gone = try grant(["b"], to: .process, process: 99, by: 130)
    #expect(gone.refusal == .processGone(99))
    processes.set(link(131, below: 40, at: 3, "kura"))
    #expect(try grant(["b"], to: .program, by: 131).refusal == .processUnfit(0))
    #expect(try standing().map(\.number) == [1])
  }

  @Test func `a process that ends while it is asked for is granted nothing`() throws {
    // It is gone, or another one has its number, or it ends before all was looked at.
    let processes = processes
    let holder = holder
    let ends: [@Sendable (UInt32) -> Void] = [
      { processes.end($0) }, { processes.set(link($0, below: 5, at: 7)) }, { holder.end($0) },
      { holder.endUnseen($0) },
    ]
    for end in ends {
      processes.set(link(20, below: 5, at: 1))
      holder.meanwhile.withLock { $0 = end }
      let reply = try grant(["a"], to: .process, process: 20, by: 130)
      #expect(reply.refusal == .processGone(20))
      #expect(try table.isEmpty)
    }
  }

  @Test func `what is not protected needs no grant, and what is not there cannot have one`() throws
  {
    let reply = try granted(["plain", "a"])
    #expect(reply.granted == 1)
    #expect(try standing().map(\.names) == [["a"]])
    let none = try granted(["plain"])
    #expect(none == GrantReply([], number: 0, granted: 0))
    #expect(try grant(["a", "none"]).refusal == .notFound(.text("none")))
    #expect(try standing().count == 1)
  }

  @Test func `a wrong passcode grants nothing, and counts`() throws {
    let wire = try client(100)
    let refused = try grant(["a"], passcode: "wrong", on: wire)
    #expect(refused.wrong?.failures == 1)
    #expect(try table.isEmpty)
    // What cannot be granted is refused before a passcode is tried.
    #expect(try grant(["none"], passcode: "wrong 2", on: wire).failure == .notFound)
    #expect(try grant(["a"], passcode: "wrong 3", on: wire).wrong?.failures == 2)
  }

  @Test func `the connection that asked has no more than the others`() throws {
    let asker = try client(130)
    #expect(try grant(["a"], to: .process, process: 20, on: asker).isOK)
    #expect(try bench.ask(asker) { try $0.get("a") }.failure == .protected)
    #expect(bench.agent.connections.allSatisfy { $0.grant == nil })
  }

  @Test func `there are so many and no more, of so many values`() throws {
    for _ in 0..<GrantTable.most { #expect(try grant(["a"]).isOK) }
    #expect(try grant(["a"]).failure == .tooBusy)
    #expect(try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init())) }.isOK)
    let names = [String](repeating: "a", count: ProtocolLimit.granted)
    #expect(try grant(names).isOK)
    #expect(try grant(names).isOK)
    #expect(try grant(["a"]).failure == .tooBusy)
  }
}

// MARK: - When it ends

extension GrantTests {
  @Test func `it ends at its time, sleep included, by the timer`() throws {
    #expect(try grant(["a"], for: 60_000).isOK)
    bench.clock.sleep(milliseconds: 1_500)
    bench.clock.pass(milliseconds: 58_499)
    #expect(try value("a", for: 110) == "value-a")
    #expect(try standing().map(\.left) == [1])
    bench.clock.pass(milliseconds: 1)
    try bench.turn()
    #expect(try table.isEmpty)
    #expect(try value("a", for: 110) == nil)
  }

  @Test func `it ends with its process, without a request`() throws {
    #expect(try grant(["a"]).isOK)
    #expect(try grant(["b"], to: .process, process: 20).isOK)
    holder.end(100)
    try bench.turn()
    #expect(try table.all.map(\.number) == [2])
    #expect(try value("b", for: 20) == "value-b")
  }

  @Test func `it ends at any lock, and when it is revoked`() throws {
    for _ in 0..<3 { #expect(try grant(["a"]).isOK) }
    var reply = try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init(2))) }
    #expect(try GrantRevokeReply(reply: reply.payload.span).count == 1)
    #expect(try standing().map(\.number) == [1, 3])
    reply = try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init(2))) }
    #expect(try GrantRevokeReply(reply: reply.payload.span).count == 0)
    reply = try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init())) }
    #expect(try GrantRevokeReply(reply: reply.payload.span).count == 2)
    #expect(try value("a", for: 110) == nil)
    #expect(try grant(["a"]).isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try table.isEmpty)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try value("a", for: 110) == nil)
  }

  @Test func `it ends with the passcode that it was given by`() throws {
    #expect(try grant(["a"]).isOK)
    #expect(try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "another horse") }.isOK)
    #expect(try table.isEmpty)
  }

  @Test func `it opens so many values and no more`() throws {
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(
          .setSecret(.init(name: "a".utf8.span, key: "pin".utf8.span, value: "0815".utf8.span)))
      }.isOK)
    #expect(try grant(["a"], uses: 2).isOK)
    let reader = try client(110)
    #expect(try bench.ask(reader) { try $0.attribute("pin", of: "a") }.isOK)
    #expect(try standing().map(\.uses) == [1])
    #expect(try value("a", for: 110) == "value-a")
    #expect(try table.isEmpty)
    #expect(try value("a", for: 110) == nil)
    // All secret attributes at once are as many.
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(
          .setSecret(.init(name: "a".utf8.span, key: "puk".utf8.span, value: "4711".utf8.span)))
      }.isOK)
    #expect(try grant(["a"], uses: 1).isOK)
    let refused = try bench.ask(reader) {
      try $0.putRequest(.getSecrets(.init(name: "a".utf8.span)))
    }
    #expect(refused.failure == .protected)
    #expect(try standing().map(\.uses) == [1])
  }

  @Test func `a new value is not granted, and neither is an earlier one`() throws {
    #expect(try grant(["a", "b"], reason: "tests").isOK)
    #expect(try value("a", for: 110, revision: 1) == "value-a")
    #expect(try bench.ask(wire) { try $0.put("a", "2", flags: .replace) }.isOK)
    try bench.turn()
    #expect(try table.all.flatMap(\.items).count == 1)
    #expect(try value("a", for: 110) == nil)
    #expect(try value("a", for: 110, revision: 1) == nil)
    #expect(
      try standing() == [
        Told(number: 1, process: 100, program: "make", reason: "tests", names: ["b"])
      ])
  }

  @Test func `another name and other attributes leave it as it is`() throws {
    #expect(try grant(["a"]).isOK)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(
          .move(
            .init(
              name: "a".utf8.span, to: "x/a".utf8.span,
              word: OwnerWord(.passcode, Bench.passcode.utf8.span))))
      }.isOK)
    #expect(try value("x/a", for: 110) == "value-a")
    #expect(try standing().map(\.names) == [["x/a"]])
    // Another item of the old name is not it.
    #expect(try bench.ask(wire) { try $0.put("a", "other", flags: .protect) }.isOK)
    #expect(try value("a", for: 110) == nil)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(
          .setSecret(.init(name: "x/a".utf8.span, key: "pin".utf8.span, value: "1".utf8.span)))
      }.isOK)
    #expect(try value("x/a", for: 110) == "value-a")
  }

  @Test func `it ends with its item's protection, and with the item`() throws {
    #expect(try grant(["a"]).isOK)
    #expect(try grant(["b"]).isOK)
    #expect(try grant(["c"]).isOK)
    let word = OwnerWord(.passcode, Bench.passcode.utf8.span)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(.unprotect(.init(name: "a".utf8.span, word: word)))
      }.isOK)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(.purge(.init(name: "b".utf8.span, .item, word: word)))
      }.isOK)
    #expect(try bench.ask(wire) { try $0.remove("c") }.isOK)
    try bench.turn()
    #expect(try table.isEmpty)
  }
}
