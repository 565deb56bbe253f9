// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraAgent

/// What the processes above a client mean for its questions.
extension WishTests {
  @Test func `a no holds for what started those who asked, and not for the shell of a terminal`()
    throws
  {
    // 30 is a shell at a terminal, in which 31 starts a shell for each thing it does, some in a session of their own.
    processes.set(link(30, below: 5, at: 1, terminal: 8, isLeader: true))
    processes.set(link(31, below: 30, at: 2, "node", terminal: 8))
    for (shell, start) in [(UInt32(32), UInt64(3)), (34, 5), (36, 7)] {
      processes.set(link(shell, below: 31, at: start, "sh", isLeader: shell != 34))
      processes.set(link(shell + 1, below: shell, at: start + 1, "kura"))
    }
    processes.set(link(38, below: 30, at: 9, "sh", terminal: 8))
    processes.set(link(39, below: 38, at: 10, "kura", terminal: 8))
    let first = try client(33)
    try wish(["a"], by: first)
    #expect(try decline(try wishes()[0].number, by: wire).isOK)
    #expect(try answer(first).failure == .cancelled)
    for process: Int32 in [35, 37] {
      let next = try client(process)
      try wish(["a"], by: next)
      #expect(try answer(next).failure == .cancelled, "\(process)")
    }
    let owner = try client(39)
    try wish(["a"], by: owner)
    #expect(try isSilent(owner))
    #expect(try wishes().map(\.names) == [["a"]])
  }

  @Test func `programs that are too many to be shown are marked`() throws {
    for process: UInt32 in 200...206 {
      processes.set(link(process, below: process < 206 ? process + 1 : 10, at: 2, "sh"))
    }
    let clients = [try client(110), try client(200)]
    for client in clients { try wish(["a"], by: client) }
    let chains = try wishes().map(\.chains[0])
    #expect(chains[0] == "kura 110 < make 100 < bash 10 < foot 5")
    #expect(chains[1].hasSuffix(" < sh 206 < bash 10 < ..."))
  }

  @Test func `who can ask elsewhere waits a minute for one who never answers`() throws {
    let (asker, patient, mute) = (try client(110), try client(121), try client(21))
    var state = try wishes(of: mute).state
    func wait() throws {
      try mute.send { try $0.putRequest(.wishes(.init(seen: state, patience: 3_600_000))) }
      try bench.turn(3)
    }
    try wait()
    for (client, flags) in [(asker, WishRequest.Flags.ifAwaited), (patient, WishRequest.Flags())] {
      try wish(["a"], by: client, flags: flags, patience: .max)
      state = try told(try bench.reply(on: mute)).state
      try wait()
    }
    for _ in 1..<30 {
      bench.clock.pass(milliseconds: WishWatch.pause)
      #expect(try isSilent(asker))
    }
    bench.clock.pass(milliseconds: WishWatch.pause)
    #expect(try answer(asker).failure == .protected)
    #expect(try isSilent(patient))
  }

  @Test func `where who waits stands is looked at when it is told`() throws {
    let answerer = try client(31)
    let (asker, second) = (try client(110), try client(111))
    func rest() throws {
      let state = try wishes(of: wire).state
      try answerer.send { try $0.putRequest(.wishes(.init(seen: state, patience: 60_000))) }
      try bench.turn(3)
    }
    // It is not seen when it begins to wait.
    try rest()
    processes.set(link(31, below: 20, at: 2, "kura"))
    try wish(["a"], by: asker)
    #expect(try told(try bench.reply(on: answerer)).all.map(\.names) == [["a"]])
    try rest()
    processes.set(link(31, below: 100, at: 4, "kura"))
    try wish(["b"], by: second)
    let queue = try told(try bench.reply(on: answerer))
    #expect(queue.all.isEmpty && queue.untold == 1)
  }
}
