// SPDX-License-Identifier: MIT

import Foundation
import TestGround

/// The surroundings of one story: directories, environment, nothing of the machine's user.
final class Stage {
  /// A new directory on the tests' ground; the story touches nothing else.
  let root: String
  /// Where the commands run.
  let directory: String
  /// Where their output is kept.
  let captures: String
  var environment: [String: String]

  init(binaries: String) throws {
    root = try Ground.onDisk.directory("story")
    directory = root + "/work"
    captures = root + "/captures"
    for name in ["work", "captures", "home", "tmp", "data", "state", "config", "cache", "runtime"] {
      mkdir("\(root)/\(name)", 0o700)
    }
    environment = Self.environment(
      root: root, binaries: binaries, inherited: ProcessInfo.processInfo.environment)
  }

  /// Makes the environment in which a story begins; of the inherited one it takes two variables.
  static func environment(
    root: String, binaries: String, inherited: [String: String]
  ) -> [String: String] {
    var environment = [
      "PATH":
        // What stands before the system's own may be a script that looks for the program each time.
        "\(binaries):\(Repository.tools):\(Repository.examples):/usr/bin:/bin:"
        + (inherited["PATH"] ?? ""),
      "HOME": root + "/home", "TMPDIR": root + "/tmp",
      "XDG_DATA_HOME": root + "/data", "XDG_STATE_HOME": root + "/state",
      "XDG_CONFIG_HOME": root + "/config", "XDG_CACHE_HOME": root + "/cache",
      "XDG_RUNTIME_DIR": root + "/runtime",
      "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/bash", "TZ": "UTC",
      "ROOT": root, "REPOSITORY": Repository.root, "BINARIES": binaries,
      // The only way to a cheap key derivation: a weakness that the vault records and shows.
      "CHEAP": "--weak-kdf --kdf-memory 1MiB --kdf-passes 1",
    ]
    for name in [RunnerVariable.nightly, .screens].map(\.rawValue) {
      environment[name] = inherited[name]
    }
    return environment
  }

  /// Ends what the story left running, by process id, and removes its directories.
  ///
  /// - Parameter patience: How long what is ending may take.
  /// - Returns: What was left and should not have been, one line each.
  func strike(patience: Duration) -> [String] {
    stopAgents()
    var left: [String] = []
    let deadline = ContinuousClock.now + patience
    while !remainingProcesses().isEmpty, ContinuousClock.now < deadline { usleep(20_000) }
    for (identifier, name) in remainingProcesses() {
      left.append("process \(identifier) (\(name)) was left running")
      kill(identifier, SIGKILL)
    }
    unmount()
    removeDirectories()
    return left
  }

  /// Runs a command of the runner's own here; its output is dropped.
  @discardableResult
  func run(_ arguments: [String], seconds: Int = 5) -> Int32? {
    let null = "/dev/null"
    let child = try? ChildProcess(
      arguments, environment: environment, directory: "/",
      streams: .files(input: null, output: null, messages: null))
    defer { child?.end() }
    return child?.wait(until: .now + .seconds(seconds))
  }
}

// MARK: - Ending what runs

extension Stage {
  /// Asks each agent below the root to end; one that does not is ended by its process id.
  private func stopAgents() {
    for agent in Sweep.agents(below: root) {
      run(["/usr/bin/env", "kura", "agent", "stop"])
      let deadline = ContinuousClock.now + .seconds(2)
      while Sweep.isRunning(agent), ContinuousClock.now < deadline { usleep(5_000) }
      if Sweep.isRunning(agent) { kill(agent, SIGKILL) }
    }
  }

  private func remainingProcesses() -> [(pid_t, String)] {
    Sweep.processes(below: root).map { ($0, processName($0)) }
  }

  private func unmount() {
    for place in Sweep.mounts(below: root).reversed() { run(["/bin/umount", place]) }
  }

  private func removeDirectories() {
    guard RunnerVariable.keep.value == nil else { return }
    run(["/bin/chmod", "-R", "u+rwX", root], seconds: 30)
    try? FileManager.default.removeItem(atPath: root)
  }
}

func processName(_ identifier: pid_t) -> String {
  let name = try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8)
  return name?.trimmingCharacters(in: .newlines) ?? "?"
}

/// Where things are in this repository.
enum Repository {
  static let root: String = {
    var path = #filePath as NSString
    for _ in 0..<4 { path = path.deletingLastPathComponent as NSString }
    return path as String
  }()
  static let scripts = root + "/Fixtures/scripts"
  /// Small programs that stories use.
  static let tools = scripts + "/tools"
  /// The built examples, beside the tests.
  static let examples = Bundle.main.bundlePath
  /// The built programs: `$KURA_BIN`, from the repository's root, or what `make build` leaves.
  static let binaries: String = {
    let path = RunnerVariable.programs.value ?? ".build/release"
    return path.hasPrefix("/") ? path : "\(root)/\(path)"
  }()
}
