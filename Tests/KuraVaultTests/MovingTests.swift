// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `An item that is moved` {
  @Test(arguments: [5, 70_000])
  func `keeps value, revision and history`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(70_000))
    if count > 65_536 {
      try vault.upload("a", pattern(count, seed: 3))
    } else {
      try vault.put("a", pattern(count, seed: 3))
    }
    try vault.setAttributes("a", ["k": "v"])
    #expect(try vault.move("a", "b/c") == MoveResult(revision: 3, isSame: false))
    #expect(throws: VaultError.notFound) { try vault.get("a") }
    #expect(throws: VaultError.notFound) { try vault.revisions("a") }
    #expect(try vault.get("b/c") == pattern(count, seed: 3))
    #expect(try vault.attributes(of: "b/c") == ["k": "v"])
    #expect(try vault.revisions("b/c") == [1, 2])
    #expect(try vault.get("b/c", revision: 1) == pattern(70_000))
    #expect(try vault.names() == ["b/c"])
    #expect(vault.summary.itemCount == 1)
    #expect(try vault.findings() == [])
  }

  @Test func `is proved to be under its new name after an unlock`() throws {
    let file = try TestVault()
    try file.fill { vault in
      for index in 0..<40 { try vault.put("n\(index)", "\(index)") }
      for index in 0..<40 { _ = try vault.move("n\(index)", "m\(index)") }
    }
    var vault = try file.unlock()
    #expect(try vault.names() == (0..<40).map { "m\($0)" }.sorted())
    for index in 0..<40 { #expect(try vault.getText("m\(index)") == "\(index)") }
    #expect(try vault.findings() == [])
  }

  @Test func `stays protected, and takes the owner's proof`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("a", "2")
    _ = try vault.protect(Array("a".utf8).span)
    #expect(throws: VaultError.ownerNeeded) { _ = try vault.move("a", "b") }
    _ = try vault.move("a", "b", by: try vault.owner())
    #expect(try vault.item("b").isProtected)
    #expect(throws: VaultError.protected) { try vault.get("b") }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("b", with: key) == Array("2".utf8))
    #expect(try vault.get("b", revision: 1, with: key) == Array("1".utf8))
    #expect(try vault.findings() == [])
  }

  @Test func `does not take a name that is taken`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "2")
    #expect(throws: VaultError.exists(revision: 1)) { _ = try vault.move("a", "b") }
    #expect(throws: VaultError.notFound) { _ = try vault.move("c", "b") }
    #expect(try vault.getText("a") == "1")
    #expect(try vault.getText("b") == "2")
  }

  @Test func `takes it when that is asked for, and nothing is lost`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "old")
    try vault.put("b", "2")
    _ = try vault.move("a", "b", replacing: true)
    #expect(try vault.getText("b") == "1")
    #expect(try vault.revisions("b") == [])
    #expect(throws: VaultError.notFound) { try vault.get("a") }
    #expect(try vault.revisions("a") == [1, 2])
    #expect(vault.summary.itemCount == 1 && vault.summary.deletedCount == 1)
    #expect(try vault.findings() == [])
    #expect(try vault.restore("a") == 4)
    #expect(try vault.getText("a") == "2")
    #expect(try vault.getText("a", revision: 1) == "old")
    #expect(try vault.findings() == [])
  }

  @Test func `changes places with a deleted one`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "2")
    try vault.remove("b")
    _ = try vault.move("a", "b")
    #expect(try vault.getText("b") == "1")
    #expect(vault.summary.itemCount == 1 && vault.summary.deletedCount == 1)
    _ = try vault.restore("a")
    #expect(try vault.getText("a") == "2")
    #expect(try vault.findings() == [])
  }

  @Test func `must be there, and may have the name already`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("caf\u{E9}", "1")
    let epoch = vault.summary.epoch
    #expect(
      try vault.move("caf\u{E9}", "cafe\u{301}") == MoveResult(revision: 1, isSame: true))
    #expect(vault.summary.epoch == epoch)
    try vault.remove("caf\u{E9}")
    #expect(throws: VaultError.notFound) { _ = try vault.move("caf\u{E9}", "b") }
    #expect(throws: VaultError.notFound) { _ = try vault.move("caf\u{E9}", "caf\u{E9}") }
  }

  @Test func `is sealed under the new key while the keys change`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for index in 0..<30 { try vault.put("n\(index)", "x\(index)") }
    for index in 0..<30 { try vault.put("n\(index)", "\(index)") }
    try vault.beginRotation()
    for index in 0..<30 { _ = try vault.move("n\(index)", "m\(index)") }
    while try vault.rotate() {}
    for index in 0..<30 {
      #expect(try vault.getText("m\(index)") == "\(index)")
      #expect(try vault.getText("m\(index)", revision: 1) == "x\(index)")
    }
    #expect(try vault.findings() == [])
  }
}

extension UnlockedVault {
  fileprivate mutating func move(
    _ name: String, _ new: String, replacing: Bool = false, by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) -> MoveResult {
    let (name, new) = (Array(name.utf8), Array(new.utf8))
    return try move(name.span, to: new.span, replacing: replacing, by: owner)
  }

  fileprivate mutating func setAttributes(
    _ name: String, _ set: [String: String]
  ) throws(VaultError) {
    let name = Array(name.utf8)
    _ = try setAttributes(name.span, try edits(set))
  }

  mutating func restore(_ name: String, _ revision: UInt64? = nil) throws(VaultError) -> UInt64 {
    let name = Array(name.utf8)
    return try restore(name.span, revision: revision)
  }
}

@Suite struct `An item that is touched` {
  @Test(arguments: [5, 70_000])
  func `was modified now, and is as it was otherwise`(count: Int) throws {
    let file = try TestVault()
    try file.fill { vault in
      try vault.put("other", "x")
      try vault.put("a", "first")
      try vault.upload("a", pattern(count))
      try vault.setAttributes("a", ["k": "v"])
      let before = try vault.item("a")
      let other = try vault.item("other").modified
      #expect(try vault.touch(Array("a".utf8).span) == before.revision)
      let after = try vault.item("a")
      #expect(after.modified > before.modified)
      #expect(after.created == before.created)
      #expect(try vault.item("other").modified == other)
    }
    var vault = try file.unlock()
    #expect(try vault.get("a") == pattern(count))
    #expect(try vault.getText("a", revision: 1) == "first")
    #expect(try vault.revisions("a") == [1, 2])
    #expect(try vault.attributes(of: "a") == ["k": "v"])
    #expect(try vault.findings() == [])
  }

  @Test func `stays protected, and is not brought back`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    _ = try vault.protect(Array("a".utf8).span)
    _ = try vault.touch(Array("a".utf8).span)
    #expect(try vault.item("a").isProtected)
    #expect(throws: VaultError.protected) { try vault.get("a") }
    try vault.remove("a")
    for name in ["a", "b"] {
      #expect(throws: VaultError.notFound) { try vault.touch(Array(name.utf8).span) }
    }
    #expect(try vault.findings() == [])
  }

  @Test func `is sealed under the new key while the keys change, and stays what it is`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for index in 0..<30 { try vault.put("n\(index)", "x\(index)") }
    for index in 0..<30 { try vault.put("n\(index)", "\(index)") }
    _ = try vault.protect(Array("n0".utf8).span)
    try vault.upload("long", pattern(70_000))
    _ = try vault.put(
      Array("code".utf8).span,
      value: Array("otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ".utf8).span,
      attributes: AttributeEdits(), condition: .create, kind: .otp)
    try vault.beginRotation()
    for name in (0..<30).map({ "n\($0)" }) + ["long", "code"] {
      try vault.touch(Array(name.utf8).span)
    }
    while try vault.rotate() {}
    #expect(try vault.item("n0").isProtected)
    for index in 1..<30 {
      #expect(try vault.getText("n\(index)") == "\(index)")
      #expect(try vault.getText("n\(index)", revision: 1) == "x\(index)")
    }
    #expect(try vault.get("long") == pattern(70_000))
    #expect(try vault.item("code").isOTP)
    #expect(try vault.findings() == [])
  }

  @Test(arguments: ["meta", "body"]) func `is not made whole where it is damaged`(
    _ column: String
  ) throws {
    let file = try TestVault()
    try file.fill { vault in try vault.put("a", "1") }
    file.attack("UPDATE item SET \(column) = zeroblob(length(\(column)))")
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.item)) { try vault.touch(Array("a".utf8).span) }
    #expect(try vault.findings() != [])
  }
}
