// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// The same as ``KillTests`` with the built programs: `kura put` ends with status 0, the agent is
/// killed, and what was put is there.
@Suite("Killed agents", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct AgentKillTests {
  @Test func `nothing that kura put is lost when the agent is killed`() throws {
    let desk = try AgentDesk()
    var dice = Dice()
    var acknowledged = 0
    for number in 0..<Scale.count(50, nightly: 1_000) {
      acknowledged += try desk.putUntilKilled(&dice)
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        break
      }
    }
    #expect(acknowledged > 30, "the agent was killed before it did anything")
  }

  @Test func `a put that was taken back would be noticed`() throws {
    let desk = try AgentDesk()
    desk.acknowledged["name/0"] = [1]
    #expect(try desk.check() != nil)
  }
}

/// Where the programs are that `make build` made.
enum Programs {
  static let directory =
    ProcessInfo.processInfo.environment["KURA_BIN"] ?? Repository.root + "/.build/release"
  static let areBuilt = ["kura", "kura-agent"].allSatisfy {
    access("\(directory)/\($0)", X_OK) == 0
  }
}

/// A user with a vault, an agent and nothing else.
final class AgentDesk {
  /// What `kura put` has acknowledged.
  var acknowledged: [String: [UInt8]] = [:]
  /// What was under way when the agent was killed.
  private var attempted: (name: String, value: [UInt8])?
  /// What runs beside the puts until the agent is killed: arguments of `kura`.
  var companion: [String]?
  /// How long an agent lives at most, in microseconds.
  var patience: UInt32 = 60_000
  /// The lengths of the values that are put: most of the first, some of the second.
  var lengths = (500, 80_000)
  /// What the killer waits for before its time begins.
  var omen: Omen?
  /// How each of these ended.
  private(set) var companionStatuses: [Int32] = []
  let scratch: Scratch
  private var counter = 0
  /// What values end with: made once for each length.
  private var patterns: [Int: [UInt8]] = [:]

  init() throws {
    scratch = try Scratch()
    for name in ["data", "state", "run"] { _ = try scratch.directory(name) }
    try Bytes.write(Array("correct horse battery staple".utf8), to: scratch.file("passcode"))
    let arguments = ["--kdf-memory", "8MiB", "--kdf-passes", "1", "--weak-kdf"]
    try demand(["init", "--no-recovery-key", "--passcode-file", passcode] + arguments)
  }

  deinit { _ = try? kura(["agent", "stop"]) }

  var passcode: String { scratch.file("passcode") }

  /// Has the companion come to its end once, and agents live up to half as long again, to begin with.
  func learnPatience() throws {
    guard let companion else { return }
    let begin = ContinuousClock.now
    let status = try start(companion).wait()
    guard status == 0 else { throw SystemFailure(call: "kura \(companion[0])", number: status) }
    patience = UInt32(min((ContinuousClock.now - begin) * 1.5 / .microseconds(1), 20_000_000))
  }

  /// Puts values until a killer in another thread has struck.
  ///
  /// - Returns: How many were acknowledged.
  func putUntilKilled(_ dice: inout Dice) throws -> Int {
    try unlock()
    let agent = try agentID()
    let beside = try companion.map { try start($0) }
    defer { if let status = beside?.wait() { noteEnd(status) } }
    let delay = UInt32.random(in: 0...patience, using: &dice)
    let strike = DispatchSemaphore(value: 0)
    let omen = omen
    Thread {
      omen?.await()
      usleep(delay)
      omen?.look(stopping: agent)
      Glibc.kill(agent, SIGKILL)
      strike.signal()
    }.start()
    defer { strike.wait() }
    var count = 0
    // No agent outlives that: omen and delay are far shorter.
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      counter += 1
      let length = Int.random(in: 0...3, using: &dice) == 0 ? lengths.1 : lengths.0
      let value = Array("\(counter) ".utf8) + pattern(length)
      let name = "name/\(counter % 5)"
      attempted = (name, value)
      try Bytes.write(value, to: scratch.file("value"))
      guard try kura(["put", name, "--replace", "--file", scratch.file("value")]) == 0 else {
        return count
      }
      acknowledged[name] = value
      count += 1
    }
    throw SystemFailure(call: "kill of agent \(agent)", number: 0)
  }

  /// Starts the companion and does something to it, or to its agent, at some moment of its life.
  ///
  /// - Returns: How it ended.
  func interrupt(after dice: inout Dice, _ body: (pid_t) throws -> Void) throws -> Int32 {
    // The agent begins when this says so: what follows at once comes amid its work, however busy the machine is.
    let agent = try agentID()
    Glibc.kill(agent, SIGSTOP)
    defer { Glibc.kill(agent, SIGCONT) }
    let beside = try start(companion ?? [])
    usleep(10_000)
    Glibc.kill(agent, SIGCONT)
    usleep(UInt32.random(in: 0...patience, using: &dice))
    try body(beside.id)
    let status = beside.wait()
    noteEnd(status)
    return status
  }

  /// How long a companion takes, and how much longer than meant this sleeps, is the machine's to say, and what else it does:
  /// the moment is sought that some ends come before and some after.
  private func noteEnd(_ status: Int32) {
    companionStatuses.append(status)
    patience = status == 0 ? patience / 4 * 3 : min(patience / 3 * 4 + 100, 20_000_000)
  }

  /// The vault's file, and what is beside it.
  func vaultFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.file("data") + "/kura").sorted()
  }

  private func pattern(_ length: Int) -> [UInt8] {
    if let known = patterns[length] { return known }
    patterns[length] = Bytes.pattern(length)
    return patterns[length] ?? []
  }

  /// Unlocks the vault in a new agent. The old one's last thread may still hold its socket for a
  /// moment: status 15 says to try again.
  func unlock() throws {
    for _ in 0..<1_000 {
      let status = try kura(["unlock", "--passcode-file", passcode])
      guard status == 15 else {
        guard status == 0 else { throw SystemFailure(call: try output(), number: status) }
        return
      }
      usleep(1_000)
    }
    throw SystemFailure(call: try output(), number: 15)
  }

  /// What is missing or wrong after all; nil when nothing is.
  func check() throws -> String? {
    try unlock()
    guard try kura(["verify"]) == 0 else { return "verify: \(try output())" }
    for (name, value) in acknowledged.sorted(by: { $0.key < $1.key }) {
      let status = try kura(["get", name, "-o", scratch.file("got")])
      guard status == 0 else { return "get \(name): status \(status), \(try output())" }
      let got = try Bytes.read(scratch.file("got"))
      unlink(scratch.file("got"))
      if got == value { continue }
      // The one under way when the agent was killed may have been done.
      guard let attempted, attempted.name == name, got == attempted.value else {
        return "get \(name): another value"
      }
      acknowledged[name] = got
    }
    return nil
  }

  /// The process that `kura unlock` started.
  private func agentID() throws -> pid_t {
    try demand(["agent", "status", "--json"])
    let digits = try output().split(separator: "\"pid\":").last?.prefix { $0.isNumber }
    guard let number = digits.flatMap({ pid_t($0) }), number > 1 else {
      throw SystemFailure(call: "kura agent status", number: 0)
    }
    return number
  }

  private var environment: [String] {
    [
      "HOME=\(scratch.path)", "XDG_DATA_HOME=\(scratch.file("data"))",
      "XDG_STATE_HOME=\(scratch.file("state"))", "XDG_RUNTIME_DIR=\(scratch.file("run"))",
      "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
    ]
  }

  /// Runs `kura` without anybody to ask; its exit status.
  func kura(_ arguments: [String]) throws -> Int32 {
    let mayAsk = ["put", "get", "rotate"].contains(arguments[0])
    return try start(arguments + (mayAsk ? ["--no-input"] : []), output: "output").wait()
  }

  private func start(_ arguments: [String], output: String = "companion") throws -> Child {
    try Child(
      "\(Programs.directory)/kura", arguments, environment: environment,
      output: scratch.file(output))
  }

  /// Runs `kura` on another copy of the vault, as on another machine.
  func elsewhere(_ copy: String, _ arguments: [String]) throws {
    let state = "XDG_STATE_HOME=" + (try scratch.directory("elsewhere"))
    let other = environment.filter { !$0.hasPrefix("XDG_STATE_HOME=") } + [state]
    let child = try Child(
      "\(Programs.directory)/kura",
      ["--vault", copy, "--no-agent"] + arguments + ["--passcode-file", passcode],
      environment: other, output: scratch.file("output"))
    let status = child.wait()
    guard status == 0 else {
      throw SystemFailure(call: "kura \(arguments[0]): \(try output())", number: status)
    }
  }

  /// Kills the agent; what it has put stands in the WAL, some of it.
  func killAgent() throws {
    Glibc.kill(try agentID(), SIGKILL)
    while try kura(["agent", "status"]) == 0 { usleep(1_000) }
  }

  /// Runs a program, and waits for its end and that of all it has started; its exit status.
  ///
  /// - Parameter state: Where what the machine has seen is kept.
  func run(_ program: String, _ arguments: [String], state: String = "state") throws -> Int32 {
    let pipe = scratch.file("pipe")
    unlink(pipe)
    guard mkfifo(pipe, 0o600) == 0 else { throw SystemFailure(call: "mkfifo", number: errno) }
    let end = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard end >= 0 else { throw SystemFailure(call: "open", number: errno) }
    defer { close(end) }
    let place = "XDG_STATE_HOME="
    let child = try Child(
      program, arguments,
      environment: environment.filter { !$0.hasPrefix(place) } + [place + scratch.file(state)],
      output: pipe)
    _ = fcntl(end, F_SETFL, 0)
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while case let count = read(end, &part, part.count), count > 0 { text += part[..<count] }
    try Bytes.write(text, to: scratch.file("output"))
    return child.wait()
  }

  func demand(_ arguments: [String]) throws {
    let status = try kura(arguments)
    guard status == 0 else {
      throw SystemFailure(call: "kura \(arguments[0]): \(try output())", number: status)
    }
  }

  func output() throws -> String {
    String(decoding: try Bytes.read(scratch.file("output")), as: UTF8.self)
  }
}
