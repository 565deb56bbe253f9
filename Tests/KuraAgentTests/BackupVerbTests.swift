// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import KuraVault
import Testing

@testable import KuraAgent

/// A backup is made beside everything else, and no key is kept for it.
@Suite struct `A backup under way` {
  private func request(
    _ wire: Wire, _ path: String, keep: UInt16 = 0, _ bench: Bench
  ) throws -> Refusal? {
    try wire.send { try $0.putRequest(.backup(.init(path: path.utf8.span, keeping: keep))) }
    return try last(on: wire, bench).refusal
  }

  /// The end of what is told, whatever is told before.
  private func last(on wire: Wire, _ bench: Bench) throws -> Received {
    while true {
      let answer = try bench.reply(on: wire)
      if answer.type == .end || answer.type == .reply { return answer }
    }
  }

  /// One that has the file until the test runs it.
  private func begin(_ bench: Bench) throws -> Backup {
    let session = try #require(bench.agent.sessions.first)
    let vault = try LockedVault(at: bench.vault, options: bench.agent.options)
    let backup = Backup(of: vault, to: bench.scratch.path + "/copy.kura")
    session.backup = backup
    return backup
  }

  @Test func `is made locked and unlocked, and status tells when and where`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let path = bench.scratch.path + "/copy.kura"
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    #expect(try bench.status(wire)?.backupTime == 0)
    #expect(try request(wire, path, bench) == nil)
    #expect(FileManager.default.fileExists(atPath: path))
    let status = try #require(try bench.status(wire))
    #expect(status.backupTime > 0)
    #expect(String(decoding: status.backupPath, as: UTF8.self).hasSuffix("/copy.kura"))
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try request(wire, path, bench) == nil)
    #expect(try bench.status(wire)?.backupPath == status.backupPath)
  }

  @Test
  func `does not keep keys from being wiped, and a lock is answered when it has the file no more`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    let session = try #require(bench.agent.sessions.first)
    let backup = try begin(bench)
    try wire.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    try bench.turn(3)
    #expect(!session.isUnlocked)
    // What is behind the closing of this vault, such as another's, goes before it.
    let next = Gate()
    defer { next.open() }
    try #require(bench.agent.startedCloser()).start(next)
    next.awaitBegin()
    #expect(session.closing != nil && session.closing?.outcome == nil)
    next.open()
    backup.copy()
    #expect(try bench.reply(on: wire).isOK)
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }

  @Test func `goes on without the keys when the vault is locked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    let path = bench.scratch.path + "/copy.kura"
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    try wire.send { try $0.putRequest(.backup(.init(path: path.utf8.span))) }
    #expect(
      try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try last(on: wire, bench).refusal == nil)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `is refused where it cannot stand`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try request(wire, "copy.kura", bench) == .pathInvalid)
    #expect(try request(wire, "", bench) == .pathInvalid)
    #expect(
      try request(wire, bench.vault, bench) == .backupRefused(.vaultItself, .text(bench.vault)))
    let gone = bench.scratch.path + "/gone/copy.kura"
    #expect(try request(wire, gone, bench) == .backupFailed(errno: ENOENT, .text(gone)))
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
  }

  @Test func `names a directory that goes away while the copy is looked at`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    let session = try #require(bench.agent.sessions.first)
    let directory = bench.scratch.path + "/stick"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    let path = directory + "/copy.kura"
    let backup = Backup(
      of: try LockedVault(at: bench.vault, options: bench.agent.options), to: path)
    backup.copy()
    let run = BackupRun(
      backup, at: path, of: session, on: try #require(bench.agent.startedCopier()))
    #expect(try run.advance(at: 0) == nil)
    try FileManager.default.removeItem(atPath: directory)
    #expect(throws: Refusal.backupFailed(errno: ENOENT, .text(path))) { try run.advance(at: 0) }
  }
}
