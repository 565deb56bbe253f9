// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraVault

/// A backup is the vault, or there is none.
@Suite struct `A backup` {
  let file: TestVault

  init() throws {
    file = try TestVault()
    try file.fill { vault in
      try vault.put("small", "1")
      try vault.upload("large", pattern(300_000, seed: 9))
    }
  }

  private var target: String { file.directory + "/copy.kura" }

  private func names(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  private func begin(to path: String? = nil, keeping keep: Int = 0) throws -> Backup {
    Backup(of: try file.open(), to: path ?? target, keeping: keep)
  }

  @discardableResult
  private func make(to path: String? = nil, keeping keep: Int = 0) throws -> Backup.Made {
    let backup = try begin(to: path, keeping: keep)
    backup.copy()
    _ = try #require(backup.copied).get()
    backup.publish()
    return try #require(backup.made).get()
  }

  private func failure(to path: String? = nil) throws -> Backup.Failure? {
    let backup = try begin(to: path)
    backup.copy()
    if case .failure(let failure) = backup.copied { return failure }
    return nil
  }

  private func content(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test func `has every byte of the vault, and is noted`() throws {
    let made = try make()
    #expect(try content(target) == content(file.path))
    #expect(made.byteCount == UInt64(try content(target).count))
    #expect(made.removedCount == 0)
    let note = try #require(
      BackupNote.read(of: try file.open().id, in: file.options.stateDirectory))
    #expect(String(decoding: note.path, as: UTF8.self).hasSuffix("/copy.kura"))
    #expect(note.time > 0)
  }

  @Test func `has what stands in the WAL, and what comes later stays out of it`() throws {
    var vault = try file.unlock()
    try vault.put("late", "in time")
    let backup = try begin()
    #expect(backup.holdsVault)
    backup.copy()
    #expect(!backup.holdsVault)
    try vault.put("later", "too late")
    backup.publish()
    _ = try #require(backup.made).get()
    vault.lock().close()
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.copyItem(atPath: target, toPath: file.path)
    vault = try file.unlock(accepting: true)
    #expect(try vault.get("late") == Array("in time".utf8))
    #expect(throws: VaultError.notFound) { try vault.get("later") }
    #expect(try vault.findings() == [])
    vault.lock().close()
  }

  @Test func `without its name is nothing that stays`() throws {
    var backup: Backup? = try begin()
    backup?.copy()
    #expect(try names(file.directory).contains { $0.hasPrefix(".kura-backup-") })
    backup = nil
    #expect(try names(file.directory).sorted() == ["state", "vault"])
  }

  @Test func `that is stopped leaves nothing`() throws {
    let backup = try begin()
    backup.stop()
    backup.copy()
    #expect(backup.copied == .failure(.stopped))
    #expect(try names(file.directory) == ["state", "vault"])
  }

  @Test func `takes the place of nothing else`() throws {
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    #expect(try failure() == .refused(.notAFile))
    try FileManager.default.removeItem(atPath: target)
    #expect(try failure(to: file.path) == .refused(.vaultItself))
    try FileManager.default.linkItem(atPath: file.path, toPath: target)
    #expect(try failure() == .refused(.vaultItself))
    try FileManager.default.removeItem(atPath: target)
    try FileManager.default.createSymbolicLink(
      atPath: target, withDestinationPath: file.path)
    #expect(try failure() == .refused(.vaultItself))
    try FileManager.default.removeItem(atPath: target)
    try FileManager.default.createSymbolicLink(
      atPath: target, withDestinationPath: "nowhere")
    #expect(try failure() == .refused(.notAFile))
    try FileManager.default.removeItem(atPath: target)
    try Data("letter".utf8).write(to: URL(fileURLWithPath: target))
    #expect(try failure() == .refused(.notAVault))
    let stranger = try TestVault()
    try content(stranger.path).write(to: URL(fileURLWithPath: target))
    #expect(try failure() == .refused(.otherVault))
    try content(file.path).write(to: URL(fileURLWithPath: target))
    try Data("x".utf8).write(to: URL(fileURLWithPath: target + "-wal"))
    #expect(try failure() == .refused(.inUse))
    try FileManager.default.removeItem(atPath: target + "-wal")
    #expect(try failure() == nil)
  }

  @Test func `looks again at what it is to replace when it has its name`() throws {
    let backup = try begin()
    backup.copy()
    try Data("letter".utf8).write(to: URL(fileURLWithPath: target))
    backup.publish()
    #expect(backup.made == .failure(.refused(.notAVault)))
    #expect(try content(target) == Data("letter".utf8))
    #expect(try names(file.directory) == ["copy.kura", "state", "vault"])
  }

  @Test func `has no place in a directory that is gone`() throws {
    #expect(try failure(to: file.directory + "/gone/copy.kura") == .target(.io(ENOENT)))
    let place = file.directory + "/stick"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let backup = try begin(to: place + "/copy.kura")
    backup.copy()
    try FileManager.default.removeItem(atPath: place)
    backup.publish()
    #expect(backup.made == .failure(.target(.io(ENOENT))))
  }

  @Test func `of a damaged database is none`() throws {
    // Two pages of items, exchanged: each row is sound, and their order is not.
    file.attack("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = rootpage")
    var bytes = try content(file.path)
    let page = bytes.count - 16_384
    bytes.replaceSubrange(page..<(page + 200), with: [UInt8](repeating: 0xFF, count: 200))
    try bytes.write(to: URL(fileURLWithPath: file.path))
    #expect(try failure() != nil)
    #expect(try names(file.directory) == ["state", "vault"])
  }

  // MARK: The key

  @Test func `is proved by the vault's key`() throws {
    let vault = try file.unlock()
    let epoch = vault.summary.epoch
    let backup = try begin()
    backup.copy()
    var check = try vault.beginCheck(of: backup, notBefore: epoch)
    while try check.step() {}
    #expect(throws: VaultError.damaged(.root)) {
      _ = try vault.beginCheck(of: backup, notBefore: epoch + 1)
    }
    vault.lock().close()
  }

  @Test(arguments: [
    "DELETE FROM bucket", "UPDATE bucket SET leaves = zeroblob(length(leaves))",
    "UPDATE node SET digests = zeroblob(length(digests))",
  ])
  func `of a vault whose tree was changed is found out by it`(_ attack: String) throws {
    file.attack(attack)
    let backup = try begin()
    backup.copy()
    _ = try #require(backup.copied).get()
    let vault = try file.unlock()
    #expect(throws: VaultError.self) {
      var check = try vault.beginCheck(of: backup, notBefore: 0)
      while try check.step() {}
    }
    vault.lock().close()
  }

  /// Makes one with the vault's keys, as an unlocked agent does.
  private func makeProved(
    to path: String, keeping keep: Int = 0
  ) throws -> Result<Backup.Made, Backup.Failure> {
    let vault = try file.unlock(accepting: true)
    let backup = try begin(to: path, keeping: keep)
    backup.copy()
    _ = try #require(backup.copied).get()
    var check = try vault.beginCheck(of: backup, notBefore: vault.summary.epoch)
    while try check.step() {}
    backup.publish()
    vault.lock().close()
    return try #require(backup.made)
  }

  @Test func `of a later state than the vault has stays, by itself and in a series`() throws {
    let early = try content(file.path)
    let series = file.directory + "/a-"
    try file.fill { try $0.put("late", "2") }
    for day in ["20200101", "20200103"] { try make(to: series + day + "T000000Z.kura") }
    try make()
    let late = try content(target)
    try early.write(to: URL(fileURLWithPath: file.path))
    try make(to: series + "20200102T000000Z.kura")

    #expect(try makeProved(to: target) == .failure(.refused(.newer)))
    #expect(try content(target) == late)
    let made = try makeProved(to: series + "20200104T000000Z.kura", keeping: 1).get()
    #expect(made.removedCount == 1)
    #expect(made.sparedCount == 2)
    #expect(
      try names(file.directory) == [
        "a-20200101T000000Z.kura", "a-20200103T000000Z.kura", "a-20200104T000000Z.kura",
        "copy.kura", "state", "vault",
      ])
    // One of the same state is replaced.
    #expect(try makeProved(to: series + "20200104T000000Z.kura").get().sparedCount == 0)
  }

  // MARK: Series

  @Test func `of a series ends the oldest, by their names`() throws {
    let days = ["20200103", "20200101", "20200102"]
    for day in days { try make(to: file.directory + "/a-\(day)T000000Z.kura") }
    try make(to: file.directory + "/b-20190101T000000Z.kura")
    try Data("letter".utf8).write(
      to: URL(fileURLWithPath: file.directory + "/a-20180101T000000Z.kura"))
    let made = try make(to: file.directory + "/a-20200104T000000Z.kura", keeping: 3)
    #expect(made.removedCount == 1)
    #expect(
      try names(file.directory) == [
        "a-20180101T000000Z.kura", "a-20200102T000000Z.kura", "a-20200103T000000Z.kura",
        "a-20200104T000000Z.kura", "b-20190101T000000Z.kura", "state", "vault",
      ])
    // One of an earlier time than the others stays all the same.
    let early = try make(to: file.directory + "/a-20100101T000000Z.kura", keeping: 1)
    #expect(early.removedCount == 3)
    #expect(try names(file.directory).first == "a-20100101T000000Z.kura")
  }

  @Test func `has a series by its name alone`() {
    #expect(BackupSeries.front(of: "default-20261123T111530Z.kura") == "default")
    for name in [
      "-20261123T111530Z.kura", "default-20261123T111530.kura", "default-2026112xT111530Z.kura",
      "default.kura", "default-20261123T111530Z.kura2",
    ] {
      #expect(BackupSeries.front(of: name) == nil)
    }
  }
}
