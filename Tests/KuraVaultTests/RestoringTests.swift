// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `An earlier revision` {
  @Test func `comes back as the next one`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(70_000))
    try vault.put("a", [2], .replace, ["k": "v"])
    try vault.put("a", [3], .replace, [:], replacingAll: true)
    #expect(try vault.restore("a", 2) == 4)
    #expect(try vault.get("a") == [2])
    #expect(try vault.attributes(of: "a") == ["k": "v"])
    #expect(try vault.restore("a", 1) == 5)
    #expect(try vault.get("a") == pattern(70_000))
    #expect(try vault.revisions("a") == [1, 2, 3, 4])
    #expect(throws: VaultError.revisionNotFound) { _ = try vault.restore("a", 9) }
    #expect(throws: VaultError.notDeleted(revision: 5)) { _ = try vault.restore("a") }
    #expect(throws: VaultError.notFound) { _ = try vault.restore("b") }
    #expect(try vault.findings() == [])
  }

  /// The value that the deleted item had was purged elsewhere, but a revision that the purge did not know has it.
  @Test func `comes back where its value was set by one that was purged`() throws {
    let copies = try Copies()
    try copies.here { vault throws in try vault.put("a", "kept") }
    try copies.part()
    try copies.here { vault throws in
      _ = try vault.setAttributes(Array("a".utf8).span, try edits(["x": "1"]))
    }
    try copies.there { vault throws in _ = try vault.purge(Array("a".utf8).span, .item) }
    _ = try copies.merge()
    try copies.here { vault throws in try vault.remove("a") }
    // Another item takes the name.
    try copies.there { vault throws in try vault.put("a", "other") }
    _ = try copies.merge()
    try copies.here { vault throws in
      let names = try vault.names(includingDeleted: true)
      let name = try #require(names.first { $0 != "a" })
      _ = try vault.restore(name)
      #expect(try vault.getText(name) == "kept" && vault.attributes(of: name) == ["x": "1"])
      #expect(try vault.findings() == [])
    }
    _ = try copies.mergeBack()
    #expect(try copies.second.allValues().isSuperset(of: ["kept", "other"]))
  }

  /// As a fault would have it: what is written was said to be there.
  @Test func `is not written where nobody could read it again`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let tag = try vault.tag(of: Array("a".utf8).span)
    let row = try vault.reading { vault throws(VaultError) -> OpenedRow? in
      let leaf = try vault.rows.tree.leaf(
        of: tag, under: vault.trust.root, in: &vault.rows.storage, vault.keys)
      guard let leaf else { return nil }
      return try vault.rows.itemCopy(tag, leaf: leaf, vault.keys).current
    }
    let current = try #require(row)
    var (facts, refused) = (current.facts, VaultError?.none)
    _ = try vault.keys.seal(current.meta, facts)
    facts.kind = .purged
    do throws(VaultError) { _ = try vault.keys.seal(current.meta, facts) } catch {
      refused = error
    }
    #expect(refused == .damaged(.item))
    vault.fold()
  }

  @Test(arguments: [5, 70_000])
  func `comes back after the item was deleted`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setHistoryDepth(1)
    try vault.store("a", pattern(count))
    try vault.remove("a")
    // The deletion itself pushes the value out of the history that it comes from.
    #expect(try vault.restore("a") == 3)
    #expect(try vault.get("a") == pattern(count))
    #expect(vault.summary.itemCount == 1 && vault.summary.deletedCount == 0)
    try vault.sweepAll()
    #expect(try vault.get("a") == pattern(count))
    #expect(throws: VaultError.revisionNotFound) { _ = try vault.restore("a", 2) }
    #expect(try vault.findings() == [])
  }

  @Test func `that was not kept does not come back`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setHistoryDepth(0)
    try vault.put("a", "1")
    try vault.remove("a")
    #expect(throws: VaultError.revisionNotFound) { _ = try vault.restore("a") }
  }

  @Test(arguments: [5, 70_000])
  func `of a protected item comes back without a key, as it was`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(count))
    try vault.put("a", "2")
    let name = Array("a".utf8)
    _ = try vault.protect(name.span)
    try vault.remove("a")
    _ = try vault.restore("a", 1)
    #expect(throws: VaultError.protected) { try vault.get("a") }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", with: key) == pattern(count))
    #expect(try vault.findings() == [])
  }

  @Test func `is told of in its turn, a few at a time`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 1...5 { try vault.put("a", "\(number)") }
    let name = Array("a".utf8)
    var (told, last, calls): ([UInt64], UInt64, Int) = ([], 0, 0)
    var hasMore = true
    while hasMore {
      hasMore = try vault.eachRevision(of: name.span, after: last, limit: 2) { item in
        told.append(item.revision)
        last = item.revision
      }
      calls += 1
    }
    #expect(told == [1, 2, 3, 4, 5])
    #expect(calls == 3)
  }

  @Test func `is listed with those after it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("a", "22")
    try vault.remove("a")
    #expect(try vault.revisionList("a", 1) == ["1 1 a", "2 2 a", "3 deleted a"])
    #expect(try vault.revisionList("a", 2) == ["1 1 a", "2 2 a", "3 deleted a"])
    #expect(try vault.revisionList("a", 100) == ["1 1 a", "2 2 a", "3 deleted a"])
    #expect(throws: VaultError.notFound) { _ = try vault.revisionList("b", 1) }
  }
}

@Suite struct `What is purged` {
  @Test(arguments: [5, 900, 5_000, 60_000, 200_000], [false, true])
  func `is nowhere in the file`(count: Int, isDeleted: Bool) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for index in 0..<20 { try vault.put("other\(index)", pattern(300 * index)) }
    for seed in 1...3 { try vault.store("a", pattern(count, seed: seed)) }
    if isDeleted { try vault.remove("a") }
    for index in 0..<20 { try vault.put("other\(index)", pattern(200 * index)) }
    let old = try file.sealed("a", vault.rowID("a"))
    #expect(old.count > 3)
    #expect(file.shows(old) == old.count)
    try vault.purgeAll("a", .item)
    #expect(file.shows(old) == 0)
    #expect(throws: VaultError.notFound) { _ = try vault.revisions("a") }
    #expect(vault.summary.itemCount == 20 && vault.summary.deletedCount == TestVault.traces)
    #expect(try vault.findings() == [])
    try vault.put("a", "new")
    #expect(try vault.item("a").revision == 1)
    #expect(try vault.findings() == [])
  }

  @Test(arguments: [5, 5_000, 200_000])
  func `may be one revision, or all earlier ones`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for seed in 1...4 { try vault.store("a", pattern(count, seed: seed)) }
    let old = try file.sealed("a", vault.rowID("a"), revision: 2)
    #expect(file.shows(old) == old.count && !old.isEmpty)
    try vault.purgeAll("a", .revision(2))
    #expect(file.shows(old) == 0)
    #expect(try vault.revisions("a") == [1, 3])
    #expect(try vault.get("a", revision: 1) == pattern(count, seed: 1))
    #expect(throws: VaultError.revisionNotFound) { try vault.purgeAll("a", .revision(2)) }
    #expect(throws: VaultError.revisionCurrent) { try vault.purgeAll("a", .revision(4)) }
    try vault.purgeAll("a", .history)
    #expect(try vault.revisions("a") == [])
    #expect(try vault.get("a") == pattern(count, seed: 4))
    #expect(try vault.item("a").revision == 4)
    #expect(try vault.findings() == [])
  }

  @Test func `keeps the pieces that another revision has, too`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(200_000))
    _ = try vault.setAttributes(Array("a".utf8).span, try edits(["k": "v"]))
    try vault.purgeAll("a", .history)
    #expect(try vault.get("a") == pattern(200_000))
    #expect(try vault.findings() == [])
  }

  @Test func `while somebody reads is cleared from the journal later`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for seed in 1...3 { try vault.put("a", pattern(5_000, seed: seed)) }
    let old = try file.sealed("a", vault.rowID("a"))
    do {
      var reader = try file.unlock()
      let verification = try reader.beginVerify()
      #expect(throws: VaultError.busy) { try vault.purgeAll("a", .item) }
      #expect(throws: VaultError.busy) { try vault.flushSeen() }
      // The newest state is noted by now: only the journal is left to do.
      #expect(vault.needsFlush == true)
      #expect(file.shows(old) == old.count && !old.isEmpty)
      _ = consume verification
    }
    try vault.flushSeen()
    #expect(vault.needsFlush == false)
    #expect(file.shows(old) == 0)
    #expect(try vault.findings() == [])
  }

  @Test func `leaves an empty tree as a new vault has it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for index in 0..<50 { try vault.put("n\(index)", "\(index)") }
    for index in 0..<50 { try vault.purgeAll("n\(index)", .item) }
    #expect(try vault.names(includingDeleted: true) == [])
    if !TestVault.isOfSecondFormat {
      #expect(file.attack("SELECT count(*) FROM bucket") == ["0"])
      #expect(file.attack("SELECT count(*) FROM node") == ["0"])
    }
    #expect(vault.summary.itemCount == 0)
    #expect(try vault.findings() == [])
  }
}

extension TestVault {
  /// All ciphertexts of an item, or of one earlier revision, from the file.
  fileprivate func sealed(_ name: String, _ id: String, revision: Int? = nil) -> [[UInt8]] {
    let part = revision.map { " AND revision = \($0)" } ?? ""
    let current = revision == nil ? " WHERE hex(id) = '\(id)'" : " WHERE 0"
    var rows: [String] = []
    for column in ["meta", "body"] {
      rows += attack("SELECT hex(\(column)) FROM item" + current)
      rows += attack("SELECT hex(\(column)) FROM history WHERE hex(item) = '\(id)'" + part)
    }
    if revision == nil { rows += attack("SELECT hex(data) FROM chunk") }
    return rows.map { row in
      let digits = row.utf8.map { $0 < 58 ? $0 - 48 : $0 - 55 }
      return (0..<digits.count / 2).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
    }
  }

  /// How many of some texts show in the vault's files: one of their aligned words of 8 bytes, anywhere.
  fileprivate func shows(_ old: [[UInt8]]) -> Int {
    let words = old.map { text in
      stride(from: 0, through: text.count - 8, by: 8).map { start in
        text[start..<(start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      }
    }
    let sought = Set(words.joined())
    // Most bytes are passed by with one look: at a bit for the last two bytes of each word.
    var mayEnd = [Bool](repeating: false, count: 1 << 16)
    for word in sought { mayEnd[Int(word & 0xffff)] = true }
    var found: Set<UInt64> = []
    for name in files {
      guard let content = try? [UInt8](content(of: name)) else { continue }
      var word: UInt64 = 0
      for byte in content {
        word = word << 8 | UInt64(byte)
        if mayEnd[Int(word & 0xffff)], sought.contains(word) { found.insert(word) }
      }
    }
    return words.count { !found.isDisjoint(with: $0) }
  }
}

extension UnlockedVault {
  /// The item's id, in hexadecimal digits.
  fileprivate mutating func rowID(_ name: String) throws -> String {
    let name = Array(name.utf8)
    let tag = try tag(of: name.span)
    return try reading { vault throws(VaultError) in
      guard let (facts, _) = try vault.verifiedHistory(tag) else { throw .notFound }
      return facts.id.hexadecimal.uppercased()
    }
  }

  fileprivate mutating func store(_ name: String, _ value: [UInt8]) throws {
    if value.count > 65_536 { try upload(name, value) } else { try put(name, value) }
  }

  fileprivate mutating func setHistoryDepth(_ depth: UInt64) throws {
    try setPolicy(.historyDepth, to: depth)
  }

  fileprivate mutating func purgeAll(_ name: String, _ scope: PurgeScope) throws(VaultError) {
    let name = Array(name.utf8)
    var purge = try purge(name.span, scope)
    while try advance(&purge) {}
    try finishPurge()
  }

  fileprivate mutating func revisionList(
    _ name: String, _ limit: Int
  ) throws(VaultError) -> [String] {
    let name = Array(name.utf8)
    var (found, last): ([String], UInt64) = ([], 0)
    while try eachRevision(
      of: name.span, after: last, limit: limit,
      { (item: borrowing Item) throws(VaultError) in
        last = item.revision
        let size = item.isDeleted ? "deleted" : "\(item.size)"
        found.append("\(item.revision) \(size) \(text(of: item.name))")
      })
    {}
    return found
  }
}
