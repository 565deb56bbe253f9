// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

// MARK: - Who is asked

extension WishTests {
  @Test func `who waits to be asked hears of each wish, and of its end`() throws {
    let answerer = try client(21)
    func next(_ seen: UInt64) throws -> Queue {
      try answerer.send { try $0.putRequest(.wishes(.init(seen: seen, patience: 60_000))) }
      return try told(try bench.reply(on: answerer))
    }
    var (state, all, _) = try next(0)
    #expect(all.isEmpty)
    try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 5_000))) }
    #expect(try isSilent(answerer))
    var asker: Wire? = try client(110)
    try wish(["a"], by: try #require(asker))
    (state, all, _) = try told(try bench.reply(on: answerer))
    #expect(all.map(\.names) == [["a"]])
    try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 5_000))) }
    #expect(try isSilent(answerer))
    asker = nil
    (state, all, _) = try told(try bench.reply(on: answerer))
    #expect(all.isEmpty)
    // With nothing new the time runs out.
    try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 5_000))) }
    #expect(try isSilent(answerer))
    bench.clock.pass(milliseconds: 5_000)
    #expect(try told(try bench.reply(on: answerer)).state == state)
  }

  @Test
  func `one who asks only where somebody waits is not kept, nor answered by its own programs`()
    throws
  {
    let asker = try client(110)
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    // One of its own programs may have itself asked, and is nobody.
    let own = try client(111)
    try own.send { try $0.putRequest(.wishes(.init(seen: 0, patience: 0))) }
    _ = try bench.reply(on: own)
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    let answerer = try client(21)
    try answerer.send { try $0.putRequest(.wishes(.init(seen: 0, patience: 0))) }
    let (state, _, _) = try told(try bench.reply(on: answerer))
    try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 60_000))) }
    try bench.turn(3)
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try told(try bench.reply(on: answerer)).all.map(\.names) == [["a"]])
    #expect(try isSilent(asker))
  }

  @Test func `who was told once and waits for nothing more is nobody`() throws {
    let (asker, mute) = (try client(110), try client(21))
    let state = try wishes(of: mute).state
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    // One that waited, and has been told, waits again in a moment.
    try mute.send { try $0.putRequest(.wishes(.init(seen: state, patience: 60_000))) }
    try bench.turn(3)
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try told(try bench.reply(on: mute)).all.count == 1)
    let second = try client(111)
    try wish(["b"], by: second, flags: .ifAwaited)
    #expect(try isSilent(second))
    bench.clock.pass(milliseconds: WishWatch.pause)
    let third = try client(111)
    try wish(["b"], by: third, flags: .ifAwaited)
    for wire in [asker, second, third] { #expect(try answer(wire).failure == .protected) }
    #expect(try wishes().isEmpty)
  }

  @Test func `who asks only where somebody answers waits for none who is stopped or gone`() throws {
    let asker = try client(110)
    var answerer: Wire? = try client(21)
    func rest() throws {
      let answerer = try #require(answerer)
      let state = try wishes(of: wire).state
      try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 60_000))) }
      try bench.turn(3)
    }
    try rest()
    processes.stop(21)
    try wish(["a"], by: asker, flags: .ifAwaited)
    #expect(try answer(asker).failure == .protected)
    processes.goOn(21)
    for isStop in [true, false] {
      try wish(["a"], by: asker, flags: .ifAwaited)
      #expect(try told(try bench.reply(on: try #require(answerer))).all.count == 1)
      try rest()
      bench.clock.pass(milliseconds: WishWatch.pause)
      #expect(try isSilent(asker))
      if isStop { processes.stop(21) } else { answerer = nil }
      try bench.turn(3)
      bench.clock.pass(milliseconds: WishWatch.pause)
      #expect(try answer(asker).failure == .protected)
      #expect(try wishes().isEmpty)
      processes.goOn(21)
      guard isStop else { continue }
      #expect(try told(try bench.reply(on: try #require(answerer))).all.isEmpty)
      try rest()
    }
  }
}

// MARK: - Who answers

extension WishTests {
  @Test func `a stranger joins no question, and is given nothing by its answer`() throws {
    let (asker, stranger, other) = (try client(110), try client(121), try client(121))
    let second = try client(111)
    try wish(["a"], by: asker)
    // What the owner may give to who asks alone is not for another's programs.
    var name = try SecretBuffer(capacity: 16)
    try name.put16(text: "a")
    var request = try SecretBuffer(capacity: 64)
    try request.putRequest(
      .wish(
        .init(
          KeyFields(name.bytes, count: 1), patience: 60_000, to: .process, process: 100,
          lifetime: 0x0234_5678)))
    var bytes = (0..<request.count).map { request.bytes[$0] }
    let time = try #require(
      bytes.indices.first { bytes[$0...].starts(with: [0x78, 0x56, 0x34, 0x02]) })
    bytes.replaceSubrange(time..<time + 4, with: [0, 0, 0, 0])
    try stranger.send(bytes: bytes)
    try bench.awaitEnd(of: stranger)
    let own = try client(111)
    try wish(["a"], by: own, to: .process, process: 100, lifetime: 5_000)
    try wish(["a", "b"], by: other, to: .process, process: 100, lifetime: 5_000)
    try wish(["c"], by: second, to: .process, process: 100, lifetime: 5_000)
    let all = try wishes()
    #expect(all.map(\.names) == [["a"], ["a", "c"], ["a", "b"]])
    #expect(all[2].chains == ["kura 121 < npm 120 < bash 10 < foot 5"])
    // What is for one run alone is a question of its own, though the run is below the same process.
    let run = try client(110)
    try wish(["b"], by: run, to: .client, lifetime: 5_000)
    #expect(try wishes().map(\.names) == [["a"], ["a", "c"], ["a", "b"], ["b"]])
    #expect(try approve(all[1].shown, .asked, by: wire).isOK)
    for wire in [own, second] { #expect(try answer(wire).isOK) }
    #expect(try isSilent(other))
    #expect(try value("a", on: asker) == nil && value("a", on: try client(121)) == nil)
    #expect(try value("a", on: try client(111)) == "value-a")
  }

  @Test func `one more who asks for the same is one more that was not shown`() throws {
    let first = try client(110)
    try wish(["a"], by: first)
    let before = try #require(try wishes().first)
    let second = try client(111)
    try wish(["a"], by: second)
    #expect(try approve(before.shown, .once, by: wire).failure == .changedMeanwhile)
    #expect(try isSilent(second))
    let now = try #require(try wishes().first)
    #expect(now.names == ["a"] && now.chains.count == 2)
    #expect(try approve(now.shown, .once, by: wire).isOK)
    for wire in [first, second] { #expect(try value("a", on: wire) == nil) }
  }

  @Test func `so many ask together and no more`() throws {
    var clients: [Wire] = []
    for _ in 0...ProtocolLimit.askers {
      clients.append(try client(110))
      try wish(["a"], by: clients[clients.count - 1])
    }
    #expect(try wishes().map(\.chains.count) == [ProtocolLimit.askers, 1])
  }

  @Test func `what asks does not answer itself, nor where it sees what is typed`() throws {
    // 31 is at another terminal of its own, 33 at that of the build.
    processes.set(link(100, below: 10, at: 2, "make", terminal: 7))
    processes.set(link(30, below: 5, at: 1, terminal: 8))
    processes.set(link(31, below: 30, at: 2, "kura", terminal: 8))
    processes.set(link(33, below: 30, at: 2, "kura", terminal: 7))
    // Of what 40 belongs to nobody knows all.
    processes.set(link(41, below: 30, at: 2, "kura", terminal: 8))
    for process: UInt32 in 200...263 {
      processes.set(link(process, below: process < 263 ? process + 1 : 30, at: 2))
    }
    processes.set(link(199, below: 200, at: 3, "kura", terminal: 8))
    let asker = try client(110)
    try wish(["a"], by: asker)
    let shown = try #require(try wishes(of: try client(31)).all.first).shown
    for process: Int32 in [100, 110, 111, 33, 199, 999] {
      let answerer = try client(process)
      let queue = try wishes(of: answerer)
      #expect(queue.all.isEmpty && queue.untold == 1, "\(process)")
      #expect(try approve(shown, .once, by: answerer).failure == .changedMeanwhile, "\(process)")
      try answerer.send { try $0.putRequest(.wishes(.init(seen: queue.state, patience: 60_000))) }
      let other = try client(111)
      try wish(["b"], by: other, flags: .ifAwaited)
      #expect(try answer(other).failure == .protected, "\(process)")
    }
    #expect(try isSilent(asker))
    #expect(try approve(shown, .once, by: try client(31)).isOK)
  }

  @Test func `what asks from without a terminal sees those of the programs that started it`() throws
  {
    let (outer, inner, desktop) = (UInt32(136 << 8 | 1), UInt32(136 << 8 | 2), UInt32(4 << 8 | 1))
    let window = UInt32(136 << 8 | 3)
    // A shell at a terminal starts what has none, and a program that draws a terminal for another shell.
    processes.set(link(5, below: 1, at: 1, "desk", terminal: desktop))
    processes.set(link(100, below: 5, at: 2, terminal: outer))
    processes.set(link(110, below: 100, at: 3, "sh"))
    processes.set(link(111, below: 110, at: 4, "kura"))
    processes.set(link(120, below: 5, at: 2, "script", terminal: outer))
    processes.set(link(121, below: 120, at: 3, "kura", terminal: inner))
    processes.set(link(30, below: 5, at: 2, terminal: window))
    processes.set(link(31, below: 30, at: 3, "kura", terminal: window))
    processes.set(link(40, below: 5, at: 2, "kura", terminal: outer))
    let asker = try client(111)
    try wish(["a"], by: asker)
    for process: Int32 in [121, 40] {
      #expect(try wishes(of: try client(process)).untold == 1, "\(process)")
    }
    // The terminal that the desktop was started at is no window's.
    #expect(try wishes(of: try client(31)).untold == 0)
  }

  @Test func `what starts a run does not answer for it`() throws {
    let run = try client(110)
    try wish(["a"], by: run, to: .client, lifetime: 5_000)
    #expect(try wishes(of: try client(111)).untold == 1)
    #expect(try wishes().count == 1)
  }
}

// MARK: - A no

extension WishTests {
  @Test func `a no to one run is a no to the next, whatever form the name has`() throws {
    let name = "\u{E9}"
    #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
    let run = try client(110)
    try wish([name], by: run, to: .client, lifetime: 5_000)
    #expect(try decline(try wishes()[0].number, by: wire).isOK)
    #expect(try answer(run).failure == .cancelled)
    for form in [name, "e\u{301}"] {
      for scope in [GrantScope.client, .program] {
        let next = try client(111)
        try wish([form], by: next, to: scope, lifetime: 5_000)
        #expect(try answer(next).failure == .cancelled, "\(form.utf8.count) \(scope)")
      }
    }
  }

  @Test func `a no holds in trees that who asked stands in, and comes from who may answer`() throws
  {
    // The process is named, and its own programs ask nothing.
    let stranger = try client(121)
    try wish(["a"], by: stranger, to: .process, process: 100, lifetime: 5_000)
    let number = try wishes()[0].number
    #expect(try decline(number, by: try client(121)).failure == .changedMeanwhile)
    #expect(try decline(number, by: wire).isOK)
    let own = try client(110)
    try wish(["a"], by: own)
    #expect(try isSilent(own))
    // Where nobody waits to answer, who asks its owner itself hears of no refusal.
    #expect(try decline(try wishes()[0].number, by: wire).isOK)
    #expect(try answer(own).failure == .cancelled)
    let next = try client(110)
    try wish(["a"], by: next, flags: .ifAwaited)
    #expect(try answer(next).failure == .protected)
  }

  @Test func `a lock forgets what was refused`() throws {
    let asker = try client(110)
    try wish(["a"], by: asker)
    #expect(try decline(try wishes()[0].number, by: wire).isOK)
    #expect(try answer(asker).failure == .cancelled)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    try wish(["a"], by: asker)
    #expect(try isSilent(asker))
  }

  @Test func `of so many names a no is remembered, and of no more`() throws {
    let most = WishDesk.mostDeclined
    let names = (0..<most + ProtocolLimit.asked).map { "n\($0)" }
    for name in names {
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
    }
    for start in stride(from: 0, to: names.count, by: ProtocolLimit.asked) {
      let asker = try client(110)
      try wish(Array(names[start..<start + ProtocolLimit.asked]), by: asker)
      #expect(try decline(try wishes()[0].number, by: wire).isOK)
    }
    let (last, first) = (try client(110), try client(110))
    try wish([names[ProtocolLimit.asked]], by: last)
    #expect(try answer(last).failure == .cancelled)
    try wish([names[0]], by: first)
    #expect(try isSilent(first))
  }
}

// MARK: - What cannot be given, or not be shown

extension WishTests {
  @Test func `what cannot be given any more is answered so, and stands no longer`() throws {
    let (asker, run) = (try client(110), try client(121))
    try wish(["a", "b"], by: asker)
    #expect(try bench.ask(wire) { try $0.remove("b") }.isOK)
    let gone = try approve(try wishes()[0].shown, .once, by: wire)
    #expect(gone.refusal == .notFound(.text("b")))
    #expect(try answer(asker).refusal == .notFound(.text("b")))
    #expect(try value("a", on: asker) == nil)
    try wish(["a"], by: run, to: .client, lifetime: 5_000)
    processes.end(121)
    #expect(try approve(try wishes()[0].shown, .asked, by: wire).failure == .processGone)
    #expect(try answer(run).failure == .processGone)
    #expect(try wishes().isEmpty)
  }

  @Test func `a name that takes many lines is not asked for`() throws {
    let most = Wish.longestName
    for count in [most, most + 1] {
      let name = String(repeating: "n", count: count)
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
      let asker = try client(110)
      try wish([name], by: asker)
      if count == most {
        #expect(try isSilent(asker))
      } else {
        #expect(try answer(asker).refusal == .protected(.text(name)))
      }
    }
  }

  @Test func `a program's name makes no others of those that ask`() throws {
    processes.set(link(140, below: 10, at: 2, "make 42 < bash (10), and more of it"))
    processes.set(link(141, below: 140, at: 3, "kura"))
    let asker = try client(141)
    try wish(["a"], by: asker)
    let chains = try wishes().map(\.chains)
    #expect(chains == [["kura 141 < make?42???bash??10???and 140 < bash 10 < foot 5"]])
    #expect(try isSilent(asker))
  }

  @Test func `all that is asked for is told in one frame`() {
    let number = " < ".utf8.count + " 4294967295".utf8.count
    let asker = 4 + 8 * (24 + number) + ProtocolLimit.reason
    let wish =
      64 + 64 + ProtocolLimit.asked * (2 + Wish.longestName) + ProtocolLimit.askers * asker
    #expect(WishDesk.most * wish < ProtocolLimit.frame)
  }
}
