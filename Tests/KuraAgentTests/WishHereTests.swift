// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraAgent

/// What programs ask at their own terminal.
extension WishTests {
  /// 100 is a script at terminal 9, whose shell is 10; 112 asks below it at another one.
  private func atTerminal() {
    processes.set(link(100, below: 10, at: 2, "make", terminal: 9))
    for process: UInt32 in [110, 111] {
      processes.set(link(process, below: 100, at: 4, "kura", terminal: 9))
    }
    processes.set(link(112, below: 100, at: 4, "kura", terminal: 8))
    processes.set(link(120, below: 10, at: 3, "npm", terminal: 9))
    processes.set(link(121, below: 120, at: 4, "kura", terminal: 9))
  }

  private func own(_ process: Int32, _ flags: WishesRequest.Flags = .own) throws -> Queue {
    try told(
      try bench.ask(try client(process)) {
        try $0.putRequest(.wishes(.init(flags, seen: 0, patience: 0)))
      })
  }

  @Test func `what one tree asks at its terminal is one question, answered by who asks there`()
    throws
  {
    atTerminal()
    let (first, second) = (try client(110), try client(111))
    let others = [try client(112), try client(121)]
    for (asker, name) in [(first, "a"), (second, "b"), (others[1], "c")] {
      try wish([name], by: asker, flags: .here)
    }
    // The script has gone to another terminal, and asks there, too.
    processes.set(link(100, below: 10, at: 2, "make", terminal: 8))
    try wish(["c"], by: others[0], flags: .here)
    #expect(try own(112).all.map(\.process) == [100])
    let told = try own(110)
    #expect(told.all.map(\.names) == [["a", "b"]] && told.untold == 0)
    #expect(try own(111).all.map(\.shown) == told.all.map(\.shown))
    #expect(try own(112).all.map(\.names) == [["c"]])
    #expect(try own(121).all.map(\.chains) == [["kura 121 < npm 120 < bash 10 < foot 5"]])
    let shown = told.all[0].shown
    for process: Int32 in [21, 100, 112, 121] {
      #expect(try !own(process).all.map(\.shown).contains(shown), "\(process)")
      let answerer = try client(process)
      #expect(try wishes(of: answerer).all.isEmpty && wishes(of: answerer).untold == 0)
      #expect(try approve(shown, .once, by: answerer).failure == .changedMeanwhile, "\(process)")
      #expect(
        try decline(told.all[0].number, by: answerer).failure == .changedMeanwhile, "\(process)")
    }
    #expect(try approve(shown, .once, by: try client(111)).isOK)
    for wire in [first, second] { #expect(try answer(wire).isOK) }
    #expect(try value("a", on: first) == "value-a" && value("b", on: first) == nil)
    #expect(try value("b", on: second) == "value-b")
    for wire in others { #expect(try isSilent(wire)) }
  }

  @Test func `who comes once a question is answered has one of his own`() throws {
    atTerminal()
    let (first, second, late) = (try client(110), try client(111), try client(111))
    let served = try client(111)
    try wish(["a"], by: first, flags: .here)
    _ = try own(21, [.own, .closing])
    try wish(["b"], by: second, flags: .here)
    let told = try own(110, [.own, .closing])
    #expect(told.all.map(\.names) == [["a", "b"]])
    try wish(["c"], by: late, flags: .here)
    try wish(["a"], by: served)
    #expect(try own(110).all.map(\.shown) == told.all.map(\.shown))
    #expect(try approve(told.all[0].shown, .quarter, by: try client(110)).isOK)
    // Who asks for no more than that asks no more, nor who comes now.
    for wire in [first, second, served] { #expect(try answer(wire).isOK) }
    try wish(["a", "b"], by: served, flags: .here)
    #expect(try answer(served).isOK)
    #expect(try isSilent(late))
    #expect(try own(111).all.map(\.names) == [["c"]])
    #expect(try value("c", on: try client(110)) == nil)
    #expect(try value("b", on: try client(110)) == "value-b")
  }

  @Test func `a no at the terminal holds for what started those who asked, not for its shell`()
    throws
  {
    atTerminal()
    processes.set(link(130, below: 10, at: 5, "kura", terminal: 9))
    let (first, other) = (try client(110), try client(130))
    try wish(["a", "b"], by: first, flags: .here)
    try wish(["a"], by: other, flags: .here)
    for process: Int32 in [110, 130] {
      #expect(try decline(try own(process).all[0].number, by: try client(process)).isOK)
    }
    for wire in [first, other] {
      #expect(try answer(wire).refusal == .cancelled(lasting: 60_000))
    }
    for flags in [WishRequest.Flags.here, []] {
      let again = try client(111)
      try wish(["b"], by: again, flags: flags)
      #expect(try answer(again).refusal == .cancelled(lasting: 60_000))
    }
    processes.set(link(131, below: 10, at: 6, "kura", terminal: 9))
    let typed = try client(131)
    try wish(["a"], by: typed, flags: .here)
    #expect(try isSilent(typed))
    // A no from elsewhere is none to who asks himself.
    let elsewhere = try client(110)
    try wish(["c"], by: elsewhere)
    #expect(try decline(try wishes()[0].number, by: wire).isOK)
    try wish(["c"], by: first, flags: .here)
    #expect(try isSilent(first))
    bench.clock.pass(milliseconds: 60_000)
    let later = try client(111)
    try wish(["b"], by: later, flags: .here)
    #expect(try own(111).all.map(\.names) == [["b"]])
  }

  @Test func `who has no terminal asks at none, and who asks at his own answers for nobody else`()
    throws
  {
    let asker = try client(110)
    try wish(["a"], by: asker, flags: .here)
    #expect(try answer(asker).failure == .protected)
    #expect(throws: ProtocolError.fieldValue) {
      try wish(["a"], by: asker, flags: [.here, .ifAwaited])
    }
    processes.set(link(30, below: 5, at: 1, terminal: 12, isLeader: true))
    processes.set(link(31, below: 30, at: 2, "kura", terminal: 12))
    let (typed, watching, answering) = (try client(31), try client(31), try client(31))
    try wish(["a"], by: typed, flags: .here)
    let queue = try own(31)
    let shown = queue.all[0].shown
    try watching.send {
      try $0.putRequest(.wishes(.init(.own, seen: queue.state, patience: 60_000)))
    }
    #expect(try isSilent(watching))
    try wish(["b"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    try answering.send {
      try $0.putRequest(
        .approve(
          .init(
            SlotAuthority(.passcode, secret: Bench.passcode.utf8.span),
            of: shown.span, .once)))
    }
    try bench.turn()
    try wish(["b"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    gate.open()
    #expect(try answer(answering).isOK)
    #expect(try answer(typed).isOK)
    #expect(try told(try bench.reply(on: watching)).all.isEmpty)
  }

  @Test func `those at one terminal, or at none, leave others room to ask`() throws {
    var clients: [Wire] = []
    for number in 0...WishDesk.mostOfTerminal {
      clients.append(try client(110))
      let own = clients[clients.count - 1]
      try wish(["a"], by: own, to: .client, lifetime: 5_000 + UInt64(number))
    }
    #expect(try answer(clients[clients.count - 1]).failure == .tooBusy)
    // Who joins a question makes none.
    let joins = try client(110)
    try wish(["b"], by: joins, to: .client, lifetime: 5_000)
    #expect(try isSilent(joins))
    processes.set(link(31, below: 20, at: 2, "kura", terminal: 8))
    let other = try client(31)
    try wish(["b"], by: other, flags: .here)
    #expect(try isSilent(other))
    #expect(bench.agent.sessions.first?.wishes.all.count == WishDesk.mostOfTerminal + 1)
  }
}
