// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// A backup that is put in the vault's place, and cut off before each of the calls by which it changes names: under the
/// vault's name stands the one or the other, whole, never none and never a mix of both, and the old one is kept.
@Suite(
  "Killed restores", .serialized, .enabled(if: Programs.areBuilt, "run make build first"),
  .enabled(if: Tracer.works, "strace cannot follow a process here"))
struct RestoreKillTests {
  @Test(arguments: Scale.isNightly ? RestoreTable.Before.allCases : [.locked, .damaged])
  func `cut off before any of its steps, it leaves one of the two`(_ before: RestoreTable.Before)
    throws
  {
    let table = try RestoreTable(before)
    var (kept, done) = (0, 0)
    for call in RestoreTable.calls {
      var number = 1
      while try table.restore(killedBefore: call, number) {
        let flaw = try table.flaw()
        if table.isDone { done += 1 } else { kept += 1 }
        if let flaw = try flaw ?? table.flawOfAnother() {
          Issue.record("\(before), \(call) \(number): \(flaw)")
          return
        }
        try table.reset()
        number += 1
      }
      #expect(try table.flaw() == nil && table.isDone)
      try table.reset()
    }
    #expect(kept > 6, "it was never cut off before the backup had the name")
    #expect(done > 0, "it was never cut off after that")
  }

  @Test func `the old vault is kept where a file has one name only`() throws {
    let table = try RestoreTable(.killed)
    let vault = try table.inode(table.vault)
    try table.restoreWithoutLinks()
    #expect(try table.flaw() == nil)
    #expect(table.isDone)
    #expect(try table.inode(try table.old()) != vault)
  }

  @Test func `no vault, a mix of two, and an old one that is lost would be noticed`() throws {
    let table = try RestoreTable(.killed)
    #expect(try table.flaw() == nil)
    try table.reset()
    rename(table.vault, table.vault + ".away")
    #expect(try table.flaw()?.hasPrefix("there is no vault") == true)
    // The WAL of the old one stays where it was.
    rename(table.vault + ".away", table.vault + ".old-20200101-000000")
    try Bytes.write(try Bytes.read(table.backup), to: table.vault)
    #expect(try table.flaw()?.hasPrefix("another's WAL") == true)
    rename(table.vault + "-wal", table.vault + ".lost")
    #expect(try table.flaw()?.hasPrefix("the old one is not as it was") == true)
    unlink(table.vault + ".old-20200101-000000")
    #expect(try table.flaw()?.hasPrefix("the old vault is lost") == true)
  }
}

/// Whether processes can be followed, and killed at a call.
enum Tracer {
  static let program = "/usr/bin/strace"

  static let works =
    (try? Child(program, ["-o", "/dev/null", "/bin/true"], environment: []).wait()) == 0
}

/// A vault of two items, and a backup of a time when it had one.
final class RestoreTable {
  /// What stands there when the restore begins.
  enum Before: CaseIterable, Sendable {
    /// A vault, whole in its file.
    case locked
    /// One whose latest changes stand in the WAL of an agent that was killed.
    case killed
    /// One that is no vault any more, and the WAL of one.
    case damaged
    /// The WAL alone.
    case missing
  }

  /// By these it changes names, and makes them last.
  static let calls = ["link", "linkat", "rename", "renameat2", "unlink", "fsync"]
  private let desk: AgentDesk
  private let before: Before
  private var number = 0
  /// Which file the old vault is.
  private var file: UInt64?
  /// Whether the backup was found in the vault's place.
  private(set) var isDone = false
  var vault: String { desk.scratch.file("data") + "/kura/default.kura" }
  var backup: String { desk.scratch.file("copy.kura") }

  init(_ before: Before) throws {
    self.before = before
    desk = try AgentDesk()
    try desk.unlock()
    try Bytes.write(Array("value".utf8), to: desk.scratch.file("value"))
    try desk.demand(["put", "first", "--file", desk.scratch.file("value")])
    try desk.demand(["backup", backup])
    try desk.demand(["put", "second", "--file", desk.scratch.file("value")])
    if before == .locked {
      try desk.demand(["lock"])
      try desk.demand(["agent", "stop"])
    } else {
      try desk.killAgent()
      try #require(access(vault + "-wal", F_OK) == 0)
    }
    if before == .damaged { try Bytes.write(Array("no vault".utf8), to: vault) }
    if before == .missing { unlink(vault) }
    for name in ["data", "state"] { try copy(name, to: name + ".before") }
    file = try? inode(vault)
  }

  private func copy(_ name: String, to other: String) throws {
    let child = try Child(
      "/bin/cp", ["-a", desk.scratch.file(name), desk.scratch.file(other)], environment: [])
    guard child.wait() == 0 else { throw SystemFailure(call: "cp \(name)", number: errno) }
  }

  /// Puts all back as it was.
  func reset() throws {
    for name in ["data", "state"] {
      try FileManager.default.removeItem(atPath: desk.scratch.file(name))
      try copy(name + ".before", to: name)
    }
    file = try? inode(vault)
  }

  /// Restores the backup, and kills that before a call, the first or a later one of its kind.
  ///
  /// - Returns: Whether there was such a call.
  func restore(killedBefore call: String, _ number: Int) throws -> Bool {
    let status = try restore("?\(call):signal=KILL:when=\(number)")
    guard status == 0 || status == 128 + SIGKILL else {
      throw SystemFailure(call: "restore-backup: \(try desk.output())", number: status)
    }
    return status != 0
  }

  /// Restores it where link(2) has no effect; what a file is written with goes another way.
  func restoreWithoutLinks() throws {
    #expect(try restore("?link:error=EPERM") == 0)
  }

  private func restore(_ fault: String) throws -> Int32 {
    try desk.run(Tracer.program, ["-qq", "-o", "/dev/null", "-e", "inject=" + fault] + command)
  }

  private var command: [String] {
    ["\(Programs.directory)/kura", "restore-backup", backup, "--yes", "--accept-rollback"]
      + ["--no-agent", "--passcode-file", desk.passcode]
  }

  func inode(_ path: String) throws -> UInt64 {
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw SystemFailure(call: "stat", number: errno) }
    return UInt64(facts.st_ino)
  }

  /// Where the old vault is kept.
  func old() throws -> String {
    let names = try desk.vaultFiles().filter { $0.contains(".old-") }
    return desk.scratch.file("data") + "/kura/" + (try #require(names.first))
  }

  /// The names of a vault's items, as a machine sees them that never saw it; nil where it is no whole vault.
  private func items(_ path: String) throws -> [String]? {
    number += 1
    let status = try desk.run(
      "\(Programs.directory)/kura",
      ["--no-agent", "--vault", path, "list", "--passcode-file", desk.passcode],
      state: "state.\(number)")
    guard status == 0 else { return nil }
    // What is said beside it is of this machine.
    return try desk.output().split(separator: "\n").map(String.init)
      .filter { !$0.hasPrefix("kura: ") }
  }
}

// MARK: - What is found

extension RestoreTable {
  /// What is wrong with what stands there; nil where that is one of the two.
  func flaw() throws -> String? {
    isDone = false
    guard access(vault, F_OK) == 0 else {
      return before == .missing ? nil : "there is no vault"
    }
    guard try inode(vault) != file else {
      guard before != .damaged else { return nil }
      return try items(vault) == ["first", "second"] ? nil : "the old vault is not as it was"
    }
    isDone = true
    for suffix in ["-wal", "-journal"] where access(vault + suffix, F_OK) == 0 {
      return "another's WAL stands beside the backup"
    }
    guard try items(vault) == ["first"] else { return "the backup is not whole" }
    return try flawOfOld()
  }

  private func flawOfOld() throws -> String? {
    let names = try desk.vaultFiles().filter { $0.contains(".old-") }
    guard before == .locked || before == .killed else {
      return names.contains { $0.hasSuffix("-wal") } ? nil : "the WAL is lost: \(names)"
    }
    guard let old = names.first else { return "the old vault is lost" }
    let path = desk.scratch.file("data") + "/kura/" + old
    return try items(path) == ["first", "second"] ? nil : "the old one is not as it was"
  }

  /// What is wrong when it is asked for again, and comes to its end; nil where nothing is.
  func flawOfAnother() throws -> String? {
    guard try desk.run(command[0], Array(command.dropFirst())) == 0 else {
      return "asked again: \(try desk.output())"
    }
    if let flaw = try flaw() { return "asked again: " + flaw }
    guard isDone else { return "asked again, the backup did not take its place" }
    let left = try desk.vaultFiles().filter { !$0.contains(".old-") && $0 != "default.kura" }
    return left.isEmpty ? nil : "asked again: it left \(left)"
  }
}
