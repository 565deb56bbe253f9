// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// A wish as who answers for the owner sees it.
struct ToldWish {
  var number: UInt64
  var process: UInt32
  var mayLast: Bool
  var lifetime: UInt64
  var chains: [String]
  var reasons: [String]
  var names: [String]
  /// The bytes that it was told in.
  var shown: [UInt8]
}

@Suite struct WishTests {
  /// 100 is a build below shell 10, 110 and 111 ask below it; 20 is another shell, where the owner answers by 21.
  private static let links = [
    link(5, below: 1, at: 0, "foot"), link(10, below: 5, at: 1, terminal: 9, isLeader: true),
    link(20, below: 5, at: 1), link(21, below: 20, at: 2, "kura"),
    link(100, below: 10, at: 2, "make"),
    link(110, below: 100, at: 3, "kura"), link(111, below: 100, at: 4, "kura"),
    link(120, below: 10, at: 3, "npm"), link(121, below: 120, at: 4, "kura"),
  ]

  let bench: Bench
  let processes: Processes
  let wire: Wire

  init() throws {
    let processes = Processes(Self.links)
    self.processes = processes
    let holder = Holder(processes)
    bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.livesAtEnd = { _ in true }
      configuration.isStopped = processes.isStopped
      configuration.holdProcess = holder.hold
    }
    wire = try bench.unlocked()
    for connection in bench.agent.connections { connection.process = 21 }
    for name in ["a", "b", "c"] {
      #expect(try bench.ask(wire) { try $0.put(name, "value-" + name, flags: .protect) }.isOK)
    }
    #expect(try bench.ask(wire) { try $0.put("plain", "1") }.isOK)
  }

  func client(_ process: Int32) throws -> Wire {
    let before = Set(bench.agent.connections.map { ObjectIdentifier($0) })
    let wire = try bench.client()
    for connection in bench.agent.connections
    where !before.contains(ObjectIdentifier(connection)) {
      connection.process = process
    }
    return wire
  }

  /// Begins to ask.
  func wish(
    _ names: [String], by wire: Wire, flags: WishRequest.Flags = [], patience: UInt64 = 60_000,
    to scope: GrantScope = .program, process: UInt32 = 0, lifetime: UInt64 = 0,
    reason: String = ""
  ) throws {
    var list = try SecretBuffer(capacity: 16)
    for name in names { try list.put16(text: name) }
    try wire.send {
      try $0.putRequest(
        .wish(
          .init(
            KeyFields(list.bytes, count: names.count), flags: flags, patience: patience, to: scope,
            process: process, lifetime: lifetime, reason: reason.utf8.span)))
    }
    try bench.turn(3)
  }

  typealias Queue = (state: UInt64, all: [ToldWish], untold: UInt16)

  func told(_ reply: Received) throws -> Queue {
    var all: [ToldWish] = []
    let wishes = try WishesReply(reply: reply.payload.span)
    wishes.forEach { entry, shown in
      var names: [String] = []
      entry.names.forEach { names.append(text($0)) }
      var (chains, reasons) = ([String](), [String]())
      entry.askers.forEach { chain, reason in
        chains.append(text(Field(chain)))
        reasons.append(text(Field(reason)))
      }
      all.append(
        ToldWish(
          number: entry.number, process: entry.process, mayLast: entry.mayLast,
          lifetime: entry.lifetime, chains: chains, reasons: reasons, names: names,
          shown: shown.indices.map { shown[$0] }))
    }
    return (wishes.state, all, wishes.untold)
  }

  func wishes() throws -> [ToldWish] { try wishes(of: wire).all }

  func wishes(of wire: Wire) throws -> Queue {
    try told(try bench.ask(wire) { try $0.putRequest(.wishes(.init(seen: 0, patience: 0))) })
  }

  func approve(
    _ shown: [UInt8], _ term: ApprovedTerm, by wire: Wire, passcode: String = Bench.passcode
  ) throws -> Received {
    try bench.ask(wire) {
      try $0.putRequest(
        .approve(.init(SlotAuthority(.passcode, secret: passcode.utf8.span), of: shown.span, term)))
    }
  }

  func decline(_ number: UInt64, by wire: Wire) throws -> Received {
    try bench.ask(wire) { try $0.putRequest(.decline(.init(number))) }
  }

  func value(_ name: String, on wire: Wire) throws -> String? {
    let reply = try bench.ask(wire) { try $0.get(name) }
    return reply.isOK ? reply.value : nil
  }

  /// The answer, behind the word that the owner is asked.
  func answer(_ wire: Wire) throws -> Received {
    let frame = try bench.reply(on: wire)
    return frame.type == .progress ? try bench.reply(on: wire) : frame
  }

  func isSilent(_ wire: Wire) throws -> Bool {
    try bench.turn(3)
    _ = wire.waitReadable(milliseconds: 20)
    wire.receive()
    while let frame = try wire.nextFrame() {
      guard frame.type == .progress else { return false }
    }
    return true
  }
}

// MARK: - Questions

extension WishTests {
  @Test func `what programs of one tree ask is one question, and another tree's is another`() throws
  {
    let (first, second, other) = (try client(110), try client(111), try client(121))
    try wish(["a"], by: first, reason: "tests")
    try wish(["a", "b"], by: second, reason: "other words")
    try wish(["c"], by: other)
    let all = try wishes()
    #expect(all.map(\.names) == [["a", "b"], ["c"]])
    #expect(all.map(\.process) == [100, 120])
    #expect(all[0].reasons == ["tests", "other words"])
    #expect(
      all[0].chains == [
        "kura 110 < make 100 < bash 10 < foot 5", "kura 111 < make 100 < bash 10 < foot 5",
      ])
    #expect(all.allSatisfy { $0.mayLast && $0.lifetime == 0 })
    #expect(try approve(all[0].shown, .quarter, by: wire).isOK)
    for wire in [first, second] { #expect(try answer(wire).isOK) }
    #expect(try value("a", on: second) == "value-a")
    #expect(try value("b", on: first) == "value-b")
    #expect(try isSilent(other))
    #expect(try value("a", on: try client(121)) == nil)
    #expect(try wishes().map(\.names) == [["c"]])
  }

  @Test func `a question has so many names and no more`() throws {
    let names = (0..<ProtocolLimit.asked).map { "n\($0)" }
    for name in names {
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
    }
    let clients = [try client(110), try client(111), try client(111)]
    try wish(names, by: clients[0])
    try wish(["a"], by: clients[1])
    try wish(["n1"], by: clients[2])
    let counts = try wishes().map(\.names.count)
    #expect(counts == [ProtocolLimit.asked, 2] && clients.count == 3)
  }

  @Test func `who goes takes along what nobody else asked for`() throws {
    let second = try client(111)
    var first: Wire? = try client(110)
    try wish(["a", "b"], by: try #require(first))
    try wish(["b", "c"], by: second)
    #expect(try wishes().map(\.names) == [["a", "b", "c"]])
    first = nil
    try bench.turn(3)
    #expect(try wishes().map(\.names) == [["b", "c"]])
  }

  @Test func `what needs no owner is not asked for, and what is not there is not either`() throws {
    let asker = try client(110)
    try wish(["plain"], by: asker)
    #expect(try answer(asker).isOK)
    try wish(["none"], by: asker)
    #expect(try answer(asker).refusal == .notFound(.text("none")))
    try wish(["plain", "a"], by: asker)
    #expect(try wishes().map(\.names) == [["a"]])
  }

  @Test func `what all of a login hangs on is asked for this once alone`() throws {
    processes.set(link(6, below: 1, at: 0, "systemd"))
    processes.set(link(130, below: 6, at: 3, "kura"))
    let asker = try client(130)
    try wish(["a"], by: asker)
    let wish = try #require(try wishes().first)
    #expect(!wish.mayLast && wish.process == 130)
    let answerer = try client(21)
    try answerer.send {
      try $0.putRequest(
        .approve(
          .init(
            SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), of: wish.shown.span,
            .untilLock)))
    }
    try bench.awaitEnd(of: answerer)
    #expect(try approve(wish.shown, .once, by: wire).isOK)
    #expect(try answer(asker).isOK)
    #expect(try value("a", on: asker) == "value-a")
  }
}

// MARK: - Answers

extension WishTests {
  @Test func `once is for who asked, each for its names and its connection`() throws {
    let (first, second) = (try client(110), try client(111))
    try wish(["a"], by: first)
    try wish(["b"], by: second)
    let all = try wishes()
    let reply = try approve(all[0].shown, .once, by: wire)
    #expect(try GrantReply(reply: reply.payload.span) == GrantReply([], number: 0, granted: 2))
    for wire in [first, second] { #expect(try answer(wire).isOK) }
    #expect(try value("a", on: first) == "value-a")
    #expect(try value("b", on: first) == nil)
    #expect(try value("b", on: second) == "value-b")
    #expect(try value("a", on: try client(110)) == nil)
    bench.clock.pass(milliseconds: 60_000)
    #expect(try value("a", on: first) == nil)
  }

  @Test func `a quarter of an hour is that, and until lock is a day at most`() throws {
    for (term, time) in [(ApprovedTerm.quarter, 900_000), (.untilLock, 86_400_000)] {
      let asker = try client(110)
      try wish(["a"], by: asker)
      #expect(try approve(try wishes()[0].shown, term, by: wire).isOK)
      #expect(try answer(asker).isOK)
      let session = try #require(bench.agent.sessions.first)
      #expect(session.grants.nextDeadline == bench.clock.now.boot + UInt64(time))
      #expect(try value("a", on: try client(111)) == "value-a")
      #expect(try bench.ask(wire) { try $0.putRequest(.grantRevoke(.init())) }.isOK)
    }
  }

  @Test func `what is asked for with a time of its own is given for that or not at all`() throws {
    let asker = try client(100)
    try wish(["a"], by: asker, to: .client, lifetime: 5_000)
    let wish = try #require(try wishes().first)
    #expect(wish.lifetime == 5_000 && wish.process == 100)
    #expect(try approve(wish.shown, .asked, by: wire).isOK)
    #expect(try answer(asker).isOK)
    #expect(try value("a", on: try client(111)) == "value-a")
    bench.clock.pass(milliseconds: 5_000)
    #expect(try value("a", on: try client(111)) == nil)
  }

  @Test func `an approval is of what was shown, and of nothing else`() throws {
    let (first, second) = (try client(110), try client(111))
    try wish(["a"], by: first)
    let before = try #require(try wishes().first)
    try wish(["b"], by: second)
    #expect(try approve(before.shown, .once, by: wire).failure == .changedMeanwhile)
    var forged = try #require(try wishes().first).shown
    forged[forged.count - 1] ^= 2
    #expect(try approve(forged, .once, by: wire).failure == .changedMeanwhile)
    #expect(try isSilent(first))
    // While the passcode is proved, one more joins.
    let now = try #require(try wishes().first)
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    try wire.send {
      try $0.putRequest(
        .approve(
          .init(
            SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), of: now.shown.span, .once)))
    }
    try bench.turn()
    let late = try client(110)
    try wish(["c"], by: late)
    gate.open()
    #expect(try answer(wire).failure == .changedMeanwhile)
    #expect(try isSilent(late))
    #expect(try value("a", on: try client(110)) == nil)
  }

  @Test func `a wrong passcode answers nobody, and counts`() throws {
    let asker = try client(110)
    try wish(["a"], by: asker)
    let wish = try #require(try wishes().first)
    let refused = try approve(wish.shown, .once, by: wire, passcode: "wrong")
    #expect(refused.wrong?.failures == 1)
    #expect(try isSilent(asker))
    // The clocks were not read at quite the same time: what was shown is the same.
    bench.clock.drift(milliseconds: 1)
    #expect(try approve(wish.shown, .once, by: wire).isOK)
    #expect(try answer(asker).isOK)
  }

  @Test func `a no answers all who asked, who do not ask again for a minute`() throws {
    let (first, other) = (try client(110), try client(121))
    try wish(["a", "b"], by: first)
    let wish = try #require(try wishes().first)
    #expect(try decline(wish.number, by: wire).isOK)
    #expect(try answer(first).refusal == .cancelled(lasting: 60_000))
    bench.clock.pass(milliseconds: 59_999)
    try self.wish(["c", "b"], by: first)
    #expect(try answer(first).refusal == .cancelled(lasting: 1))
    // Others may, and so may these for another item.
    try self.wish(["a"], by: other)
    try self.wish(["c"], by: first)
    #expect(try wishes().map(\.names) == [["a"], ["c"]])
    bench.clock.pass(milliseconds: 1)
    let later = try client(111)
    try self.wish(["b"], by: later)
    #expect(try wishes().map(\.names) == [["a"], ["c", "b"]])
    #expect(try decline(99, by: wire).failure == .changedMeanwhile)
  }

  @Test func `nobody answers in time`() throws {
    let asker = try client(110)
    try wish(["a"], by: asker, patience: 5_000)
    bench.clock.pass(milliseconds: 4_999)
    #expect(try isSilent(asker))
    bench.clock.pass(milliseconds: 1)
    #expect(try answer(asker).failure == .protected)
    #expect(try wishes().isEmpty)
    try wish(["a"], by: asker, patience: 5_000)
    #expect(try wishes().count == 1)
  }

  @Test func `a lock answers who asks and who would be asked`() throws {
    let (asker, answerer) = (try client(110), try client(21))
    try wish(["a"], by: asker)
    let state = try told(
      try bench.ask(answerer) { try $0.putRequest(.wishes(.init(seen: 0, patience: 0))) }
    ).state
    try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 60_000))) }
    #expect(try isSilent(answerer))
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    for wire in [asker, answerer] { #expect(try answer(wire).failure == .locked) }
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try wishes().isEmpty)
  }
}
