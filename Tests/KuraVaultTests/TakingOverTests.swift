// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A vault that is taken over` {
  @Test func `keeps everything, and a copy of what it was stands beside it`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("a", "2")
    try vault.upload("long", pattern(70_000))
    var edits = AttributeEdits()
    try edits.set(Array("k".utf8).span, to: Array("v".utf8).span)
    try vault.setAttributes(Array("a".utf8).span, edits)
    try vault.put("gone", "x")
    try vault.remove(Array("gone".utf8).span)
    vault.fold()
    let before = try file.content()
    vault = try file.unlock()
    let copy = try #require(try vault.takeOver())
    #expect(copy == file.path + ".format-1")
    #expect(vault.format == .second)
    #expect(try vault.findings() == [])
    #expect(try vault.getText("a") == "2")
    #expect(try vault.get("a", revision: 1) == Array("1".utf8))
    #expect(try vault.revisions("a") == [1, 2])
    #expect(try vault.get("long") == pattern(70_000))
    #expect(try vault.attributes(of: "a") == ["k": "v"])
    #expect(try vault.takeOver() == nil)
    vault.fold()
    #expect(try Data(contentsOf: URL(filePath: copy)) == before)
    vault = try file.unlock()
    #expect(vault.format == .second)
    try vault.put("a", "3")
    #expect(try vault.revisions("a") == [1, 2, 3])
    #expect(try vault.getText("a") == "3")
    #expect(try vault.findings() == [])
  }

  private func taken() throws -> TestVault {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.fill { vault in
      try vault.put("a", "1")
      _ = try vault.takeOver()
    }
    return file
  }

  @Test func `takes changes of settings and keys without another unlock`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    var vault = try file.unlock()
    try vault.put("a", "1")
    _ = try vault.takeOver()
    try vault.setPolicy(.historyDepth, to: 20, by: nil)
    try vault.beginRotation()
    while try vault.rotate() {}
    try vault.put("a", "2")
    #expect(try vault.findings() == [])
    vault.fold()
    vault = try file.unlock()
    #expect(vault.policy[.historyDepth] == 20)
    #expect(try vault.getText("a") == "2")
    #expect(try vault.findings() == [])
  }

  @Test func `is followed by an engine that has it unlocked, or open`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    var other = try file.unlock()
    var open = try file.open()
    var vault = try file.unlock()
    try vault.put("a", "1")
    _ = try vault.takeOver()
    #expect(try other.getText("a") == "1")
    try other.put("a", "2")
    #expect(other.format == .second)
    #expect(try vault.getText("a") == "2")
    let key = try open.attempt().open(.passcode, secret: secret(TestVault.passcode))
    var late = try open.unlock(with: key)
    #expect(try late.getText("a") == "2")
    #expect(try vault.findings() == [])
  }

  @Test func `counts its copies, and is left alone when there are nine`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    for number in 1...9 {
      let name = file.path + ".format-1" + (number == 1 ? "" : ".\(number)")
      try Data("x".utf8).write(to: URL(filePath: name))
    }
    var vault = try file.unlock()
    #expect(throws: VaultError.pathTaken) { try vault.takeOver() }
    #expect(vault.format == .first)
    try FileManager.default.removeItem(atPath: file.path + ".format-1.4")
    #expect(try vault.takeOver() == file.path + ".format-1.4")
    #expect(try vault.findings() == [])
  }

  @Test func `names the changes of a copy on another machine anew`() throws {
    let file = try taken()
    var vault = try file.unlock()
    let first = try #require(vault.trust.root.copy?.device)
    try vault.put("a", "2")
    #expect(vault.trust.root.copy?.device == first)
    vault.fold()
    // What this machine knows of the file is gone.
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    vault = try file.unlock()
    try vault.put("a", "3")
    let second = try #require(vault.trust.root.copy?.device)
    #expect(second != first)
    try vault.put("a", "4")
    #expect(vault.trust.root.copy == CopyState(device: second, counter: 2))
    #expect(try vault.findings() == [])
  }

  @Test(arguments: [false, true])
  func `seals attributes with the value, and keeps them through everything`(
    isProtected: Bool
  ) throws {
    let file = try taken()
    var vault = try file.unlock()
    if isProtected { _ = try vault.protect(Array("a".utf8).span) }
    try vault.setSecret("pin", "4711", of: "a")
    try vault.setSecret("hint", "blue", of: "a")
    try vault.setSecret("pin", "0815", of: "a")
    #expect(try vault.secretKeys(of: "a") == ["hint", "pin"])
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.secretText("pin", of: "a", with: key) == "0815")
    try vault.put("a", "2")
    #expect(try vault.secretText("pin", of: "a", with: key) == "0815")
    let owner: OwnerProof? = try vault.owner()
    _ = try vault.move(Array("a".utf8).span, to: Array("b".utf8).span, by: owner)
    try vault.beginRotation()
    while try vault.rotate() {}
    #expect(try vault.secretText("pin", of: "b", with: key) == "0815")
    try vault.remove("b")
    #expect(try vault.restore(Array("b".utf8).span) > 0)
    #expect(try vault.secretText("pin", of: "b", with: key) == "0815")
    #expect(try vault.get("b", with: key) == Array("2".utf8))
    // Public again, it is secret no more.
    var edits = AttributeEdits()
    try edits.set(Array("hint".utf8).span, to: Array("red".utf8).span)
    try vault.setAttributes(Array("b".utf8).span, edits)
    #expect(try vault.secretKeys(of: "b") == ["pin"])
    #expect(try vault.attributes(of: "b") == ["hint": "red"])
    #expect(try vault.findings() == [])
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.secretText("pin", of: "b", with: key) == "0815")
  }

  @Test(arguments: [false, true])
  func `has them open by what opens the value`(wasProtected: Bool) throws {
    let file = try taken()
    var vault = try file.unlock()
    if wasProtected { _ = try vault.protect(Array("a".utf8).span) }
    try vault.setSecret("pin", "0815", of: "a")
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    if wasProtected {
      #expect(throws: VaultError.protected) { _ = try vault.secretText("pin", of: "a", with: nil) }
      _ = try vault.unprotect(Array("a".utf8).span, by: try vault.owner())
      #expect(try vault.secretText("pin", of: "a", with: nil) == "0815")
    } else {
      #expect(try vault.secretText("pin", of: "a", with: nil) == "0815")
      _ = try vault.protect(Array("a".utf8).span)
      #expect(throws: VaultError.protected) { _ = try vault.secretText("pin", of: "a", with: nil) }
      #expect(try vault.secretText("pin", of: "a", with: key) == "0815")
    }
    var edits = AttributeEdits()
    try edits.delete(Array("pin".utf8).span)
    try vault.setAttributes(Array("a".utf8).span, edits)
    #expect(try vault.secretKeys(of: "a") == [])
    #expect(throws: VaultError.notFound) { _ = try vault.secretText("pin", of: "a", with: key) }
    #expect(try vault.findings() == [])
  }

  @Test func `without it there is no place for a secret attribute`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    var vault = try file.unlock()
    try vault.put("a", "1")
    #expect(throws: VaultError.takesNewFormat) { try vault.setSecret("pin", "1", of: "a") }
    #expect(try vault.revisions("a") == [])
  }
}

extension UnlockedVault {
  mutating func setSecret(
    _ key: String, _ value: String, of name: String
  ) throws(VaultError) {
    var edits = AttributeEdits()
    try edits.set(secret: Array(key.utf8).span, to: Array(value.utf8).span)
    try setAttributes(Array(name.utf8).span, edits)
  }

  mutating func secretText(
    _ key: String, of name: String, with half: borrowing ProtectedKey?
  ) throws(VaultError) -> String {
    let value = try secretAttribute(Array(key.utf8).span, of: Array(name.utf8).span, with: half)
    return String(decoding: bytes(of: value.bytes), as: UTF8.self)
  }

  fileprivate mutating func secretKeys(of name: String) throws(VaultError) -> [String] {
    let item = try item(Array(name.utf8).span)
    var keys: [String] = []
    var cursor = item.view.secretKeys
    while cursor.advance() { keys.append(String(decoding: bytes(of: cursor.key), as: UTF8.self)) }
    return keys
  }
}
