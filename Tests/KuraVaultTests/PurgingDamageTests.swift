// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What is damaged can be purged, and the vault is whole after it.
@Suite struct `A purge of what is damaged` {
  let file: TestVault

  init() throws {
    file = try TestVault()
    try file.fill { vault in
      try vault.put("bad", "1")
      try vault.put("bad", "2")
      try vault.put("bad", "3")
      try vault.put("good", "1")
      try vault.put("good", "2")
      try vault.upload("large", pattern(200_000))
      try vault.put("gone", "1")
      let name = Array("gone".utf8)
      try vault.remove(name.span)
    }
  }

  /// Those of two kept revisions.
  private static let bad = "WHERE length(history) = 80"

  private func purge(
    _ name: String, _ scope: PurgeScope, in vault: inout UnlockedVault
  ) throws(VaultError) -> Purge {
    let name = Array(name.utf8)
    var purge = try vault.purge(name.span, scope, by: try vault.owner())
    let first = purge
    while try vault.advance(&purge) {}
    try vault.finishPurge()
    return first
  }

  private func expectWhole(_ vault: inout UnlockedVault) throws {
    try vault.sweepAll()
    #expect(try vault.findings() == [])
    #expect(try vault.get("good") == Array("2".utf8))
    #expect(try vault.get("good", revision: 1) == Array("1".utf8))
    #expect(try vault.get("large") == pattern(200_000))
  }

  @Test(arguments: [
    "UPDATE item SET meta = zeroblob(length(meta)) \(bad)",
    "UPDATE item SET body = zeroblob(length(body)) \(bad)",
    "UPDATE item SET revision = 9 \(bad)",
    "UPDATE item SET kind = 1 \(bad)",
    "UPDATE item SET body = x'' \(bad)",
    "UPDATE item SET history = zeroblob(80) \(bad)",
    "DELETE FROM item \(bad)",
    "DELETE FROM history WHERE item = (SELECT id FROM item \(bad))",
    "UPDATE history SET body = zeroblob(length(body)) WHERE item = (SELECT id FROM item \(bad))",
    "UPDATE history SET meta = x'' WHERE item = (SELECT id FROM item \(bad)) AND revision = 2",
  ])
  func `takes the item, and leaves the vault whole`(statement: String) throws {
    file.attack(statement)
    var vault = try file.unlock()
    #expect(try vault.findings() != [])
    let purge = try purge("bad", .item, in: &vault)
    #expect(purge.damagedCount > 0)
    #expect(purge.damagedCount <= purge.removedCount)
    #expect(throws: VaultError.notFound) { _ = try vault.get("bad") }
    try expectWhole(&vault)
    try vault.put("bad", "anew")
    #expect(vault.summary.itemCount == 3)
    // Of what is too damaged no trace is made.
    #expect((1...1 + TestVault.traces).contains(vault.summary.deletedCount))
    try expectWhole(&vault)
  }

  @Test func `takes a revision, and leaves the others`() throws {
    file.attack(
      "UPDATE history SET body = zeroblob(length(body)) WHERE revision = 2")
    var vault = try file.unlock()
    let purge = try purge("bad", .revision(2), in: &vault)
    #expect(purge.damagedCount == 1)
    #expect(purge.removedCount == 1)
    #expect(try vault.get("bad") == Array("3".utf8))
    #expect(try vault.get("bad", revision: 1) == Array("1".utf8))
    try expectWhole(&vault)
  }

  @Test func `takes all earlier revisions of a deleted item`() throws {
    file.attack("UPDATE history SET meta = zeroblob(length(meta))")
    var vault = try file.unlock()
    for name in ["bad", "gone", "good"] {
      #expect(try purge(name, .history, in: &vault).damagedCount > 0)
    }
    #expect(try vault.findings() == [])
  }

  @Test func `takes the pieces of a large value, and those of no other`() throws {
    try file.fill { try $0.upload("other", pattern(300_000)) }
    let before = try #require(file.attack("SELECT count(*) FROM chunk").first)
    var vault = try file.unlock()
    let tag = try vault.tag(of: Array("other".utf8).span).hexadecimal
    file.attack("UPDATE item SET body = zeroblob(length(body)) WHERE hex(tag) = upper('\(tag)')")
    #expect(throws: VaultError.damaged(.item)) { _ = try vault.get("other") }
    #expect(try purge("other", .item, in: &vault).damagedCount == 1)
    try expectWhole(&vault)
    let after = try #require(file.attack("SELECT count(*) FROM chunk").first)
    #expect(Int(after) == Int(before).map { $0 - 5 })
  }

  @Test(arguments: [
    "UPDATE item SET meta = zeroblob(length(meta)) \(bad)", "DELETE FROM item \(bad)",
  ])
  func `takes the owner's word, protected or not, and changes nothing without`(
    statement: String
  ) throws {
    file.attack(statement)
    var vault = try file.unlock()
    let epoch = vault.summary.epoch
    let name = Array("bad".utf8)
    #expect(throws: VaultError.ownerNeeded) { _ = try vault.purge(name.span, .item, by: nil) }
    #expect(vault.summary.epoch == epoch)
    #expect(try vault.findings() != [])
    #expect(try purge("bad", .item, in: &vault).removedCount == 3)
    try expectWhole(&vault)
  }

  @Test func `leaves another that is damaged, too, what is kept of it`() throws {
    let rows = "SELECT count(*) FROM history WHERE item = \(try item("bad"))"
    file.attack("DELETE FROM item \(Self.bad)")
    file.attack("UPDATE item SET body = zeroblob(length(body)) WHERE id = \(try item("good"))")
    var vault = try file.unlock()
    #expect(try purge("good", .item, in: &vault).removedCount == 2)
    #expect(file.attack(rows) == ["2"])
    #expect(try purge("bad", .item, in: &vault).removedCount == 3)
    #expect(file.attack(rows) == ["0"])
  }

  /// The id of an item's row, as SQL has it; those of the other items have no history of that length.
  private func item(_ name: String) throws -> String {
    let length = name == "bad" ? 80 : 40
    let ids = file.attack(
      "SELECT quote(id) FROM item WHERE kind = 0 AND length(history) = \(length)")
    return try #require(ids.first)
  }

  @Test func `is refused where the tree is damaged, and changes nothing`() throws {
    file.attack("UPDATE bucket SET leaves = zeroblob(length(leaves))")
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.bucket)) { _ = try purge("bad", .item, in: &vault) }
    #expect(file.attack("SELECT count(*) FROM item") == ["4"])
  }
}
