// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A value` {
  @Test(arguments: [0, 1, 100, 255, 4_000, 65_535, 65_536])
  func `comes back as it was stored`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let result = try vault.put("a/b", pattern(count))
    #expect(result == PutResult(revision: 1, previous: 0))
    #expect(try vault.get("a/b") == pattern(count))
    #expect(try vault.item("a/b").size == UInt64(count))
    #expect(try vault.findings() == [])
  }

  @Test func `is there after the vault was locked and unlocked`() throws {
    let file = try TestVault()
    try file.fill { try $0.put("com.example.juice/userIdentifier", "001234.abcdef.0123") }
    #expect(file.files == ["test.kura"])
    var vault = try file.unlock()
    #expect(try vault.getText("com.example.juice/userIdentifier") == "001234.abcdef.0123")
  }

  @Test func `longer than 64 KiB takes an upload`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(throws: VaultError.tooLarge) { try vault.put("a", pattern(65_537)) }
  }

  @Test func `that is not there is not found`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(throws: VaultError.notFound) { try vault.get("a") }
    try vault.put("a", "1")
    #expect(throws: VaultError.notFound) { try vault.get("b") }
    #expect(throws: VaultError.notFound) { _ = try vault.item("b") }
    #expect(throws: VaultError.notFound) { try vault.revisions("b") }
  }

  @Test func `is found by any spelling of its name`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("caf\u{65}\u{301}", "1")
    #expect(try vault.getText("caf\u{E9}") == "1")
    #expect(try vault.names() == ["caf\u{E9}"])
  }

  @Test(arguments: ["", "/a", "a/", "a//b", "a/../b", ".", "a\u{0}b", "a\nb"])
  func `has a name that follows the rules`(name: String) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    do throws(VaultError) {
      try vault.put(name, "1")
      Issue.record("stored")
    } catch {
      if case .nameInvalid = error { return }
      Issue.record("\(error)")
    }
  }
}

@Suite struct `A condition` {
  @Test func `to create is refused where there is a value`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1", .create)
    let epoch = vault.summary.epoch
    #expect(throws: VaultError.exists(revision: 1)) { try vault.put("a", "2", .create) }
    #expect(vault.summary.epoch == epoch)
    #expect(try vault.getText("a") == "1")
  }

  @Test func `to replace counts the revisions`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(try vault.put("a", "1", .replace) == PutResult(revision: 1, previous: 0))
    #expect(try vault.put("a", "2", .replace) == PutResult(revision: 2, previous: 1))
    #expect(try vault.put("a", "3", .replace) == PutResult(revision: 3, previous: 2))
  }

  @Test func `on a revision holds for that one only`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(throws: VaultError.notFound) { try vault.put("a", "1", .revision(1)) }
    try vault.put("a", "1")
    #expect(try vault.put("a", "2", .revision(1)).revision == 2)
    #expect(throws: VaultError.revisionConflict(current: 2)) {
      try vault.put("a", "3", .revision(1))
    }
    #expect(throws: VaultError.revisionConflict(current: 2)) {
      try vault.remove("a", ifRevision: 1)
    }
    #expect(try vault.getText("a") == "2")
  }
}

@Suite struct `Attributes` {
  @Test func `are kept, set and deleted`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", [1], .create, ["user": "eve", "url": "https://example.com"])
    try vault.put("a", [2])
    #expect(try vault.attributes(of: "a") == ["user": "eve", "url": "https://example.com"])
    try vault.put("a", [3], .replace, ["user": "bob"])
    #expect(try vault.attributes(of: "a") == ["user": "bob", "url": "https://example.com"])
    try vault.put("a", [4], .replace, ["x": "y"], replacingAll: true)
    #expect(try vault.attributes(of: "a") == ["x": "y"])
    let revision = try change(&vault, set: ["z": "1"], delete: ["x", "absent"])
    #expect(revision == 5)
    #expect(try vault.attributes(of: "a") == ["z": "1"])
    #expect(try vault.get("a") == [4])
    #expect(try vault.get("a", revision: 3) == [3])
    #expect(try vault.findings() == [])
  }

  @Test func `change only the revision that was meant`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(throws: VaultError.notFound) { try change(&vault, set: ["a": "b"]) }
    try vault.put("a", [1])
    #expect(throws: VaultError.revisionConflict(current: 1)) {
      try change(&vault, set: ["a": "b"], ifRevision: 2)
    }
    try change(&vault, set: ["a": "b"], ifRevision: 1)
  }

  @Test func `that break a rule are refused`() throws {
    #expect(throws: VaultError.attributeInvalid(.keyCharacter)) { _ = try edits(["a=b": "c"]) }
    #expect(throws: VaultError.attributeInvalid(.keyEmpty)) { _ = try edits(["": "c"]) }
  }

  @Test func `keep when the item was made`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", [1])
    let first = try vault.item("a")
    try change(&vault, set: ["k": "v"])
    let second = try vault.item("a")
    #expect(second.created == first.created)
    #expect(second.modified > first.modified)
  }

  @discardableResult
  private func change(
    _ vault: inout UnlockedVault, set: [String: String], delete: [String] = [],
    ifRevision: UInt64? = nil
  ) throws(VaultError) -> UInt64 {
    let name = Array("a".utf8)
    return try vault.setAttributes(
      name.span, edits(set, delete: delete), ifRevision: ifRevision)
  }
}

@Suite struct `Removing` {
  @Test func `leaves what was`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "2")
    try vault.remove("a")
    #expect(throws: VaultError.notFound) { try vault.get("a") }
    #expect(throws: VaultError.notFound) { _ = try vault.item("a") }
    #expect(throws: VaultError.notFound) { try vault.remove("a") }
    #expect(try vault.names() == ["b"])
    #expect(try vault.names(includingDeleted: true) == ["a", "b"])
    #expect(try vault.revisions("a") == [1])
    #expect(try vault.getText("a", revision: 1) == "1")
    #expect(throws: VaultError.revisionNotFound) { try vault.get("a", revision: 2) }
    #expect(vault.summary.itemCount == 1)
    #expect(vault.summary.deletedCount == 1)
    #expect(try vault.findings() == [])
  }

  @Test func `keeps name and attributes, and no value`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", [1], .create, ["k": "v"])
    try vault.remove("a")
    var listing = vault.listing(includingDeleted: true)
    let found = try listing.next(in: &vault)
    switch found {
    case .some(let item):
      #expect(item.isDeleted == true)
      #expect(text(of: item.name) == "a")
      #expect(item.size == 0)
      #expect(item.attributes.count == 1)
    case .none: Issue.record("no item")
    }
  }

  @Test func `makes room for a new item of that name`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", [1], .create, ["k": "v"])
    try vault.remove("a")
    #expect(try vault.put("a", [2], .create) == PutResult(revision: 3, previous: 0))
    #expect(try vault.attributes(of: "a") == [:])
    #expect(try vault.revisions("a") == [1, 2])
    #expect(throws: VaultError.revisionNotFound) { try vault.get("a", revision: 2) }
    #expect(vault.summary.deletedCount == 0)
    #expect(try vault.findings() == [])
  }
}

@Suite struct `History` {
  @Test func `keeps as many revisions as the policy says`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 1...15 { try vault.put("a", "\(number)") }
    #expect(try vault.revisions("a") == Array(5...14))
    #expect(try vault.getText("a", revision: 5) == "5")
    #expect(try vault.getText("a", revision: 15) == "15")
    #expect(throws: VaultError.revisionNotFound) { try vault.get("a", revision: 4) }
    try vault.setPolicy(.historyDepth, to: 2)
    try vault.put("a", "16")
    #expect(try vault.revisions("a") == [14, 15])
    try vault.setPolicy(.historyDepth, to: 0)
    try vault.put("a", "17")
    #expect(try vault.revisions("a") == [])
    #expect(file.attack("SELECT count(*) FROM history") == ["0"])
    #expect(try vault.findings() == [])
  }
}

@Suite struct `A policy` {
  @Test func `is kept in the vault`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(vault.policy[.idleTimeout] == 900_000)
    try vault.setPolicy(.idleTimeout, to: 60_000)
    #expect(vault.policy[.idleTimeout] == 60_000)
    _ = consume vault
    vault = try file.unlock()
    #expect(vault.policy[.idleTimeout] == 60_000)
    #expect(try vault.findings() == [])
  }

  @Test func `out of its range changes nothing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let epoch = vault.summary.epoch
    #expect(throws: VaultError.policyInvalid(.historyDepth)) {
      try vault.setPolicy(.historyDepth, to: 1_001)
    }
    #expect(vault.policy[.historyDepth] == 10)
    #expect(vault.summary.epoch == epoch)
  }

  @Test func `that another engine changed is seen with the next call`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    var second = try file.unlock()
    try first.setPolicy(.idleTimeout, to: 60_000)
    try second.setPolicy(.maxSession, to: 120_000)
    #expect(second.policy[.idleTimeout] == 60_000)
    try first.put("a", "1")
    #expect(first.policy[.maxSession] == 120_000)
    #expect(first.policy[.idleTimeout] == 60_000)
  }
}
