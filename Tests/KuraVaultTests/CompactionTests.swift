// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Testing

@testable import KuraVault

/// The room of what was purged goes back to the disk, and nothing else changes.
@Suite struct `A compaction` {
  let file: TestVault

  init() throws {
    file = try TestVault()
    try file.fill { vault in
      try vault.upload("first", pattern(2_000_000))
      try vault.put("small", "1")
      try vault.put("small", "2")
      try vault.upload("kept", pattern(300_000, seed: 9))
      try vault.purgeWhole("first")
    }
  }

  /// Compacts, and says what came of it.
  private func compact(_ vault: borrowing UnlockedVault) throws -> Compaction.Sizes? {
    let work = try vault.compaction()
    work.run()
    return try #require(work.outcome).get()
  }

  private func expectWhole(_ vault: inout UnlockedVault) throws {
    #expect(try vault.findings() == [])
    #expect(try vault.get("small") == Array("2".utf8))
    #expect(try vault.get("small", revision: 1) == Array("1".utf8))
    #expect(try vault.get("kept") == pattern(300_000, seed: 9))
  }

  private static let rows = [
    "SELECT hex(data) FROM part ORDER BY id", "SELECT hex(key) FROM slot ORDER BY number",
    "SELECT hex(tag || id || history || meta || body) FROM item ORDER BY tag",
    "SELECT hex(item || meta || body) FROM history ORDER BY item, revision",
    "SELECT hex(value || data) FROM chunk ORDER BY value, number",
    "SELECT hex(leaves) FROM bucket ORDER BY number", "SELECT hex(digests) FROM node ORDER BY id",
  ]

  private var allRows: [[String]] { Self.rows.map { file.attack($0) } }

  @Test func `leaves a file as short as what is in it, and every row as it was`() throws {
    let rows = allRows
    var vault = try file.unlock()
    let (epoch, before) = (vault.summary.epoch, try vault.space())
    #expect(before.free > 1_900_000)
    let sizes = try #require(try compact(vault))
    #expect(sizes.before > sizes.after + 1_900_000)
    #expect(try vault.space().free == 0)
    #expect(UInt64(try file.content().count) == sizes.after)
    #expect(vault.summary.epoch == epoch)
    try expectWhole(&vault)
    try vault.put("after", "value")
    vault.lock().close()
    #expect(file.files == ["test.kura"])
    vault = try file.unlock()
    try expectWhole(&vault)
    vault.lock().close()
    #expect(allRows[4] == rows[4])
  }

  @Test func `leaves what was sealed in one place, and not in the unused parts of pages`() throws {
    let vault = try file.unlock()
    _ = try compact(vault)
    vault.lock().close()
    let content = try file.content()
    let rows = file.attack(
      "SELECT hex(substr(body, 1, 32)) FROM item", "SELECT hex(substr(data, 1, 32)) FROM chunk")
    for row in rows {
      let digits = Array(row)
      let sealed = Data(
        stride(from: 0, to: digits.count, by: 2).map {
          UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0
        })
      let place = try #require(content.firstRange(of: sealed))
      #expect(content[place.upperBound...].firstRange(of: sealed) == nil)
    }
  }

  @Test func `changes no row`() throws {
    let rows = allRows
    let vault = try file.unlock()
    _ = try compact(vault)
    vault.lock().close()
    let after = allRows
    for index in rows.indices { #expect(after[index] == rows[index], "\(Self.rows[index])") }
  }

  @Test func `finds nothing to do where nothing is free`() throws {
    let vault = try file.unlock()
    _ = try compact(vault)
    let sizes = try #require(try compact(vault))
    #expect(sizes.before == sizes.after)
    vault.lock().close()
  }

  @Test func `is undone when it is stopped`() throws {
    var vault = try file.unlock()
    let length = try file.content().count
    let work = try vault.compaction()
    work.stop()
    work.run()
    #expect(throws: VaultError.busy) { _ = try work.outcome?.get() }
    #expect(try file.content().count == length)
    try expectWhole(&vault)
    vault.lock().close()
    #expect(file.files == ["test.kura"])
  }

  @Test func `leaves what other engines have open as it was, and what this machine noted`()
    throws
  {
    var first = try file.unlock()
    var second = try file.unlock()
    #expect(try second.get("small") == Array("2".utf8))
    let (before, noted) = (first.summary, try states())
    _ = try #require(try compact(first))
    #expect(first.summary == before)
    #expect(try second.get("small") == Array("2".utf8))
    #expect(second.summary == before)
    #expect(try states() == noted)
    for number in 1...2 {
      try second.put("second/\(number)", "x")
      try first.put("first/\(number)", "y")
    }
    try expectWhole(&second)
    _ = try #require(try compact(second))
    try expectWhole(&first)
    #expect(try first.get("second/2") == Array("x".utf8))
    first.lock().close()
    second.lock().close()
    #expect(file.files == ["test.kura"])
    #expect(file.refusal() == nil)
  }

  @Test func `takes away what a killed one left, and nothing that somebody has there`() throws {
    let other = file.path + "-compact"
    var vault = try file.unlock()
    // More than what stays in memory.
    try vault.upload("large", pattern(6_000_000, seed: 3))
    for left in ["mine", ""] {
      try vault.upload("gone", pattern(1_000_000, seed: 4))
      try vault.purgeWhole("gone")
      #expect(FileManager.default.createFile(atPath: other, contents: Data(left.utf8)))
      let sizes = try #require(try compact(vault))
      #expect(sizes.before > sizes.after)
      let now = try? file.content(of: "test.kura-compact")
      #expect(now == (left.isEmpty ? nil : Data(left.utf8)))
    }
    try expectWhole(&vault)
    vault.lock().close()
    #expect(file.files == ["test.kura"])
  }

  /// What this machine keeps of the vault, among it the newest state seen.
  private func states() throws -> [Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: file.stateDirectory)
    return try names.sorted().map {
      try Data(contentsOf: URL(filePath: file.stateDirectory + "/" + $0))
    }
  }

  @Test func `that the disk has no room for changes nothing`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let test = try Self()
      var vault = try test.file.unlock()
      let length = try test.file.content().count
      var limit = rlimit(rlim_cur: 200_000, rlim_max: .max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(throws: VaultError.diskFull) { _ = try test.compact(vault) }
      #expect(try test.file.content(of: "test.kura-wal").isEmpty)
      limit.rlim_cur = .max
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(try test.file.content().count == length)
      try test.expectWhole(&vault)
      vault.lock().close()
      #expect(test.file.files == ["test.kura"])
    }
  }

  /// Another program that has the file open in a transaction.
  private func holding(_ statement: String, _ body: () throws -> Void) throws {
    var db: OpaquePointer?
    #expect(sqlite3_open_v2(file.path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(db) }
    #expect(sqlite3_exec(db, statement, nil, nil, nil) == SQLITE_OK)
    try body()
  }

  @Test func `is refused while another program writes`() throws {
    var vault = try file.unlock()
    try holding("BEGIN IMMEDIATE") {
      let work = try vault.compaction()
      work.run()
      #expect(throws: VaultError.busy) { _ = try work.outcome?.get() }
    }
    try expectWhole(&vault)
    vault.lock().close()
  }

  @Test func `leaves a journal while another program reads, and a short file after it`() throws {
    var vault = try file.unlock()
    let length = try file.content().count
    try holding("BEGIN; SELECT count(*) FROM item") {
      #expect(try compact(vault) == nil)
      try expectWhole(&vault)
    }
    vault.lock().close()
    #expect(try file.content().count < length - 1_900_000)
    #expect(file.files == ["test.kura"])
    vault = try file.unlock()
    try expectWhole(&vault)
    vault.lock().close()
  }
}

extension UnlockedVault {
  fileprivate mutating func purgeWhole(_ name: String) throws {
    let name = Array(name.utf8)
    var purge = try purge(name.span, .item)
    while try advance(&purge) {}
    try finishPurge()
  }
}
