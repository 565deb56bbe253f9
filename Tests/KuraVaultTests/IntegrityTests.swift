// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// A vault with some items, a history and a large value, and its twin under the same passcode.
struct Specimen {
  let file: TestVault
  static let names = (0..<40).map { "item/\($0)" }

  init() throws {
    file = try TestVault()
    try file.fill { vault in
      for name in Specimen.names { try vault.put(name, "value of \(name)") }
      try vault.put("item/0", "second value")
      try vault.put("item/0", "third value")
      try vault.upload("large", pattern(200_000))
      try vault.remove("item/39")
    }
  }

  /// Whether some item, some absence or the verification shows that something is wrong.
  func detection() throws -> (onAccess: Bool, byVerify: Bool) {
    if file.refusal() != nil { return (true, true) }
    var vault = try file.unlock()
    var outcomes = Specimen.names.map { access($0, nil, &vault) }
    outcomes.append(access("large", nil, &vault))
    outcomes.append(access("item/0", 1, &vault))
    outcomes.append(access("item/0", 2, &vault))
    outcomes.append(access("item/39", 1, &vault))
    let found = try vault.findings()
    return (outcomes.contains(.detected), !found.isEmpty)
  }

  private enum Outcome { case asExpected, detected, wrong }

  /// What an access shows; another value than was stored is recorded as an issue.
  private func access(
    _ name: String, _ revision: UInt64?, _ vault: inout UnlockedVault
  ) -> Outcome {
    let outcome = outcome(name, revision, &vault)
    if outcome == .wrong { Issue.record("\(name) is not what was stored") }
    return outcome
  }

  private func outcome(
    _ name: String, _ revision: UInt64?, _ vault: inout UnlockedVault
  ) -> Outcome {
    do throws(VaultError) {
      let value = try vault.get(name, revision: revision)
      return value == expected(name, revision) ? .asExpected : .wrong
    } catch {
      switch error {
      case .damaged: return .detected
      case .notFound: return name == "item/39" && revision == nil ? .asExpected : .wrong
      default: return .wrong
      }
    }
  }

  private func expected(_ name: String, _ revision: UInt64?) -> [UInt8] {
    switch (name, revision) {
    case ("large", _): pattern(200_000)
    case ("item/0", nil): Array("third value".utf8)
    case ("item/0", 2): Array("second value".utf8)
    default: Array("value of \(name)".utf8)
    }
  }
}

@Suite struct `Without a key` {
  @Test func `an untouched vault shows nothing`() throws {
    let (onAccess, byVerify) = try Specimen().detection()
    #expect(!onAccess)
    #expect(!byVerify)
  }

  /// Attacks that change what some item or absence shows.
  @Test(arguments: [
    // Deleted, one or all.
    "DELETE FROM item WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "DELETE FROM item",
    "DELETE FROM history WHERE revision = 1",
    "DELETE FROM chunk WHERE number = 1",
    // Swapped between items: all, body, meta.
    """
    UPDATE item SET (id, revision, meta, body, history) =
    (SELECT id, revision, meta, body, history FROM item i WHERE i.tag > item.tag ORDER BY i.tag)
    WHERE tag = (SELECT tag FROM item LIMIT 1)
    """,
    """
    UPDATE item SET body = (SELECT body FROM item i WHERE i.tag > item.tag ORDER BY i.tag)
    WHERE tag = (SELECT tag FROM item LIMIT 1)
    """,
    """
    UPDATE item SET meta = (SELECT meta FROM item i WHERE i.tag > item.tag ORDER BY i.tag)
    WHERE tag = (SELECT tag FROM item LIMIT 1)
    """,
    // Numbers.
    "UPDATE item SET revision = revision + 1 WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "UPDATE item SET generation = 2",
    "UPDATE item SET class = 1 WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "UPDATE item SET kind = 1 - kind WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "UPDATE item SET kind = 2 WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "UPDATE item SET id = zeroblob(16) WHERE tag = (SELECT tag FROM item LIMIT 1)",
    "UPDATE item SET history = zeroblob(40) WHERE history = x''",
    "UPDATE item SET history = x'' WHERE history <> x''",
    // A revision of the history takes the place of the current one.
    """
    UPDATE item SET (revision, meta, body) =
    (SELECT revision, meta, body FROM history WHERE history.item = item.id)
    WHERE id IN (SELECT item FROM history)
    """,
    "UPDATE history SET revision = 9 WHERE revision = 1",
    "UPDATE history SET body = (SELECT body FROM item LIMIT 1) WHERE revision = 1",
    // The tree.
    "DELETE FROM bucket WHERE number = (SELECT number FROM bucket LIMIT 1)",
    "DELETE FROM node",
    "UPDATE bucket SET leaves = CAST(leaves || leaves AS BLOB)",
    "UPDATE bucket SET leaves = zeroblob(length(leaves))",
    "UPDATE node SET digests = zeroblob(2048)",
    "UPDATE OR REPLACE bucket SET number = 63 - number",
    // What stands in front.
    "DELETE FROM part WHERE id = 1",
    "DELETE FROM part WHERE id = 2",
    "UPDATE part SET data = zeroblob(296) WHERE id = 2",
    "UPDATE part SET data = (SELECT data FROM part WHERE id = 1) WHERE id = 2",
  ])
  func `tampering is detected on access and by verification`(statement: String) throws {
    let specimen = try Specimen()
    specimen.file.attack(statement)
    let (onAccess, byVerify) = try specimen.detection()
    #expect(onAccess)
    #expect(byVerify)
  }

  /// What no item refers to changes nothing that is shown, and is found by verification.
  @Test(arguments: [
    """
    INSERT INTO item SELECT zeroblob(16), id, revision, generation, class, kind, history, meta, body
    FROM item LIMIT 1
    """,
    """
    INSERT INTO history SELECT item, 77, tag, generation, class, kind, meta, body
    FROM history LIMIT 1
    """,
    """
    INSERT INTO history SELECT zeroblob(16), 1, tag, generation, class, kind, meta, body
    FROM history LIMIT 1
    """,
    "INSERT INTO chunk SELECT zeroblob(16), number, data FROM chunk",
    "INSERT INTO chunk SELECT value, 99, data FROM chunk WHERE number = 0",
    "INSERT INTO loose SELECT DISTINCT value FROM chunk",
    "INSERT INTO bucket VALUES (64, zeroblob(48))",
    "INSERT INTO bucket VALUES (-1, zeroblob(48))",
    "INSERT INTO node VALUES (1, zeroblob(2048))",
    "INSERT INTO node VALUES (4294967296, zeroblob(2048))",
  ])
  func `what is planted is found by verification`(statement: String) throws {
    let specimen = try Specimen()
    specimen.file.attack(statement)
    let (onAccess, byVerify) = try specimen.detection()
    #expect(!onAccess)
    #expect(byVerify)
  }

  @Test(arguments: [
    "UPDATE item SET body = (SELECT body FROM other.item o LIMIT 1)",
    "REPLACE INTO item SELECT * FROM other.item",
    "REPLACE INTO bucket SELECT * FROM other.bucket",
    "REPLACE INTO node SELECT * FROM other.node",
    "REPLACE INTO part SELECT * FROM other.part WHERE id = 1",
    "REPLACE INTO part SELECT * FROM other.part WHERE id = 2",
    "REPLACE INTO part SELECT * FROM other.part",
    "REPLACE INTO slot SELECT * FROM other.slot",
  ])
  func `nothing of a twin can be spliced in`(statement: String) throws {
    let (specimen, twin) = (try Specimen(), try Specimen())
    specimen.file.attack(statement, attaching: twin.file)
    let (_, byVerify) = try specimen.detection()
    #expect(byVerify)
  }

  @Test func `deleting an item with its leaf is detected`() throws {
    let specimen = try Specimen()
    let file = specimen.file
    let tag = file.attack("SELECT hex(tag) FROM item WHERE kind = 0 AND history = x'' LIMIT 1")[0]
    file.attack("DELETE FROM item WHERE hex(tag) = '\(tag)'")
    // Cuts the 48 bytes of its leaf out of its bucket.
    file.attack(
      """
      UPDATE bucket SET leaves = CAST(
      substr(leaves, 1, instr(leaves, x'\(tag)') - 1)
      || substr(leaves, instr(leaves, x'\(tag)') + 48) AS BLOB)
      WHERE instr(leaves, x'\(tag)') > 0 AND length(leaves) > 48
      """)
    file.attack("DELETE FROM bucket WHERE instr(leaves, x'\(tag)') > 0")
    let (onAccess, byVerify) = try specimen.detection()
    #expect(onAccess)
    #expect(byVerify)
  }
}
