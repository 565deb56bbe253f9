// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `Verification` {
  private static let oneItem = "tag = (SELECT tag FROM item LIMIT 1)"

  @Test(arguments: [
    ("UPDATE item SET body = zeroblob(328)", "item: a/name"),
    ("UPDATE item SET meta = zeroblob(328)", "item: tag TAG"),
    ("DELETE FROM item", "missingItem: tag TAG"),
    ("UPDATE history SET body = zeroblob(328) WHERE revision = 1", "history: a/name"),
    ("DELETE FROM history WHERE revision = 1", "history: a/name"),
    ("UPDATE bucket SET leaves = zeroblob(48)", "bucket: bucket BUCKET"),
    ("DELETE FROM bucket", "bucket: bucket BUCKET"),
    ("UPDATE bucket SET leaves = zeroblob(48)", "unprovenItem: a/name"),
    ("DELETE FROM node", "node: node 0/0"),
    ("DELETE FROM node", "unprovenItem: a/name"),
    ("INSERT INTO bucket VALUES (64, zeroblob(48))", "extraTree: bucket 64"),
    ("INSERT INTO node VALUES (7, zeroblob(2048))", "extraTree: node 0/7"),
    ("INSERT INTO part VALUES (9, x'00')", "header: part 9"),
    ("INSERT INTO loose VALUES (x'00')", "loose: a value id of a wrong length"),
    (
      "INSERT INTO item SELECT x'00', id, 1, 1, 0, 0, x'', meta, body FROM item",
      "row: a row in the table of items"
    ),
    (
      "INSERT INTO item SELECT zeroblob(16), id, 1, 1, 0, 0, x'', meta, body FROM item",
      "extraItem: tag 00000000000000000000000000000000"
    ),
    (
      "INSERT INTO history SELECT item, 9, tag, 1, 0, 0, meta, body FROM history LIMIT 1",
      "extraHistory: revision 9 of item ID"
    ),
    (
      "INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(73))",
      "extraChunk: value 00000000000000000000000000000000"
    ),
    (
      "UPDATE slot SET protected = zeroblob(104) WHERE number = 0",
      "header: header, key ring and slots"
    ),
  ])
  func `names what is wrong`(statement: String, expected: String) throws {
    let file = try TestVault()
    try file.fill { vault in for number in 1...3 { try vault.put("a/name", "\(number)") } }
    let tag = file.attack("SELECT lower(hex(tag)) FROM item")[0]
    let id = file.attack("SELECT lower(hex(id)) FROM item")[0]
    let bucket = file.attack("SELECT number FROM bucket")[0]
    let finding = expected.replacingOccurrences(of: "TAG", with: tag)
      .replacingOccurrences(of: "ID", with: id).replacingOccurrences(of: "BUCKET", with: bucket)
    // The change comes after the unlock, which would refuse some of them.
    var vault = try file.unlock()
    file.attack(statement)
    #expect(try vault.findings().contains(finding))
  }

  @Test func `gathers the history of many items some at a time`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<500 { try vault.put("a\(number)", "") }
    try vault.put("a0", "again")
    file.attack("INSERT INTO history SELECT item, 9, tag, 1, 0, 0, meta, body FROM history LIMIT 1")
    var check = try vault.beginVerify()
    var pauses = 0
    while try !check.step(in: vault).isFinished { if check.phase == .knownHistory { pauses += 1 } }
    #expect(pauses > 0)
    #expect(check.progress.findingCount == 1)
  }

  @Test func `looks at one state while others write`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<3_000 { try vault.put("a\(number)", "") }
    try vault.upload("large", pattern(3_000_000))
    var verification = try vault.beginVerify()
    var steps = 0
    while try !verification.step(in: vault).isFinished {
      steps += 1
      try vault.put("a\(steps)", "changed")
      try vault.put("new\(steps)", "")
      try vault.remove("a\(steps + 1_000)")
    }
    #expect(steps > 5)
    #expect(verification.progress.findingCount == 0)
    #expect(verification.progress.done == verification.progress.total)
  }

  @Test func `tells how far it is`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<1_000 { try vault.put("a\(number)", "") }
    var verification = try vault.beginVerify()
    var last = verification.progress
    #expect(last == VerifyProgress(done: 0, total: 1_000, findingCount: 0, isFinished: false))
    while !last.isFinished {
      let next = try verification.step(in: vault)
      #expect(next.done >= last.done)
      #expect(next.done <= next.total)
      last = next
    }
    #expect(last.done == 1_000)
  }

  @Test func `looks once at a value that revisions share`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(200_000))
    let name = Array("a".utf8)
    try vault.setAttributes(name.span, edits(["k": "v"]))
    try vault.upload("a", pattern(100_000))
    var verification = try vault.beginVerify()
    while try !verification.step(in: vault).isFinished {}
    // One item, 4 chunks and 2 chunks.
    #expect(verification.progress.done == 7)
    file.attack("UPDATE chunk SET data = zeroblob(65608) WHERE number = 2")
    #expect(try vault.findings() == ["chunk: a"])
  }
}

@Suite struct `The list of loose values` {
  @Test func `is not believed against an item`() throws {
    let file = try TestVault()
    try file.fill { vault in
      try vault.upload("a", pattern(200_000))
      try vault.upload("a", pattern(300_000))
      for number in 0..<500 { try vault.put("b\(number)", "") }
    }
    file.attack(
      "INSERT INTO loose SELECT DISTINCT value FROM chunk",
      "INSERT INTO loose VALUES (zeroblob(16))",
      "INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(73))")
    var vault = try file.unlock()
    #expect(try vault.findings().count == 2)
    try vault.sweepAll()
    #expect(try vault.get("a") == pattern(300_000))
    #expect(try vault.get("a", revision: 1) == pattern(200_000))
    #expect(file.attack("SELECT count(*) FROM loose", "SELECT count(*) FROM chunk") == ["2", "9"])
  }

  @Test func `is left alone where items cannot be read`() throws {
    let file = try TestVault()
    try file.fill { vault in
      try vault.upload("a", pattern(200_000))
      try vault.put("b", "")
    }
    file.attack(
      "INSERT INTO loose SELECT DISTINCT value FROM chunk",
      "DELETE FROM item WHERE tag = (SELECT max(tag) FROM item)")
    var vault = try file.unlock()
    _ = try vault.sweep()
    #expect(throws: VaultError.damaged(.item)) { _ = try vault.sweep() }
    #expect(try vault.sweep() == false)
    #expect(file.attack("SELECT count(*) FROM chunk") == ["4"])
  }
}
