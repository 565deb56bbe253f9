// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

/// What a run of the tests does with what earlier runs left.
@Suite struct SweepTests {
  /// A place as a run makes it, in a directory that only this test sweeps.
  private final class Place {
    let base: String
    let root: String

    init() throws {
      base = try Ground.onDisk.directory("sweep")
      root = base + "/kura-tests.abcdef"
      try FileManager.default.createDirectory(
        atPath: root + "/story/home", withIntermediateDirectories: true)
      try Data("left".utf8).write(to: URL(filePath: root + "/story/home/file"))
    }

    deinit { try? FileManager.default.removeItem(atPath: base) }

    var isThere: Bool { access(root + "/story/home/file", F_OK) == 0 }
  }

  @Test func `the directory of a dead run goes, whatever its modes`() throws {
    let place = try Place()
    chmod(place.root + "/story/home", 0)
    #expect(Sweep.sweep(place.base) == [])
    #expect(access(place.root, F_OK) != 0)
  }

  @Test func `the directory of a run that goes on stays until that one ends`() throws {
    let place = try Place()
    let holder = open(place.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(holder, LOCK_SH | LOCK_NB) == 0)
    #expect(Sweep.sweep(place.base) == [])
    #expect(place.isThere)
    // A child that another test forks off has it open, too, until it is its own program.
    flock(holder, LOCK_UN)
    close(holder)
    #expect(Sweep.sweep(place.base) == [])
    #expect(access(place.root, F_OK) != 0)
  }

  @Test func `this run's own directories stay`() throws {
    let own = try Ground.onDisk.directory("own")
    defer { try? FileManager.default.removeItem(atPath: own) }
    _ = Sweep.sweep((Ground.onDisk.root as NSString).deletingLastPathComponent)
    #expect(access(own, F_OK) == 0)
  }

  @Test func `what a dead run left running is ended, and nothing else`() throws {
    let place = try Place()
    let left = try sleeper(home: place.root + "/story/home")
    let other = try sleeper(home: place.base + "/kura-tests.abcdefg/home")
    defer { kill(other.processIdentifier, SIGKILL) }
    #expect(Sweep.processes(below: place.root) == [left.processIdentifier])
    #expect(Sweep.sweep(place.base) == [])
    left.waitUntilExit()
    #expect(left.terminationReason == .uncaughtSignal)
    #expect(other.isRunning)
    #expect(!place.isThere)
  }

  private func sleeper(home: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sleep")
    process.arguments = ["3600"]
    process.environment = ["HOME": home]
    // Who reads what the tests print must not wait for it, whatever becomes of the tests.
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Until it is its own program, it has the environment of this one.
    while !Self.has(process, home) { usleep(5_000) }
    return process
  }

  private static func has(_ process: Process, _ home: String) -> Bool {
    let file = FileHandle(forReadingAtPath: "/proc/\(process.processIdentifier)/environ")
    return (try? file?.readToEnd())?.range(of: Data("HOME=\(home)".utf8)) != nil
  }

  @Test(.enabled(if: geteuid() == 0, "only root mounts"))
  func `what a dead run left mounted is unmounted`() throws {
    let place = try Place()
    let home = place.root + "/story/home"
    let mount = try Process.run(
      URL(filePath: "/bin/mount"), arguments: ["-t", "tmpfs", "tmpfs", home])
    mount.waitUntilExit()
    #expect(Sweep.mounts(below: place.root) == [home])
    #expect(Sweep.sweep(place.base) == [])
    #expect(Sweep.mounts(below: place.root) == [])
    #expect(access(place.root, F_OK) != 0)
  }

  @Test(.enabled(if: geteuid() == 0, "only root mounts"))
  func `what cannot be unmounted is told and left`() throws {
    let place = try Place()
    let home = place.root + "/story/home"
    let mount = try Process.run(
      URL(filePath: "/bin/mount"), arguments: ["-t", "tmpfs", "tmpfs", home])
    mount.waitUntilExit()
    let inUse = open(home, O_RDONLY | O_CLOEXEC)
    #expect(
      Sweep.sweep(place.base) == [
        "left by an earlier run of tests: \(home) is mounted; unmount it and remove \(place.root)"
      ])
    #expect(access(home, F_OK) == 0)
    close(inUse)
    // A child that another test forks off has it open until it is its own program.
    // So has it the lock: the place counts as a live run's until then.
    while Sweep.sweep(place.base) != [] || access(place.root, F_OK) == 0 { usleep(5_000) }
    #expect(Sweep.mounts(below: place.root) == [])
  }

  @Test func `what is not a run's place is left alone`() throws {
    let place = try Place()
    let other = place.base + "/kura-tests"
    let link = place.base + "/kura-tests.link"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
    #expect(Sweep.sweep(place.base) == [])
    #expect(access(other, F_OK) == 0 && access(link, F_OK) == 0)
  }
}
