// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

@testable import KuraStorage

@Suite struct `The machine` {
  private static let mebibyte: UInt64 = 1 << 20

  @Test func `tells the time and the memory there is`() {
    #expect(Machine.milliseconds() > 1_700_000_000_000)
    let before = Machine.monotonicMilliseconds()
    #expect(Machine.monotonicMilliseconds() >= before)
    let memory = Machine.availableMemory() ?? 0
    #expect(memory > 1 << 20)
  }

  @Test func `has what the kernel says where no control group limits it`() throws {
    let files = try MachineFiles()
    #expect(files.availableMemory == nil)
    try files.write("MemTotal: 9999 kB\nMemAvailable:    2048 kB\n", to: "proc/meminfo")
    #expect(files.availableMemory == 2 * Self.mebibyte)
    try files.write("12:memory:/old\n0::/\n", to: "proc/self/cgroup")
    #expect(files.availableMemory == 2 * Self.mebibyte)
    try files.write("max\n", to: "sys/fs/cgroup/memory.max")
    try files.write("4096\n", to: "sys/fs/cgroup/memory.current")
    #expect(files.availableMemory == 2 * Self.mebibyte)
  }

  @Test func `leaves what the tightest of its control groups does`() throws {
    let files = try MachineFiles()
    try files.write("MemAvailable: 1048576 kB\n", to: "proc/meminfo")
    try files.write("0::/a/b\n", to: "proc/self/cgroup")
    try files.limit("/a/b", to: 100, using: 30)
    #expect(files.availableMemory == 70 * Self.mebibyte)
    try files.limit("/a", to: 80, using: 40)
    #expect(files.availableMemory == 40 * Self.mebibyte)
    try files.limit("", to: 4_000, using: 40)
    #expect(files.availableMemory == 40 * Self.mebibyte)
    try files.limit("/a/b", to: 30, using: 31)
    #expect(files.availableMemory == 0)
  }

  @Test func `has the room that files which nobody looks at take in its control group`() throws {
    let files = try MachineFiles()
    try files.write("0::/a\n", to: "proc/self/cgroup")
    try files.limit("/a", to: 100, using: 99, idle: 80)
    #expect(files.availableMemory == 81 * Self.mebibyte)
    // The two numbers are not of the same moment.
    try files.limit("/a", to: 100, using: 50, idle: 60)
    #expect(files.availableMemory == 100 * Self.mebibyte)
  }
}

/// Made-up files of the kernel's.
private final class MachineFiles {
  private let root = Ground.onDisk.path("machine")

  init() throws { try write("", to: "sys/fs/cgroup/cgroup.controllers") }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  var availableMemory: UInt64? { Machine.availableMemory(below: root) }

  func write(_ text: String, to name: String) throws {
    let path = root + "/" + name
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  /// Gives a control group a limit and a use in MiB, `idle` of it files that nobody looked at again.
  func limit(_ group: String, to limit: UInt64, using used: UInt64, idle: UInt64 = 0) throws {
    let directory = "sys/fs/cgroup" + group
    try write("\(limit << 20)\n", to: directory + "/memory.max")
    try write("\(used << 20)\n", to: directory + "/memory.current")
    let kept = (used << 20) / 10
    try write(
      "anon \(kept)\nfile \(idle << 20)\ninactive_anon 7\nactive_anon \(kept)\n"
        + "inactive_file \(idle << 20)\nactive_file 0\n", to: directory + "/memory.stat")
  }
}
