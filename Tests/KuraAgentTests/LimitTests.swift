// SPDX-License-Identifier: MIT

import Glibc
import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

/// The directory of the socket, and vaults that another program writes to.
@Suite struct LimitTests {
  /// A client that comes by the socket of an agent that listens.
  private func connect(_ bench: Bench) throws -> Wire {
    try Wire.connect(to: bench.scratch.path + "/run/agent.sock")
  }

  private func listening(_ adjust: (inout AgentConfiguration) -> Void = { _ in }) throws -> Bench {
    let bench = try Bench(adjust)
    try bench.agent.listen(in: bench.scratch.path + "/run")
    return bench
  }

  private func greet(_ bench: Bench, _ wire: Wire) throws {
    try wire.send {
      try $0.hello(bench.vault)
      try $0.putRequest(.agentStatus)
    }
  }

  @Test func `the socket is ours alone`() throws {
    let bench = try listening()
    var status = stat()
    #expect(lstat(bench.scratch.path + "/run", &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(
      lstat(bench.scratch.path + "/run/agent.sock", &status) == 0
        && status.st_mode & 0o777 == 0o600)
  }

  @Test func `a second agent does not take the first one's place`() throws {
    let bench = try listening()
    let second = try Agent(AgentConfiguration(stateDirectory: bench.scratch.path + "/state"))
    #expect(throws: AgentError.alreadyRunning) {
      try second.listen(in: bench.scratch.path + "/run")
    }
    let wire = try connect(bench)
    try greet(bench, wire)
    #expect(try bench.reply(on: wire).type == .agentHello)
  }

  @Test func `nor does one start beside it at another place`() throws {
    let bench = try listening()
    let run = bench.scratch.path + "/run"
    let second = try Agent(AgentConfiguration(stateDirectory: bench.scratch.path + "/state"))
    let other = bench.scratch.path + "/other"
    #expect(throws: AgentError.alreadyRunning) { try second.listen(in: other, unlessAt: [run]) }
    try second.listen(in: other, unlessAt: [bench.scratch.path + "/nowhere"])
    #expect(bench.scratch.names(in: "nowhere") == [])
  }

  @Test func `nor does one that starts at the same time`() throws {
    let scratch = try Scratch()
    let run = scratch.path + "/run"
    try #require(mkdir(run, 0o700) == 0)
    // The other one has the lock, and does not listen yet.
    let other = open(run + "/agent.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0)
    let agent = try Agent(AgentConfiguration(stateDirectory: scratch.path + "/state"))
    #expect(throws: AgentError.alreadyRunning) { try agent.listen(in: run) }
    close(other)
    try agent.listen(in: run)
  }

  @Test func `a directory that others can enter is refused`() throws {
    let scratch = try Scratch()
    try #require(mkdir(scratch.path + "/run", 0o755) == 0)
    try #require(chmod(scratch.path + "/run", 0o755) == 0)
    let agent = try Agent(AgentConfiguration(stateDirectory: scratch.path))
    #expect(throws: AgentError.directoryUnsafe(path: scratch.path + "/run")) {
      try agent.listen(in: scratch.path + "/run")
    }
  }

  @Test func `a symbolic link to a directory is refused`() throws {
    let scratch = try Scratch()
    try #require(mkdir(scratch.path + "/real", 0o700) == 0)
    try #require(symlink(scratch.path + "/real", scratch.path + "/run") == 0)
    let agent = try Agent(AgentConfiguration(stateDirectory: scratch.path))
    #expect(throws: AgentError.directoryUnsafe(path: scratch.path + "/run")) {
      try agent.listen(in: scratch.path + "/run")
    }
  }
}

// MARK: - Memory

extension LimitTests {
  @Test(.enabled(if: dlsym(nil, "__asan_init") == nil, "AddressSanitizer replaces mlock"))
  func `no key comes into memory that cannot be locked, where that is asked for`() async {
    await #expect(processExitsWith: .success) {
      // Root may lock what it likes, so that the child becomes nobody.
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      let memlock = __rlimit_resource_t(8)
      precondition(setrlimit(memlock, &none) == 0 && (getuid() != 0 || setuid(65534) == 0))
      let bench = try Bench { $0.requiresLockedMemory = true }
      try bench.create()
      let wire = try bench.client()
      let refused = try bench.ask(wire) { try $0.unlock(Bench.passcode) }
      precondition(refused.failure == .memoryNotLocked)
      let (other, easy) = (try Bench(), bench.scratch.names(in: "data"))
      precondition(easy.count == 1)
      _ = try other.unlocked()
    }
  }
}

// MARK: - Busy vaults

extension LimitTests {
  @Test func `a write waits for another program's`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    _ = try bench.ask(other) { try $0.put("b", "2") }
    var writer: VaultWriter? = try VaultWriter(bench.vault)
    try wire.send { try $0.put("a", "1") }
    try bench.turn(3)
    #expect(try bench.ask(other) { try $0.get("b") }.value == "2")
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    withExtendedLifetime(writer) {}
    writer = nil
    #expect(try bench.reply(on: wire).isOK)
    #expect(try bench.ask(other) { try $0.get("a") }.value == "1")
  }

  @Test func `a write gives up after five seconds`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let writer = try VaultWriter(bench.vault)
    try wire.send { try $0.put("a", "1") }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 4_999)
    try bench.turn(3)
    wire.receive()
    #expect(try wire.nextFrame() == nil)
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.reply(on: wire).failure == .busy)
    withExtendedLifetime(writer) {}
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
  }

  @Test func `a lock ends the waiting`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    let writer = try VaultWriter(bench.vault)
    try wire.send { try $0.put("a", "1") }
    try bench.turn(3)
    try other.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.reply(on: wire).lockReason == .asked)
    // The writer may still change the file.
    #expect(try bench.reply(on: other).failure == .notWhole)
    withExtendedLifetime(writer) {}
  }
}
