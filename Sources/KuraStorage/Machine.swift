// SPDX-License-Identifier: MIT

internal import Glibc

/// Asks the machine for the time, and how much memory is left.
package enum Machine {
  /// The wall clock, in milliseconds since 1970.
  package static func milliseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(now.tv_sec, 0)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
  }

  /// A clock that only goes forward, in milliseconds.
  package static func monotonicMilliseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
  }

  /// The kernel's id of this start of the machine, a UUID; empty when it does not say.
  package static func bootID() -> String { text("/proc/sys/kernel/random/boot_id") }

  /// What the system calls this installation of it (machine-id(5)); empty when it does not say.
  package static func machineID() -> [UInt8] { Array(text("/etc/machine-id").utf8.prefix(32)) }

  /// What this machine calls itself; empty when the kernel does not say.
  package static func hostName() -> [UInt8] {
    Array(text("/proc/sys/kernel/hostname").utf8.prefix { $0 != UInt8(ascii: "\n") })
  }

  /// The inode of the time namespace that this process runs in; zero when the kernel has none.
  package static func timeNamespace() -> UInt64 {
    var status = stat()
    return unsafe stat("/proc/self/ns/time", &status) == 0 ? UInt64(status.st_ino) : 0
  }

  /// How many bytes a file has; zero for none.
  static func size(of path: String) -> UInt64 {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0 ? UInt64(max(facts.st_size, 0)) : 0
  }

  /// What memory and control group leave to this process, in bytes; nil when neither says.
  ///
  /// - Parameter root: Where `/proc` and `/sys` are looked for, for tests.
  package static func availableMemory(below root: String = "") -> UInt64? {
    let system = field("MemAvailable:", in: text(root + "/proc/meminfo")).map { $0 * 1024 }
    return [system, controlGroupMemory(below: root)].compactMap(\.self).min()
  }

  /// The tightest limit from the process's control group (version 2) up to the root.
  private static func controlGroupMemory(below root: String) -> UInt64? {
    let groups = text(root + "/proc/self/cgroup").split(separator: "\n")
    guard let line = groups.first(where: { $0.hasPrefix("0::/") }) else { return nil }
    var components = line.dropFirst(4).split(separator: "/")
    var least: UInt64?
    while true {
      let path = ([root + "/sys/fs/cgroup"] + components.map(String.init)).joined(separator: "/")
      if let left = memoryLeft(inGroup: path) { least = min(least ?? .max, left) }
      if components.popLast() == nil { return least }
    }
  }

  /// What one control group's limit leaves; nil when it has none.
  private static func memoryLeft(inGroup path: String) -> UInt64? {
    guard let limit = number(text(path + "/memory.max")),
      let used = number(text(path + "/memory.current"))
    else { return nil }
    // Files that were read or written count as used until somebody needs the room: the kernel gives up
    // those that nobody looked at again, so that container runtimes do not count them either.
    let idle = field("inactive_file", in: text(path + "/memory.stat")) ?? 0
    let held = used - min(idle, used)
    return limit - min(held, limit)
  }

  private static func field(_ name: String, in text: String) -> UInt64? {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
  }

  /// A file's number; nil for none, such as `max`.
  private static func number(_ text: String) -> UInt64? {
    text.split(separator: "\n").first.flatMap { UInt64($0) }
  }

  /// A small file of the kernel's; without bytes when it cannot be read.
  private static func text(_ path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8_192)
    let count = unsafe bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe read(descriptor, start, bytes.count)
    }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
