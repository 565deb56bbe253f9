// SPDX-License-Identifier: MIT

import Foundation

/// Clears away what dead runs left: their directories, what is mounted there, what runs there.
public enum Sweep {
  static let prefix = "kura-tests"

  /// Clears the places of dead runs in a directory.
  ///
  /// - Returns: What could not be cleared, and why, one line each.
  public static func sweep(_ base: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    return names.filter { $0.hasPrefix(prefix + ".") }.sorted().compactMap {
      clear("\(base)/\($0)")
    }
  }

  private static func clear(_ root: String) -> String? {
    let descriptor = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(),
      flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return nil }
    endProcesses(below: root)
    for place in mounts(below: root).reversed() { run("/bin/umount", place) }
    if let place = mounts(below: root).first {
      return "left by an earlier run of tests: \(place) is mounted; unmount it and remove \(root)"
    }
    remove(root)
    guard access(root, F_OK) != 0 else {
      return "left by an earlier run of tests, and could not be removed: \(root)"
    }
    return nil
  }

  static func remove(_ root: String) {
    if (try? FileManager.default.removeItem(atPath: root)) != nil { return }
    run("/bin/chmod", "-R", "u+rwX", root)
    try? FileManager.default.removeItem(atPath: root)
  }

  /// Where something is mounted below a directory, in the order in which it came.
  public static func mounts(below root: String) -> [String] {
    let mounts = String(decoding: madeUpFile("/proc/self/mounts") ?? Data(), as: UTF8.self)
    return mounts.split(separator: "\n").map { String($0.split(separator: " ")[1]) }
      .filter { $0.hasPrefix(root + "/") }
  }

  private static func run(_ program: String, _ arguments: String...) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return }
    process.waitUntilExit()
  }
}

// MARK: - What runs

extension Sweep {
  /// Ends what runs there, by process id. It belongs to nobody any more.
  private static func endProcesses(below root: String) {
    let found = Set(processes(below: root) + agents(below: root))
    for process in found { kill(process, SIGKILL) }
    // It is killed, and gone a little later.
    for process in found { while isRunning(process) { usleep(5_000) } }
  }

  /// The processes that have a place below a directory in their environment, as agents have.
  public static func processes(below root: String) -> [pid_t] {
    let mark = Data("=\(root)/".utf8)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter {
      $0 != getpid() && madeUpFile("/proc/\($0)/environ")?.range(of: mark) != nil
    }
  }

  /// The processes that listen at an agent's socket below a directory.
  public static func agents(below root: String) -> [pid_t] {
    var agents: [pid_t] = []
    // Foundation looks into no other file system.
    for start in [root] + mounts(below: root) {
      let files = FileManager.default.enumerator(atPath: start)
      while let name = files?.nextObject() as? String {
        if name == "agent.sock" || name.hasSuffix("/agent.sock"),
          let agent = listener("\(start)/\(name)")
        {
          agents.append(agent)
        }
      }
    }
    return agents
  }

  /// The process that listens at a socket.
  private static func listener(_ path: String) -> pid_t? {
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
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
      credentials.0 > 0, credentials.0 != getpid()
    else { return nil }
    return credentials.0
  }

  /// Whether a process is there and more than a zombie.
  public static func isRunning(_ identifier: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
      let end = status.lastIndex(of: ")")
    else { return false }
    return !status[end...].hasPrefix(") Z")
  }

  /// All of a file that the kernel makes up as it is read; Foundation's other ways take it to end after the
  /// first few kilobytes.
  private static func madeUpFile(_ path: String) -> Data? {
    try? FileHandle(forReadingAtPath: path)?.readToEnd()
  }
}
