// SPDX-License-Identifier: MIT

import Foundation

/// A process that a test started and may kill.
final class Child {
  let id: pid_t
  private(set) var status: Int32?
  /// Whether its end left a core file.
  private(set) var hasDumped = false

  /// Starts a program with an environment of its own; output goes to `output`, else to nowhere.
  init(
    _ path: String, _ arguments: [String], environment: [String], output: String = "/dev/null"
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A thread of the test runner has signals blocked; the child must not inherit that.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var started: pid_t = 0
    let failure = posix_spawn(&started, path, &actions, &attributes, argv, envp)
    guard failure == 0 else { throw SystemFailure(call: "posix_spawn \(path)", number: failure) }
    id = started
  }

  deinit {
    if status == nil { kill() }
  }

  /// Kills it as nothing can be caught, and waits for its end.
  func kill() {
    Glibc.kill(id, SIGKILL)
    wait()
  }

  /// Waits for its end; the exit status, or 128 and the signal.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(id, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + raw & 0x7f
    hasDumped = raw & 0x7f != 0 && raw & 0x80 != 0
    status = ended
    return ended
  }

  /// Whether it has ended by itself.
  func hasEnded() -> Bool {
    if status != nil { return true }
    var raw: Int32 = 0
    guard waitpid(id, &raw, WNOHANG) == id else { return false }
    status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + raw & 0x7f
    return true
  }
}

/// The reference implementation, run as the program that it is.
enum Python {
  struct Output {
    let status: Int32
    let lines: [String]
  }

  /// Runs `/usr/bin/python3 SCRIPT …` in Tests/reference.
  static func run(_ script: String, _ arguments: [String]) throws -> Output {
    let scratch = try Scratch()
    let child = try Child(
      "/usr/bin/python3", ["-B", "\(Repository.reference)/\(script)"] + arguments,
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TMPDIR=\(scratch.path)"],
      output: scratch.file("output"))
    let status = child.wait()
    let text = String(decoding: try Bytes.read(scratch.file("output")), as: UTF8.self)
    return Output(status: status, lines: text.split(separator: "\n").map(String.init))
  }
}
