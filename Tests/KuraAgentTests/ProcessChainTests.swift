// SPDX-License-Identifier: MIT

import CKuraSystem
import Glibc
import KuraProtocol
import SecureMemory
import Synchronization
import Testing

@testable import KuraAgent

@Suite struct `The programs that are answered for together` {
  private func chain(_ links: [ProcessLink], latest: UInt64 = 1_000) -> ProcessChain? {
    let processes = Processes(links)
    return ProcessChain(of: links[0].process, startedBefore: latest, processes.look)
  }

  @Test func `are those below the nearest process that is not kura`() {
    let shell = link(20, below: 10, at: 50)
    let above = link(10, below: 1, at: 5, "foot")
    let direct = chain([link(30, below: 20, at: 100, "kura"), shell, above])
    #expect(direct?.tree == ProcessTree(process: 20, start: 50))
    let nested = chain([
      link(40, below: 30, at: 110, "kura"), link(30, below: 20, at: 100, "kura"), shell, above,
    ])
    #expect(nested?.tree == ProcessTree(process: 20, start: 50))
    let library = chain([link(30, below: 20, at: 100, "app"), shell, above])
    #expect(library?.tree == ProcessTree(process: 30, start: 100))
  }

  @Test(arguments: ["systemd", "tmux: server", "Xorg", "sshd", "SCREEN"])
  func `are never all of a login or a terminal`(name: String) {
    let links = [link(30, below: 20, at: 100, "kura"), link(20, below: 1, at: 5, name)]
    #expect(chain(links) != nil && chain(links)?.tree == nil)
    #expect(chain([link(30, below: 1, at: 100, "kura")])?.tree == nil)
    // The first process of all is none to answer for, whatever it is.
    let first = link(1, below: 0, at: 0)
    #expect(chain([link(30, below: 1, at: 100, "kura"), first])?.tree == nil)
  }

  @Test func `have the same process above them, by number and start`() throws {
    let links = [
      link(30, below: 20, at: 100, "kura"), link(20, below: 10, at: 50),
      link(10, below: 1, at: 5, "foot"),
    ]
    let below = try #require(chain(links))
    #expect(below.isWithin(ProcessTree(process: 20, start: 50)))
    #expect(below.isWithin(ProcessTree(process: 10, start: 5)))
    #expect(!below.isWithin(ProcessTree(process: 20, start: 51)))
    #expect(!below.isWithin(ProcessTree(process: 21, start: 50)))
  }

  @Test func `are not in a room of their own`() throws {
    let links = [
      link(30, below: 20, at: 100, "kura", depth: 2), link(20, below: 10, at: 50, depth: 2),
      link(10, below: 1, at: 5, "foot"),
    ]
    let inside = try #require(chain(links))
    #expect(inside.isWithin(ProcessTree(process: 20, start: 50)))
    #expect(!inside.isWithin(ProcessTree(process: 10, start: 5)))
    let alone = chain([
      link(30, below: 20, at: 100, "kura", depth: 2), link(20, below: 1, at: 50),
    ])
    #expect(alone != nil && alone?.tree == nil)
  }

  @Test func `are not those of another user`() throws {
    let links = [
      link(30, below: 20, at: 100, "kura"), link(20, below: 10, at: 50, "sudo", user: 0),
      link(10, below: 1, at: 5),
    ]
    let other = try #require(chain(links))
    #expect(other.tree == nil)
    #expect(!other.isWithin(ProcessTree(process: 20, start: 50)))
    #expect(!other.isWithin(ProcessTree(process: 10, start: 5)))
  }

  @Test func `are never all of who opened their terminal`() {
    let kura = link(30, below: 20, at: 100, "kura", terminal: 34_817)
    #expect(chain([kura, link(20, below: 1, at: 50, "foot")])?.tree == nil)
    #expect(chain([kura, link(20, below: 1, at: 50, "foot", terminal: 34_816)])?.tree == nil)
    #expect(chain([kura, link(20, below: 1, at: 50, terminal: 34_817)])?.tree != nil)
    // What has left its terminal is below the same shell still.
    let gone = link(30, below: 20, at: 100, "kura")
    #expect(chain([gone, link(20, below: 1, at: 50, terminal: 34_817)])?.tree != nil)
  }

  @Test func `are known where the kernel tells nothing of who is above them`() {
    let kura = link(30, below: 20, at: 100, "kura")
    let tree = chain([kura, link(20, below: 10, at: 50)])?.tree
    #expect(tree == ProcessTree(process: 20, start: 50))
    #expect(chain([link(30, below: 20, at: 100, "kura")])?.tree == nil)
  }

  @Test func `are not told where a number may be another process's`() {
    let links = [link(30, below: 20, at: 100, "kura"), link(20, below: 1, at: 50)]
    #expect(chain(links, latest: 99) == nil)
    #expect(chain(links, latest: 100) != nil)
    #expect(chain([links[0], link(20, below: 1, at: 101)]) == nil)
    let processes = Processes(links)
    let looks = Mutex(0)
    let changing = ProcessChain(of: 30, startedBefore: 1_000) { process, question in
      let count = looks.withLock { looks in
        looks += 1
        return looks
      }
      if count == 3 { processes.set(link(20, below: 1, at: 60)) }
      return processes.look(process, question)
    }
    #expect(changing == nil)
  }

  @Test func `are looked for no further up than they matter`() throws {
    let processes = Processes([
      link(40, below: 30, at: 90, "kura"), link(30, below: 20, at: 80), link(20, below: 10, at: 60),
      link(10, below: 5, at: 50), link(5, below: 1, at: 0),
    ])
    func numbers(upTo roots: [ProcessTree]) -> [UInt32]? {
      ProcessChain(of: 40, startedBefore: 100, upTo: roots, processes.look)?.links.map(\.process)
    }
    let (near, far) = (ProcessTree(process: 30, start: 80), ProcessTree(process: 10, start: 50))
    #expect(numbers(upTo: [near]) == [40, 30])
    #expect(numbers(upTo: [near, near]) == [40, 30])
    #expect(numbers(upTo: [near, far]) == [40, 30, 20, 10])
    #expect(numbers(upTo: [far, near]) == [40, 30, 20, 10])
    // What is none of them, though by its number, and where there are none.
    #expect(numbers(upTo: [ProcessTree(process: 30, start: 79)]) == [40, 30, 20, 10, 5])
    #expect(numbers(upTo: []) == [40, 30, 20, 10, 5])
  }

  @Test func `are told by the kernel`() throws {
    let own = try #require(ProcessLink.read(UInt32(getpid())))
    #expect(own.parent == UInt32(getppid()) && own.depth >= 1)
    #expect(own.start <= ProcessLink.latestStart && !own.name.isEmpty)
    #expect(own.user == geteuid() && own.isLeader == (getsid(0) == getpid()))
    #expect(getsid(0) == 0 || ProcessLink.read(UInt32(getsid(0)))?.isLeader == true)
    let chain = ProcessChain(
      of: own.process, startedBefore: ProcessLink.latestStart, ProcessLink.read)
    #expect(chain?.links.first == own)
    #expect(ProcessLink.read(own.process, .again(own)) == own)
    let place = try #require(ProcessLink.read(own.process, .place))
    #expect(ProcessLink.read(own.process, .again(place)) == place)
    #expect(place.isFit(beside: own) && place.start == own.start && place.parent == own.parent)
    for other in [
      link(own.process, below: own.parent, at: own.start + 1_000), link(4_000_000, below: 1, at: 1),
    ] {
      #expect(ProcessLink.read(other.process, .again(other)) != other)
    }
    #expect(ProcessLink.read(4_000_000) == nil)
  }

  @Test func `are told whether who is at the other end lives`() throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.client()
    #expect(kura_server_peer_is_there(wire.raw) == 1)
    agent.signal(SIGKILL)
    _ = try agent.wait()
    #expect(kura_server_peer_is_there(wire.raw) == 0)
  }
}

@Suite struct `A window` {
  private static let own = UInt32(getpid())

  /// A bench with a window, whose clients are below shell 10, and who has read `a` there.
  private func bench(
    _ livesAtEnd: @escaping @Sendable (Int32) -> Bool = { _ in true }
  ) throws -> (Bench, Processes, Holder) {
    let processes = Processes([
      link(Self.own, below: 10, at: 0, "kura"), link(10, below: 5, at: 0),
      link(20, below: 5, at: 0), link(5, below: 1, at: 0, "foot"),
    ])
    let holder = Holder(processes)
    let bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.holdProcess = holder.hold
      configuration.livesAtEnd = livesAtEnd
    }
    let wire = try bench.unlocked()
    for name in ["a", "b"] {
      #expect(try bench.ask(wire) { try $0.put(name, "1", flags: .protect) }.isOK)
    }
    #expect(try bench.ask(wire) { try $0.set(.reuseWindow, 300_000) }.isOK)
    let asker = try bench.client()
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(asker) { try $0.putRequest(.authorize(.init(.passcode, secret: word))) }.isOK)
    #expect(try bench.ask(asker) { try $0.get("a") }.isOK)
    return (bench, processes, holder)
  }

  @Test func `covers the item that was answered for, and no other`() throws {
    let (bench, _, _) = try bench()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
    #expect(try bench.ask(wire) { try $0.get("b") }.failure == .protected)
    // It is the value that was read: neither an earlier one nor the next.
    #expect(try bench.ask(wire) { try $0.put("a", "2", flags: .replace) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
    #expect(try bench.ask(wire) { try $0.get("a", revision: 1) }.value == "1")
  }

  @Test func `covers the programs that were answered for, and no others`() throws {
    let (bench, processes, _) = try bench()
    processes.set(link(Self.own, below: 20, at: 0, "kura"))
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
    processes.set(link(Self.own, below: 10, at: 0, "kura"))
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
    // Another process with the number of the shell.
    processes.set(link(10, below: 5, at: 1))
    processes.set(link(Self.own, below: 10, at: 1, "kura"))
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
  }

  @Test func `is none where it would cover a whole login`() throws {
    let (bench, processes, _) = try bench()
    processes.set(link(5, below: 1, at: 0, "systemd"))
    processes.set(link(Self.own, below: 5, at: 0, "kura"))
    let wire = try bench.client()
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(wire) { try $0.putRequest(.authorize(.init(.passcode, secret: word))) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("b") }.isOK)
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.get("b") }.failure == .protected)
  }

  @Test func `covers nobody whose process has ended, and may be another by its number`() throws {
    let lives = Mutex(true)
    let (bench, _, _) = try bench { _ in lives.withLock { $0 } }
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    lives.withLock { $0 = false }
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
  }

  @Test func `reads nothing of processes where it is not needed`() throws {
    let looks = Mutex(0)
    let bench = try Bench {
      $0.processes = { _, _ in
        looks.withLock { $0 += 1 }
        return nil
      }
    }
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    #expect(try bench.ask(wire) { try $0.put("b", "1", flags: .protect) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("b") }.failure == .protected)
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(wire) { try $0.putRequest(.authorize(.init(.passcode, secret: word))) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("b") }.isOK)
    #expect(looks.withLock { $0 } == 0)
    #expect(try bench.ask(wire) { try $0.set(.reuseWindow, 300_000) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("b") }.isOK)
    #expect(looks.withLock { $0 } > 0)
  }

  @Test func `ends with the process that it is for, without a request`() throws {
    let (bench, _, holder) = try bench()
    let session = try #require(bench.agent.sessions.first)
    #expect(session.windows.count == 1)
    holder.end(10)
    try bench.turn()
    #expect(session.windows.isEmpty)
  }

  @Test func `ends with the passcode that it began with`() throws {
    let (bench, _, _) = try bench()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "another horse") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .protected)
  }

  @Test func `has its place taken by the newest, where there are too many`() throws {
    let (bench, _, _) = try bench()
    let session = try #require(bench.agent.sessions.first)
    let wire = try bench.client()
    let word = Bench.passcode.utf8.span
    #expect(
      try bench.ask(wire) { try $0.putRequest(.authorize(.init(.passcode, secret: word))) }.isOK)
    for number in 1...Window.most {
      #expect(try bench.ask(wire) { try $0.put("n\(number)", "1", flags: .protect) }.isOK)
      #expect(try bench.ask(wire) { try $0.get("n\(number)") }.isOK)
    }
    #expect(session.windows.count == Window.most)
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.get("a") }.failure == .protected)
    #expect(try bench.ask(other) { try $0.get("n\(Window.most)") }.isOK)
  }

  @Test func `keeps the key of a value alone`() throws {
    let (bench, _, _) = try bench()
    let session = try #require(bench.agent.sessions.first)
    #expect(session.windows.count == 1)
    bench.clock.pass(milliseconds: 60_000)
    try bench.turn()
    #expect(bench.agent.connections.allSatisfy { $0.grant == nil })
    #expect(session.windows.count == 1)
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("b") }.failure == .protected)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(session.windows.isEmpty)
  }
}
