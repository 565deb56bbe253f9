// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraProtocol
import Testing

/// The built program, as a user's session sees it.
@Suite struct ProgramTests {
  private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let home = try Home()
    let process = try AgentProcess(arguments, home: home.path)
    let output = try process.readOutput()
    return (try process.wait(), output)
  }

  @Test func `it tells its release and its usage`() throws {
    let version = try run(["--version"])
    #expect(version.status == 0)
    #expect(version.output == "kura-agent \(Release.version)\n")
    let help = try run(["--help"])
    #expect(help.status == 0)
    #expect(help.output.hasPrefix("usage: kura-agent "))
  }

  @Test(arguments: [["--nonsense"], ["word"], ["--ready-fd"], ["--ready-fd", "x"]])
  func `arguments it does not know are refused`(arguments: [String]) throws {
    let result = try run(arguments)
    #expect(result.status == 2)
    #expect(result.output.hasPrefix("kura-agent: error: "))
    #expect(result.output.contains("kura-agent: hint: "))
  }

  @Test func `it says that it listens, in a directory of its own`() throws {
    let home = try Home()
    let agent = try home.agent()
    var status = stat()
    #expect(lstat(home.path + "/run/kura", &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(lstat(home.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try home.client().isAtEnd == false)
    #expect(agent.poll() == nil)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func `a signal locks the vault and ends the agent`(signal: Int32) throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.unlocked()
    try wire.send { try $0.put("a", "1") }
    #expect(try wire.frame().isOK)
    agent.signal(signal)
    try wire.awaitEnd()
    #expect(try agent.wait() == 0)
    #expect(home.scratch.names(in: "data") == ["default.kura"])
    #expect(home.scratch.names(in: "run/kura") == ["agent.lock"])
  }

  @Test func `by hand it goes to the background also where a session is its own`() throws {
    let home = try Home()
    let starter = try AgentProcess([], home: home.path)
    #expect(try starter.wait() == 0)
    let wire = try home.client()
    try wire.send { try $0.putRequest(.agentStop) }
    #expect(try wire.frame().isOK)
    try wire.awaitEnd()
  }

  @Test func `in the background it leaves the session of who started it`() throws {
    let home = try Home()
    // A child of a shell that leads the session: it must fork to get one of its own.
    let starter = try AgentProcess(["--ready-fd", "3"], home: home.path, shell: "\"$@\" & wait $!")
    #expect(try starter.readOutput(until: "R").contains("R"))
    #expect(try starter.wait() == 0)
    let wire = try home.client()
    try wire.send { try $0.putRequest(.agentStatus) }
    let reply = try wire.frame()
    let report = try AgentReport(reply.payload.span)
    let identifier = pid_t(report.processID)
    #expect(getsid(identifier) == identifier)
    #expect(kill(identifier, SIGTERM) == 0)
    try wire.awaitEnd()
  }
}

// MARK: - One agent a directory

extension ProgramTests {
  @Test func `of two that start at once one listens, and the other says so`() throws {
    let home = try Home()
    let arguments = ["--foreground", "--ready-fd", "3"]
    let agents = try (0..<4).map { _ in try AgentProcess(arguments, home: home.path) }
    var waiting = agents
    let deadline = ContinuousClock.now + .seconds(20)
    while waiting.count > 1, ContinuousClock.now < deadline {
      waiting.removeAll { $0.poll() != nil }
      usleep(1_000)
    }
    #expect(waiting.count == 1)
    for agent in agents where agent.poll() != nil { #expect(agent.status == 14) }
    #expect(try home.client().isAtEnd == false)
  }

  @Test func `a killed agent's socket is taken over`() throws {
    let home = try Home()
    let first = try home.agent()
    first.signal(SIGKILL)
    #expect(try first.wait() == 128 + SIGKILL)
    #expect(home.scratch.names(in: "run/kura") == ["agent.lock", "agent.sock"])
    let second = try home.agent()
    #expect(try home.client().isAtEnd == false)
    #expect(second.poll() == nil)
  }

  @Test func `an agent whose socket is removed locks and ends`() throws {
    let home = try Home()
    let agent = try home.agent()
    let wire = try home.unlocked()
    #expect(unlink(home.socket) == 0)
    try wire.awaitEnd()
    #expect(try agent.wait() == 0)
    #expect(home.scratch.names(in: "data") == ["default.kura"])
  }

  @Test func `an agent whose socket is another's ends, and leaves that alone`() throws {
    let home = try Home()
    let agent = try home.agent()
    #expect(unlink(home.socket) == 0)
    #expect(symlink("/nowhere", home.socket) == 0)
    #expect(try agent.wait() == 0)
    #expect(home.scratch.names(in: "run/kura") == ["agent.lock", "agent.sock"])
  }

  @Test func `an agent whose directory is moved away ends`() throws {
    let home = try Home()
    let agent = try home.agent()
    #expect(rename(home.path + "/run/kura", home.path + "/run/away") == 0)
    #expect(try agent.wait() == 0)
  }

  @Test func `a directory that others can enter is refused`() throws {
    let home = try Home()
    #expect(mkdir(home.path + "/run/kura", 0o700) == 0)
    #expect(chmod(home.path + "/run/kura", 0o770) == 0)
    let agent = try AgentProcess(["--foreground"], home: home.path)
    let output = try agent.readOutput()
    #expect(output.contains("\(home.path)/run/kura must be a directory of yours"))
    #expect(try agent.wait() == 7)
  }
}

// MARK: - Started by others

extension ProgramTests {
  @Test func `a socket that systemd made is served and left in place`() throws {
    let home = try Home()
    let path = home.path + "/run/activated.sock"
    let socket = try Wire.listen(at: path)
    defer { close(socket) }
    let agent = try AgentProcess(
      [], home: home.path, socket: socket,
      shell: "export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\"")
    let wire = try Wire.connect(to: path)
    try wire.send {
      try $0.hello(home.vault)
      try $0.putRequest(.agentStatus)
    }
    #expect(try wire.frame().type == .agentHello)
    #expect(try wire.frame().isOK)
    agent.signal(SIGTERM)
    #expect(try agent.wait() == 0)
    #expect(home.scratch.names(in: "run") == ["activated.sock"])
  }

  @Test func `what is handed over and does not listen is refused`() throws {
    let home = try Home()
    let agent = try AgentProcess(
      [], home: home.path, shell: "export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\" 3<&-")
    #expect(try agent.readOutput().contains("LISTEN_FDS"))
    #expect(try agent.wait() == 1)
  }

  /// Root may lock memory whatever the limit; the sanitizers replace mlock.
  private static let limitsMemory =
    geteuid() == 0 && dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

  @Test(.enabled(if: limitsMemory))
  func `with --require-mlock it does not start where memory can reach swap`() throws {
    let home = try Home()
    let agent = try AgentProcess(
      ["--foreground", "--require-mlock"], home: home.path,
      shell: "ulimit -l 0; exec setpriv --bounding-set=-ipc_lock \"$@\"")
    #expect(try agent.readOutput().contains("cannot be kept out of swap"))
    #expect(try agent.wait() == 7)
  }

  @Test func `closed standard descriptors are no trap`() throws {
    let home = try Home()
    let agent = try home.agent(shell: "exec \"$@\" 0<&- 1>&- 2>&-")
    #expect(try home.client().isAtEnd == false)
    #expect(agent.poll() == nil)
  }
}

// MARK: - One client

extension ProgramTests {
  private func engine(_ home: Home) throws -> (AgentProcess, Wire) {
    let (input, wire) = try Wire.pair()
    defer { close(input) }
    return (try AgentProcess(["--stdio"], home: home.path, input: input), wire)
  }

  /// Serves one client to its end.
  private func serve(
    _ home: Home, _ arguments: [String], _ body: (Wire) throws -> Void
  ) throws {
    let process: AgentProcess
    do {
      let (input, wire) = try Wire.pair()
      do {
        defer { close(input) }
        process = try AgentProcess(arguments, home: home.path, input: input)
      }
      try wire.send { try $0.hello(home.vault) }
      #expect(try wire.frame().type == .agentHello)
      try body(wire)
    }
    #expect(try process.wait() == 0)
  }

  @Test func `aside it neither knows nor notes what this machine has seen`() throws {
    let home = try Home()
    try serve(home, ["--stdio"]) { wire in
      try wire.send { try $0.create(Bench.passcode) }
      #expect(try wire.frame().isOK)
      try wire.send { try $0.putConfirm() }
      #expect(try wire.frame().isOK)
    }
    let state = home.path + "/.local/state/kura"
    try FileManager.default.removeItem(atPath: state)
    try serve(home, ["--stdio", "--aside"]) { wire in
      try wire.send { try $0.unlock(Bench.passcode) }
      #expect(try wire.frame().isOK)
      try wire.send { try $0.put("a", "1") }
      #expect(try wire.frame().isOK)
      try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
      #expect(try wire.frame().isOK)
    }
    #expect(!FileManager.default.fileExists(atPath: state))
  }

  @Test func `over a socket pair it serves one client, and ends with it`() throws {
    let home = try Home()
    let process: AgentProcess
    do {
      let (engine, wire) = try engine(home)
      process = engine
      try wire.send {
        try $0.hello(home.vault)
        try $0.create(Bench.passcode)
      }
      #expect(try wire.frame().type == .agentHello)
      #expect(try wire.frame().isOK)
      try wire.send { try $0.putConfirm() }
      #expect(try wire.frame().isOK)
      try wire.send { try $0.unlock(Bench.passcode) }
      #expect(try wire.frame().isOK)
      try wire.send { try $0.put("a", "1") }
      #expect(try wire.frame().isOK)
    }
    #expect(try process.wait() == 0)
    #expect(home.scratch.names(in: "data") == ["default.kura"])
    #expect(home.scratch.names(in: "run") == [])
  }

  @Test func `what is no socket is refused`() throws {
    let home = try Home()
    let process = try AgentProcess(["--stdio"], home: home.path)
    #expect(try process.wait() != 0)
  }
}
