// SPDX-License-Identifier: MIT

import Foundation

/// The surroundings of one story: directories, environment, nothing of the machine's user.
final class Stage {
  /// A new directory below the system's temporary one; the story touches nothing else.
  let root: String
  /// Where the commands run.
  let directory: String
  /// Where their output is kept.
  let captures: String
  var environment: [String: String]

  init(binaries: String) throws {
    var template = Array((NSTemporaryDirectory() + "kura-story-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw StoryFailure(message: "no temporary directory: errno \(errno)")
    }
    // Without links: /proc/mounts names places so, and the unmounting goes by them.
    root = template.withUnsafeBufferPointer {
      URL(fileURLWithPath: String(cString: $0.baseAddress!)).resolvingSymlinksInPath().path
    }
    directory = root + "/work"
    captures = root + "/captures"
    for name in ["work", "captures", "home", "tmp", "data", "state", "config", "cache", "runtime"] {
      mkdir("\(root)/\(name)", 0o700)
    }
    environment = Self.environment(root: root, binaries: binaries)
  }

  private static func environment(root: String, binaries: String) -> [String: String] {
    let inherited = ProcessInfo.processInfo.environment
    var environment = [
      "PATH":
        "\(binaries):\(Repository.tools):\(Repository.examples):"
        + (inherited["PATH"] ?? "/usr/bin:/bin"),
      "HOME": root + "/home", "TMPDIR": root + "/tmp",
      "XDG_DATA_HOME": root + "/data", "XDG_STATE_HOME": root + "/state",
      "XDG_CONFIG_HOME": root + "/config", "XDG_CACHE_HOME": root + "/cache",
      "XDG_RUNTIME_DIR": root + "/runtime",
      "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/bash", "TZ": "UTC",
      "ROOT": root, "REPOSITORY": Repository.root, "BINARIES": binaries,
      // The only way to a cheap key derivation: a weakness that the vault records and shows.
      "CHEAP": "--weak-kdf --kdf-memory 1MiB --kdf-passes 1",
    ]
    environment["KURA_NIGHTLY"] = inherited["KURA_NIGHTLY"]
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
    for socket in agentSockets() {
      guard let agent = listener(at: socket) else { continue }
      run(["/usr/bin/env", "kura", "agent", "stop"])
      let deadline = ContinuousClock.now + .seconds(2)
      while isRunning(agent), ContinuousClock.now < deadline { usleep(5_000) }
      if isRunning(agent) { kill(agent, SIGKILL) }
    }
  }

  private func agentSockets() -> [String] {
    var sockets: [String] = []
    // Foundation looks into no other file system.
    for start in [root] + mounts() {
      let files = FileManager.default.enumerator(atPath: start)
      while let name = files?.nextObject() as? String {
        if (name as NSString).lastPathComponent == "agent.sock" {
          sockets.append("\(start)/\(name)")
        }
      }
    }
    return sockets
  }

  /// The process that listens at a socket.
  private func listener(at path: String) -> pid_t? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
    }
    // struct ucred: process, user, group.
    var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard isConnected,
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0
    else { return nil }
    return credentials.0
  }

  /// The processes that have a place in this story's directory in their environment, as agents have.
  private func remainingProcesses() -> [(pid_t, String)] {
    let mark = Array("=\(root)/".utf8)
    return processIdentifiers().compactMap { identifier in
      guard let environment = madeUpFile("/proc/\(identifier)/environ"),
        environment.range(of: Data(mark)) != nil
      else { return nil }
      return (identifier, processName(identifier))
    }
  }

  private func unmount() {
    for place in mounts().reversed() { run(["/bin/umount", place]) }
  }

  /// Where the story has mounted something.
  private func mounts() -> [String] {
    let mounts = String(decoding: madeUpFile("/proc/mounts") ?? Data(), as: UTF8.self)
    let places = mounts.split(separator: "\n").map { String($0.split(separator: " ")[1]) }
    return places.filter { $0.hasPrefix(root + "/") }
  }

  private func removeDirectories() {
    guard ProcessInfo.processInfo.environment["KURA_KEEP"] == nil else { return }
    run(["/bin/chmod", "-R", "u+rwX", root], seconds: 30)
    try? FileManager.default.removeItem(atPath: root)
  }
}

/// All of a file that the kernel makes up as it is read; Foundation's other ways take it to end after the first
/// few kilobytes.
private func madeUpFile(_ path: String) -> Data? {
  try? FileHandle(forReadingAtPath: path)?.readToEnd()
}

/// Whether a process is there and more than a zombie.
func isRunning(_ identifier: pid_t) -> Bool {
  guard let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
    let end = status.lastIndex(of: ")")
  else { return false }
  return !status[end...].hasPrefix(") Z")
}

func processIdentifiers() -> [pid_t] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return names.compactMap { pid_t($0) }
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
  /// The built programs: `$KURA_BIN`, or what `make build` leaves.
  static let binaries =
    ProcessInfo.processInfo.environment["KURA_BIN"] ?? root + "/.build/release"
}
