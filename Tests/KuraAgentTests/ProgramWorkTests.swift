// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import Testing

/// The built program at work: what clients, files and time do to it.
@Suite struct ProgramWorkTests {
  @Test func `another client is served while a key is derived`() throws {
    let isServed = try isFirst { other in
      try other.send { try $0.get("a") }
      #expect(try other.frame().value == "1")
    }
    #expect(isServed)
  }

  @Test func `a lock is not held up by a key that is derived`() throws {
    let isLocked = try isFirst { other in
      try other.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
      #expect(try other.frame().isOK)
    }
    #expect(isLocked)
  }

  /// Whether a client of an unlocked vault is answered before a key that somebody else waits for is there.
  /// An agent that derived in its loop would never do that; a busy machine may keep the test from seeing it
  /// once, not each time.
  private func isFirst(_ ask: (Wire) throws -> Void) throws -> Bool {
    for _ in 0..<5 {
      let home = try Home()
      let agent = try home.agent()
      let other = try home.unlocked()
      try other.send { try $0.put("a", "1") }
      #expect(try other.frame().isOK)
      let slow = try home.connect()
      try slow.send { buffer in
        try buffer.hello(home.path + "/data/slow.kura")
        try buffer.putRequest(
          .create(
            .init(
              passcode: "x".utf8.span, cost: KDFParameters(memory: 256 << 20, passes: 3), flags: [])
          ))
      }
      #expect(try slow.frame().type == .agentHello)
      try ask(other)
      slow.receive()
      let isFirst = try slow.nextFrame() == nil
      #expect(agent.poll() == nil)
      if isFirst { return try slow.frame().isOK }
    }
    return false
  }

  @Test func `300 clients that say nothing, or only hello, keep nobody out`() throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.unlocked()
    let silent = try (0..<300).map { number in
      number % 2 == 0 ? try home.connect() : try home.client()
    }
    let late = try home.client()
    try late.send { try $0.get("a") }
    #expect(try late.frame().failure == .notFound)
    try late.send { try $0.putRequest(.lock(.init(.asked, scope: .all))) }
    #expect(try late.frame().isOK)
    try late.send { try $0.get("a") }
    #expect(try late.frame().failure == .locked)
    #expect(agent.poll() == nil)
    withExtendedLifetime((wire, silent)) {}
  }

  @Test func `a small table of descriptors makes clients wait, no more`() throws {
    let home = try Home()
    let agent = try home.agent(shell: "ulimit -Hn 24; exec \"$@\"")
    var wires = try (0..<40).map { _ in try home.connect() }
    for wire in wires {
      try wire.send {
        try $0.hello(home.vault)
        try $0.putRequest(.agentStatus)
      }
    }
    while let wire = wires.first {
      #expect(try wire.frame().type == .agentHello)
      wires.removeFirst()
    }
    #expect(agent.poll() == nil)
  }

  @Test func `a file that may not grow is an error, not the end`() throws {
    let home = try Home()
    let agent = try home.agent(shell: "ulimit -f 1000; exec \"$@\"")
    let wire = try home.unlocked()
    var failures: [Failure?] = []
    for _ in 0..<16 {
      try wire.send { try $0.put("a", String(repeating: "x", count: 60_000), flags: .replace) }
      failures.append(try wire.frame().failure)
    }
    #expect(failures.contains(.inputOutput) || failures.contains(.diskFull))
    try wire.send { try $0.putRequest(.agentStatus) }
    #expect(try wire.frame().isOK)
    #expect(agent.poll() == nil)
  }

  @Test func `it cannot be traced or dumped by its user`() throws {
    let home = try Home()
    let agent = try home.agent()
    var limits = ""
    if let file = fopen("/proc/\(agent.identifier)/limits", "r") {
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, 256, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        if text.hasPrefix("Max core file size") { limits = text }
      }
      fclose(file)
    }
    #expect(limits.split(separator: " ").dropFirst(4).first == "0")
    // An undumpable process's files under /proc belong to root; where the tests are root's, all do.
    var status = stat()
    #expect(stat("/proc/\(agent.identifier)/environ", &status) == 0 && status.st_uid == 0)
    let wire = try home.client()
    try wire.send { try $0.putRequest(.agentFacts) }
    let reply = try wire.frame()
    let facts = try AgentFacts(reply.payload.span)
    #expect(!facts.isDumpable)
    #expect(facts.isConfined)
  }
}

// MARK: - Time

extension ProgramWorkTests {
  @Test func `the vault is locked when its time is over, without any request`() async throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.unlocked(idle: 3_000)
    let deadline = ContinuousClock.now + .seconds(20)
    while home.scratch.names(in: "data") != ["default.kura"], ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(home.scratch.names(in: "data") == ["default.kura"])
    try wire.send { try $0.get("a") }
    #expect(try wire.frame().lockReason == .idle)
    #expect(agent.poll() == nil)
  }

  @Test func `an agent that was held up locks before it answers what came meanwhile`() async throws
  {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.unlocked(idle: 3_000)
    agent.signal(SIGSTOP)
    try wire.send { try $0.get("a") }
    try await Task.sleep(for: .milliseconds(3_100))
    agent.signal(SIGCONT)
    #expect(try wire.frame().lockReason == .idle)
  }

  @Test func `a key that is derived runs to its end when the agent is to end`() throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.connect()
    try wire.send { buffer in
      try buffer.hello(home.vault)
      try buffer.putRequest(
        .create(
          .init(
            passcode: "x".utf8.span, cost: KDFParameters(memory: 64 << 20, passes: 3), flags: [])))
    }
    #expect(try wire.frame().type == .agentHello)
    agent.signal(SIGTERM)
    try wire.awaitEnd()
    #expect(try agent.wait() == 0)
    #expect(home.scratch.names(in: "data") == [])
  }
}
