// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `Replaying an older state` {
  private static let rows = ["item", "history", "bucket", "node", "part"]

  /// Every set of tables but all of them, put back as they were before a change.
  @Test(arguments: 1..<31)
  func `of some tables is detected`(subset: Int) throws {
    let file = try TestVault()
    try file.fill { vault in
      for number in 0..<20 { try vault.put("a\(number)", "old") }
    }
    let old = try file.content()
    try file.fill { vault in
      try vault.put("a3", "new")
      try vault.put("a4", "new")
    }
    let twin = try TestVault()
    try twin.restore(old)
    let tables = Self.rows.enumerated().filter { subset >> $0.offset & 1 == 1 }.map(\.element)
    for table in tables {
      file.attack(
        "DELETE FROM \(table)", "INSERT INTO \(table) SELECT * FROM other.\(table)",
        attaching: twin)
    }
    // The old root by itself is older than what was seen.
    guard !tables.contains("part") else {
      #expect(file.refusal() != nil)
      return
    }
    var vault = try file.unlock()
    for name in ["a3", "a4"] {
      let value = text(name, in: &vault)
      #expect(value == nil || value == "new", "\(tables)")
    }
    #expect(try vault.findings() != [], "\(tables)")
  }
}

/// Each check of the tree is the one that detects some attack: with it taken out, the attack goes
/// through.
@Suite struct `With a check taken out` {
  @Test func `of nodes, older rows with an older bucket and older nodes pass`() throws {
    let file = try replayed(tables: ["item", "history", "bucket", "node"])
    try expect(file, "old", without: .node, detected: .damaged(.node))
  }

  @Test func `of buckets, an older row with an older bucket passes`() throws {
    let file = try replayed(tables: ["item", "history", "bucket"])
    try expect(file, "old", without: .bucket, detected: .damaged(.bucket))
  }

  @Test func `of leaves, an older row passes`() throws {
    let file = try replayed(tables: ["item", "history"])
    try expect(file, "old", without: .leaf, detected: .damaged(.item))
  }

  @Test func `of presence, a deleted row is not missed`() throws {
    let file = try replayed(tables: [])
    file.attack("DELETE FROM item")
    try expect(file, nil, without: .presence, detected: .damaged(.item))
  }

  @Test func `of the history, one revision passes for another`() throws {
    let file = try TestVault()
    try file.fill { vault in for number in 1...3 { try vault.put("a", "\(number)") } }
    file.attack(
      "DELETE FROM history WHERE revision = 2", "UPDATE history SET revision = 2")
    var checked = try file.unlock()
    #expect(throws: VaultError.damaged(.history)) { try checked.get("a", revision: 2) }
    // Even so the seal, which binds the revision, does not open.
    var unchecked = try file.unlock(without: .history)
    #expect(throws: VaultError.damaged(.item)) { try unchecked.get("a", revision: 2) }
  }

  @Test func `of the epoch, an older root passes in the middle of a session`() throws {
    try replayInSession(without: [], passes: false)
    try replayInSession(without: .epoch, passes: true)
  }

  private func replayInSession(without skipped: IntegrityChecks, passes: Bool) throws {
    let file = try TestVault()
    try file.fill { try $0.put("a", "old") }
    let twin = try TestVault()
    try twin.restore(try file.content())
    var vault = try file.unlock(without: skipped)
    try vault.put("a", "new")
    for table in ["item", "history", "bucket", "node", "part"] {
      file.attack(
        "DELETE FROM \(table)", "INSERT INTO \(table) SELECT * FROM other.\(table)",
        attaching: twin)
    }
    let value = text("a", in: &vault)
    #expect(value == (passes ? "old" : nil))
  }

  /// A vault whose item "a" went from "old" to "new", with some tables put back.
  private func replayed(tables: [String]) throws -> TestVault {
    let file = try TestVault()
    try file.fill { try $0.put("a", "old") }
    let twin = try TestVault()
    try twin.restore(try file.content())
    try file.fill { try $0.put("a", "new") }
    for table in tables {
      file.attack(
        "DELETE FROM \(table)", "INSERT INTO \(table) SELECT * FROM other.\(table)",
        attaching: twin)
    }
    return file
  }

  private func expect(
    _ file: TestVault, _ value: String?, without skipped: IntegrityChecks, detected: VaultError
  ) throws {
    var checked = try file.unlock()
    #expect(caught { _ = try checked.get("a") } == detected)
    var unchecked = try file.unlock(without: skipped)
    if let value {
      #expect(try unchecked.getText("a") == value)
    } else {
      #expect(throws: VaultError.notFound) { try unchecked.get("a") }
    }
  }
}

/// What an engine makes of a file that is changed under it.
@Suite struct `A vault that is open` {
  /// The engine is one change on from the past that it has in common with the copy.
  @Test(arguments: [1, 2])
  func `refuses the bytes of a copy that went another way`(changes: Int) throws {
    try putOver(changes) { vault in
      for refusal in [caught { _ = try vault.get("a") }, caught { try vault.put("a", "more") }] {
        switch refusal {
        case .forked(let known, let epoch):
          #expect(known.epoch == 3 + TestVault.begun)
          #expect(epoch == UInt64(2 + changes) + TestVault.begun)
        case let other: Issue.record("\(String(describing: other))")
        }
      }
    }
    // The check is what refuses them.
    try putOver(changes, without: .epoch) { vault in
      let value = try vault.getText("a")
      #expect(value == "theirs")
    }
  }

  @Test func `takes the bytes of a copy that went on from the same state`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "ours")
    try vault.truncateWAL()
    let copy = try file.copied()
    try copy.fill { try $0.put("a", "theirs") }
    try file.overwrite(with: copy)
    #expect(try vault.getText("a") == "theirs")
  }

  @Test(arguments: [
    "TABLE planted (a)", "INDEX planted ON item (id)", "VIEW planted AS SELECT 1",
    "TRIGGER planted AFTER INSERT ON item BEGIN DELETE FROM loose; END",
  ])
  func `refuses a later state with a schema that is another`(planted: String) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    var other = try file.unlock()
    file.attack("CREATE \(planted)")
    try other.put("a", "2")
    #expect(caught { _ = try vault.get("a") } == .damaged(.schema))
    #expect(caught { try vault.put("a", "3") } == .damaged(.schema))
    file.attack("DROP \(planted.prefix { $0 != " " }) planted")
    #expect(try vault.getText("a") == "2")
  }

  /// Puts the bytes of a copy that was changed over those of a vault that is open and was changed, too.
  private func putOver(
    _ changes: Int, without skipped: IntegrityChecks = [],
    _ body: (inout UnlockedVault) throws -> Void
  ) throws {
    let file = try TestVault()
    try file.fill { try $0.put("a", "old") }
    let copy = try file.copied()
    try copy.fill { vault in for _ in 0..<changes { try vault.put("a", "theirs") } }
    var vault = try file.unlock(without: skipped)
    try vault.put("a", "ours")
    // What stands in the journal, or in memory, would hide what stands in the file.
    try vault.truncateWAL()
    try file.overwrite(with: copy)
    try body(&vault)
  }
}

extension TestVault {
  /// A copy of the file on another machine, where no state of it is known.
  fileprivate func copied() throws -> TestVault {
    let copy = try TestVault(creating: false)
    try FileManager.default.createDirectory(
      atPath: copy.directory + "/vault", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }

  /// Puts another file's bytes into this one, which stays the same file.
  fileprivate func overwrite(with copy: TestVault) throws {
    let content = try copy.content()
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    try handle.write(contentsOf: content)
    try handle.truncate(atOffset: UInt64(content.count))
    try handle.close()
  }
}

/// An item's value; nil when it is refused.
private func text(_ name: String, in vault: inout UnlockedVault) -> String? {
  try? vault.getText(name)
}
