// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Items that one transaction changes` {
  private static func files(_ count: Int, of name: String = "a") -> [String] {
    [name] + (0..<count).map { "\(name)/attachments/\($0)" }
  }

  private static func names(_ pairs: [(String, String)]) throws -> ItemNames {
    var names = try ItemNames()
    for (name, new) in pairs { try names.add(Array(name.utf8).span, to: Array(new.utf8).span) }
    return names
  }

  private static func names(_ list: [String]) throws -> ItemNames {
    try names(list.map { ($0, "") })
  }

  /// A vault with items whose values are their names, and others beside them.
  private func vault(_ file: TestVault, _ items: [String], others: Int = 0) throws -> UnlockedVault
  {
    var vault = try file.unlock()
    for name in items + (0..<others).map({ "other \($0)" }) { try vault.put(name, name) }
    return vault
  }

  private static func epoch(_ vault: borrowing UnlockedVault) -> UInt64 { vault.summary.epoch }

  // Enough of them for the tree to have two levels, and buckets that hold several of them.
  @Test(arguments: [3, 200])
  func `are moved, deleted and brought back together, each time in one step`(count: Int) throws {
    let file = try TestVault()
    let (old, new) = (Self.files(count), Self.files(count, of: "b"))
    var vault = try vault(file, old, others: 40)
    for (name, isProtected) in [(old[1], true), (old[2], false)] {
      if isProtected { _ = try vault.protect(Array(name.utf8).span) }
    }
    var epoch = Self.epoch(vault)
    var pairs = try Self.names(Array(zip(old, new)))
    let owner: OwnerProof? = try vault.owner()
    #expect(try vault.move(&pairs, by: owner) == MoveResult(revision: 1, isSame: false))
    #expect(Self.epoch(vault) == epoch + 1)
    #expect(try vault.names().filter { !$0.hasPrefix("other") } == new.sorted())
    #expect(try vault.getText(new[2]) == old[2])
    #expect(try vault.findings() == [])
    epoch = Self.epoch(vault)
    var gone = try Self.names(new)
    try vault.remove(&gone, ifRevision: 1)
    #expect(Self.epoch(vault) == epoch + 1)
    #expect(try vault.names().filter { !$0.hasPrefix("other") } == [])
    let times = try Set(new.map { try vault.deletionTime(of: $0) })
    #expect(times.count == 1)
    #expect(try vault.findings() == [])
    epoch = Self.epoch(vault)
    #expect(try vault.restore(&gone) == 3)
    #expect(Self.epoch(vault) == epoch + 1)
    #expect(try vault.names().filter { !$0.hasPrefix("other") } == new.sorted())
    #expect(try vault.getText(new[count]) == old[count])
    #expect(try vault.findings() == [])
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.getText(new[2]) == old[2])
    #expect(try vault.findings() == [])
  }

  @Test func `take names that others of them leave`() throws {
    let file = try TestVault()
    var vault = try vault(file, ["a", "b", "c"])
    var pairs = try Self.names([("c", "d"), ("b", "c"), ("a", "b"), ("d", "d")])
    _ = try vault.move(&pairs)
    #expect(try vault.names() == ["b", "c", "d"])
    #expect(try ["b", "c", "d"].map { try vault.getText($0) } == ["a", "b", "c"])
    #expect(try vault.findings() == [])
  }

  @Test func `stay as they were where one of them cannot be changed, which is told`() throws {
    let file = try TestVault()
    let items = Self.files(3)
    var vault = try vault(file, items + ["b/attachments/1"], others: 3)
    _ = try vault.protect(Array(items[3].utf8).span)
    let epoch = Self.epoch(vault)
    var pairs = try Self.names(Array(zip(items, Self.files(3, of: "b"))))
    #expect(throws: VaultError.exists(revision: 1)) { _ = try vault.move(&pairs) }
    #expect(pairs.position == 2)
    #expect(throws: VaultError.ownerNeeded) { _ = try vault.move(&pairs, replacing: true) }
    #expect(pairs.position == 3)
    var gone = try Self.names(items + ["nope"])
    #expect(throws: VaultError.notFound) { try vault.remove(&gone) }
    #expect(gone.position == 4)
    #expect(throws: VaultError.revisionConflict(current: 1)) {
      try vault.remove(&gone, ifRevision: 2)
    }
    #expect(gone.position == 0)
    try vault.remove(items[0])
    var back = try Self.names(Array(items.prefix(2)))
    #expect(throws: VaultError.notDeleted(revision: 1)) { _ = try vault.restore(&back) }
    #expect(back.position == 1)
    // The vault is what it was, here and in the file, and goes on.
    #expect(Self.epoch(vault) == epoch + 1)
    #expect(try vault.names().count == 7)
    #expect(try items.dropFirst().prefix(2).map { try vault.getText($0) } == Array(items[1...2]))
    try vault.put("next", "1")
    #expect(try vault.findings() == [])
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.getText("b/attachments/1") == "b/attachments/1")
    #expect(try vault.findings() == [])
  }
}

extension UnlockedVault {
  fileprivate mutating func deletionTime(of name: String) throws(VaultError) -> UInt64 {
    var time: UInt64 = 0
    _ = try eachRevision(of: Array(name.utf8).span, after: 0, limit: 100) { item in
      if item.isDeleted { time = item.modified }
    }
    return time
  }
}
