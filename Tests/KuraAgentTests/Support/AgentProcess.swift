// SPDX-License-Identifier: MIT

import Glibc

/// A `kura-agent` of a test's own, the built one: ended, by its id, at the latest with this value.
final class AgentProcess {
  let identifier: pid_t
  private(set) var status: Int32?
  private let output: Int32

  /// The program in the folder that the tests were built into.
  static var program: String {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
    let tests = String(decoding: buffer[..<count], as: UTF8.self)
    return tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)] + "/kura-agent"
  }

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - arguments: Those after its name.
  ///   - home: What `HOME` and, below it, the directories of XDG are.
  ///   - input: What its descriptor 0 is; /dev/null when nil.
  ///   - socket: What its descriptor 3 is; where its output goes when nil.
  ///   - shell: A command that has it started by a shell, in which `"$@"` is the program.
  init(
    _ arguments: [String], home: String, input: Int32? = nil, socket: Int32? = nil,
    shell: String? = nil
  ) throws {
    let (reading, writing) = try Self.pipe()
    output = reading
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
    }
    for descriptor: Int32 in [1, 2] {
      posix_spawn_file_actions_adddup2(&actions, writing, descriptor)
    }
    posix_spawn_file_actions_adddup2(&actions, socket ?? writing, 3)
    var attributes = Self.attributes()
    defer { posix_spawnattr_destroy(&attributes) }
    let command = (shell.map { ["/bin/sh", "-c", $0, "sh"] } ?? []) + [Self.program] + arguments
    let environment = ["HOME=\(home)", "XDG_RUNTIME_DIR=\(home)/run", "PATH=/usr/bin:/bin"]
    var identifier: pid_t = 0
    let code = Self.withStrings(command) { argv in
      Self.withStrings(environment) { envp in
        posix_spawn(&identifier, command[0], &actions, &attributes, argv, envp)
      }
    }
    close(writing)
    guard code == 0 else { throw TestFailure("posix_spawn \(command[0]): \(code)") }
    self.identifier = identifier
  }

  deinit {
    if poll() == nil {
      kill(identifier, SIGKILL)
      _ = try? wait()
    }
    close(output)
  }

  func signal(_ number: Int32) { if poll() == nil { kill(identifier, number) } }

  /// The status as a shell says it, 128 + n for signal n; nil while it runs.
  func poll() -> Int32? {
    var word: Int32 = 0
    if status == nil, waitpid(identifier, &word, WNOHANG) == identifier {
      status = word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + (word & 0x7f)
    }
    return status
  }

  /// Waits for the end.
  func wait(seconds: Int = 20) throws -> Int32 {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while poll() == nil {
      guard ContinuousClock.now < deadline else { throw TestFailure("it did not end") }
      usleep(500)
    }
    return status ?? -1
  }

  /// Reads what it and its children wrote to descriptors 1, 2 and 3, until a text or the end.
  func readOutput(until text: String? = nil, seconds: Int = 20) throws -> String {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while ContinuousClock.now < deadline {
      var one = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&one, 1, 100) > 0 else { continue }
      let count = read(output, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
      let sofar = String(decoding: bytes, as: UTF8.self)
      if let text, sofar.contains(text) { return sofar }
    }
    throw TestFailure("the output did not come: \(String(decoding: bytes, as: UTF8.self))")
  }

  /// A thread of Swift's pool has signals blocked, and a child would inherit that.
  private static func attributes() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let session: Int16 = 0x80  // POSIX_SPAWN_SETSID, which Glibc's module leaves out.
    posix_spawnattr_setflags(
      &attributes, session | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    return attributes
  }

  private static func pipe() throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw TestFailure("pipe: \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}

// MARK: - Clients

/// Where a test's agent listens.
struct Home {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    guard mkdir(scratch.path + "/run", 0o700) == 0 else { throw TestFailure("mkdir: \(errno)") }
  }

  var path: String { scratch.path }
  var socket: String { path + "/run/kura/agent.sock" }
  var vault: String { path + "/data/default.kura" }

  /// An agent in the foreground, once it listens.
  func agent(shell: String? = nil) throws -> AgentProcess {
    let agent = try AgentProcess(["--foreground", "--ready-fd", "3"], home: path, shell: shell)
    _ = try agent.readOutput(until: "R")
    return agent
  }

  /// A connected client that has said nothing.
  func connect() throws -> Wire { try Wire.connect(to: socket) }

  /// A client that has said hello.
  func client() throws -> Wire {
    let wire = try connect()
    try wire.send { try $0.hello(vault) }
    guard try wire.frame().type == .agentHello else { throw TestFailure("no hello came") }
    return wire
  }

  /// A client of a vault that was created and unlocked.
  func unlocked(idle: UInt64 = 0) throws -> Wire {
    let wire = try client()
    try wire.send { try $0.create(Bench.passcode) }
    guard try wire.frame().isOK else { throw TestFailure("not created") }
    try wire.send { try $0.putConfirm() }
    guard try wire.frame().isOK else { throw TestFailure("not confirmed") }
    try wire.send { try $0.unlock(Bench.passcode, idle: idle) }
    guard try wire.frame().isOK else { throw TestFailure("not unlocked") }
    return wire
  }
}
