// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct RotationTests {
  @Test func `a rotation leaves one new data key and all values`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 150) }
    var vault = try file.unlock()
    let before = try vault.everything()
    #expect(vault.rotation == nil)
    try vault.beginRotation()
    #expect(vault.rotation == RotationProgress(done: 0))
    try vault.rotateAll()
    #expect(vault.rotation == nil)
    #expect(vault.keys.ring.generations.map(\.number) == [2])
    #expect(try vault.everything() == before)
    #expect(try vault.findings() == [])
    vault.lock().close()
    #expect(file.attack(Self.generations) == ["2"])
    vault = try file.unlock()
    #expect(try vault.everything() == before)
  }

  @Test func `no record under the old key and no old ring is left in the file`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 40) }
    let old = file.attack(
      "SELECT hex(meta) FROM item", "SELECT hex(body) FROM item",
      "SELECT hex(meta) FROM history", "SELECT hex(body) FROM history",
      "SELECT hex(data) FROM part WHERE id = 1"
    ).map { Scan.bytes(hex: $0) }
    #expect(Scan(try file.content()).finds(old) == old.count)
    var vault = try file.unlock()
    try vault.beginRotation()
    try vault.rotateAll()
    vault.lock().close()
    #expect(file.files == ["test.kura"])
    #expect(Scan(try file.content()).finds(old) == 0)
  }

  @Test func `what is stored meanwhile is under the new key`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 300) }
    var vault = try file.unlock()
    try vault.beginRotation()
    #expect(try vault.rotate())
    for number in 0..<300 { try vault.put("item/\(number)", "second \(number)") }
    let new = Int(file.attack("SELECT count(*) FROM item WHERE generation = 2")[0]) ?? 0
    #expect(new >= 300)
    try vault.rotateAll()
    for number in 0..<300 {
      #expect(try vault.getText("item/\(number)") == "second \(number)")
      #expect(try vault.getText("item/\(number)", revision: 1) == "\(number)")
    }
    #expect(try vault.findings() == [])
  }

  @Test func `a rotation goes on where it was, after a lock and in another engine`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 400) }
    var done: UInt64 = 0
    var slices = 0
    try file.fill { vault in try vault.beginRotation() }
    while true {
      var vault = try file.unlock()
      guard let progress = vault.rotation else { break }
      #expect(progress.done >= done)
      done = progress.done
      _ = try vault.rotate()
      try vault.flushSeen()
      #expect(try vault.findings() == [])
      slices += 1
      vault.lock().close()
      // The look over it all begins anew with each engine: it has to get through in one.
      if done == RotationProgress.total {
        try file.fill { vault in try vault.rotateAll() }
      }
    }
    #expect(slices > 5)
    #expect(file.attack(Self.generations) == ["2"])
  }

  @Test func `two engines rotate one vault by turns`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 300) }
    var one = try file.unlock()
    var other = try file.unlock()
    try one.beginRotation()
    try other.beginRotation()
    #expect(other.keys.ring.active == 2)
    var hasMore = true
    var number = 0
    while hasMore {
      hasMore = try one.rotate()
      try other.put("item/\(number % 300)", "by the other \(number)")
      if number % 2 == 0 { _ = try other.rotate() }
      number += 1
    }
    #expect(try !other.rotate())
    #expect(one.keys.ring.generations.map(\.number) == [2])
    #expect(other.keys.ring.generations.map(\.number) == [2])
    #expect(try other.findings() == [])
    try other.put("last", "one")
    #expect(try one.getText("last") == "one")
    #expect(file.attack(Self.generations) == ["2"])
  }

  @Test func `one engine does not end another rotation than the one it looked over`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 10) }
    var one = try file.unlock()
    var other = try file.unlock()
    try one.beginRotation()
    while one.rotation?.done != RotationProgress.total { _ = try one.rotate() }
    try other.rotateAll()
    try other.beginRotation()
    _ = try one.rotate()
    #expect(one.keys.ring.generations.map(\.number) == [2, 3])
    try one.rotateAll()
    #expect(one.keys.ring.generations.map(\.number) == [3])
    #expect(try one.findings() == [])
  }

  @Test func `a row that is under the old key after all keeps that key`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 30) }
    var vault = try file.unlock()
    try vault.beginRotation()
    // As a writer would leave it that moves a row below the cursor without sealing it again.
    let skipped = Tree.firstTag(ofBucket: 40, depth: 1)
    _ = try vault.writing { vault, draft throws(VaultError) in
      vault.keys.ring.cursor = skipped
      try vault.storeRing(&draft)
    }
    #expect(Int(file.attack("SELECT count(*) FROM item WHERE hex(tag) < 'A0'")[0])! > 0)
    try vault.rotateAll()
    #expect(file.attack(Self.generations) == ["2"])
    #expect(try vault.findings() == [])
  }

  @Test func `a damaged item stops a rotation, and both keys stay`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 20) }
    try file.fill { vault in try vault.beginRotation() }
    file.attack("UPDATE item SET meta = zeroblob(328) WHERE tag = (SELECT max(tag) FROM item)")
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.item)) { try vault.rotateAll() }
    #expect(throws: VaultError.damaged(.item)) { try vault.rotateAll() }
    #expect(vault.keys.ring.generations.count == 2)
    #expect(try vault.findings().count == 1)
    try vault.put("another", "value")
    #expect(try vault.getText("another") == "value")
  }

  @Test func `a verification that began before the end of a rotation finds nothing`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 30) }
    var vault = try file.unlock()
    try vault.beginRotation()
    var verification = try vault.beginVerify()
    try vault.rotateAll()
    while !(try verification.step(in: vault).isFinished) {}
    #expect(verification.progress.findingCount == 0)
    _ = consume verification
    // The verification was in the way of clearing the journal.
    let (mustTruncate, _) = (vault.mustTruncate, try vault.flushSeen())
    #expect(mustTruncate)
    let isDone = !vault.mustTruncate
    #expect(isDone)
  }

  @Test func `a busy vault makes a rotation wait, and nothing is lost of it`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.store(items: 100) }
    var vault = try file.unlock()
    try vault.beginRotation()
    #expect(try vault.rotate())
    let blocker = try Blocker(file)
    #expect(throws: VaultError.busy) { _ = try vault.rotate() }
    blocker.release()
    try vault.rotateAll()
    #expect(try vault.findings() == [])
  }

  @Test func `an item with a long history of long values is sealed again in parts`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<11 { try vault.put("long", pattern(60_000, seed: number)) }
    try vault.beginRotation()
    var slices = 0
    while try vault.rotate() { slices += 1 }
    #expect(slices > 3)
    for number in 0..<11 {
      #expect(try vault.get("long", revision: UInt64(number + 1)) == pattern(60_000, seed: number))
    }
    #expect(try vault.findings() == [])
  }

  @Test func `what stands below the cursor is done, with its history, at every moment`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for round in 0..<4 {
      for number in 0..<40 { try vault.put("item/\(number)", pattern(9_000, seed: round)) }
    }
    try vault.beginRotation()
    while try vault.rotate() {
      let cursor = vault.keys.ring.cursor.hexadecimal
      let left = ["item", "history"].map { table in
        file.attack(
          "SELECT count(*) FROM \(table) WHERE generation = 1 AND lower(hex(tag)) < '\(cursor)'")
      }
      #expect(left == [["0"], ["0"]])
    }
    #expect(try vault.findings() == [])
  }

  @Test func `an empty vault rotates, too, and each rotation makes another generation`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for generation in UInt32(2)...4 {
      try vault.beginRotation()
      try vault.rotateAll()
      #expect(vault.keys.ring.generations.map(\.number) == [generation])
    }
    #expect(try !vault.rotate())
  }

  private static let generations =
    "SELECT DISTINCT generation FROM (SELECT generation FROM item UNION SELECT generation FROM history)"
}

/// A search for every 16-byte window of what should be gone.
struct Scan {
  private var windows: Set<Data> = []

  init(_ content: Data) {
    let bytes = content.startIndex == 0 ? content : Data(content)
    windows.reserveCapacity(bytes.count)
    for start in 0...(max(bytes.count, 16) - 16) { windows.insert(bytes[start..<(start + 16)]) }
  }

  /// How many of the records show in at least one window.
  func finds(_ records: [[UInt8]]) -> Int {
    records.count { record in
      (0...(record.count - 16)).contains { start in
        let window = record[start..<(start + 16)]
        // Zeros with a little beside them stand everywhere.
        return Set(window).count > 8 && windows.contains(Data(window))
      }
    }
  }

  static func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { $0 < 0x40 ? $0 - 0x30 : ($0 | 0x20) - 0x57 }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}

extension UnlockedVault {
  mutating func rotateAll() throws(VaultError) { while try rotate() {} }

  /// Items with and without a history, deleted ones, and a large value.
  fileprivate mutating func store(items: Int) throws(VaultError) {
    for number in 0..<items { try put("item/\(number)", "\(number)") }
    for number in 0..<3 { try put("often", "\(number)") }
    try put("gone", "value")
    try remove("gone")
    try upload("large", pattern(200_000))
    try setAttributes(Array("large".utf8).span, try edits(["key": "value"]))
  }

  /// Every revision there is of every item.
  fileprivate mutating func everything() throws(VaultError) -> [String: [UInt8]] {
    var all: [String: [UInt8]] = [:]
    for name in try names() {
      all[name] = try get(name)
      for revision in try revisions(name) {
        all["\(name) \(revision)"] = try get(name, revision: revision)
      }
    }
    return all
  }
}
