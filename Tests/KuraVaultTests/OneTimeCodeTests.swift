// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `One-time codes` {
  private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let counting = "otpauth://hotp/a?secret=\(secret)&counter=0"

  @Test func `of a counter come each once, and survive a lock`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.putOTP("bank", Self.counting) }
    for expected in ["755224", "287082", "359152"] {
      var vault = try file.unlock()
      #expect(try vault.code("bank") == expected)
      vault.lock().close()
    }
    var vault = try file.unlock()
    #expect(try vault.getText("bank") == Self.counting.replacing("counter=0", with: "counter=3"))
    #expect(try vault.item("bank").revision == 4)
    #expect(try vault.findings() == [])
  }

  @Test func `push nothing out of the history`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("bank", "an old password")
    try vault.putOTP("bank", Self.counting, condition: .replace)
    for _ in 0..<15 { _ = try vault.code("bank") }
    #expect(try vault.revisions("bank") == [1])
    #expect(try vault.getText("bank", revision: 1) == "an old password")
    #expect(try vault.findings() == [])
  }

  @Test func `of a time stay the same within a step, and change nothing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.putOTP("site", "otpauth://totp/a?secret=\(Self.secret)&period=86400")
    let epoch = vault.summary.epoch
    let first = try vault.code("site")
    #expect(try vault.code("site") == first)
    #expect(vault.summary.epoch == epoch)
    #expect(try vault.oneTimeCode(Array("site".utf8).span).left <= 86_400_000)
  }

  @Test func `come of an otpauth URI only`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(throws: VaultError.otpInvalid(.scheme)) { try vault.putOTP("x", "hello") }
    #expect(throws: VaultError.notFound) { try vault.code("x") }
    for text in [
      "", "hello", " " + Self.counting, "see \(Self.counting)", "otpauth:/", "a\rotpauth://",
    ] {
      try vault.put("x", text)
      #expect(throws: VaultError.notOTP) { try vault.code("x") }
    }
    try vault.put("x", "hello\notpauth://totp/a?secret=1")
    #expect(throws: VaultError.otpInvalid(.secret)) { try vault.code("x") }
    try vault.putOTP("y", Self.counting)
    try vault.remove("y")
    #expect(throws: VaultError.notFound) { try vault.code("y") }
  }

  @Test(arguments: ["\n", "\r\n"])
  func `come of a line of a text, which stays a text`(end: String) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let other = "otpauth://totp/b?secret=1"
    let text = ["hunter2", "user: ada", Self.counting, other, ""].joined(separator: end)
    try vault.put("site", text)
    for expected in ["755224", "287082"] { #expect(try vault.code("site") == expected) }
    #expect(try vault.getText("site") == text.replacing("counter=0", with: "counter=2"))
    #expect(try !vault.item("site").isOTP)
    #expect(try vault.revisions("site") == [])
    try vault.put("alone", Self.counting.replacing("counter=0", with: "counter=9"))
    #expect(try vault.code("alone") == "520489")
    #expect(try vault.getText("alone") == Self.counting.replacing("counter=0", with: "counter=10"))
    #expect(try vault.findings() == [])
  }

  @Test func `end where their line would make a text too long`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let line = Self.counting.replacing("counter=0", with: "counter=9") + "\n"
    let text = line + String(repeating: "a", count: ItemBody.longestInline - line.utf8.count)
    try vault.put("x", text)
    #expect(throws: VaultError.tooLarge) { try vault.code("x") }
    #expect(try vault.getText("x") == text)
  }

  @Test func `end with their counter`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let last = Self.counting.replacing("counter=0", with: "counter=\(UInt64.max)")
    try vault.putOTP("bank", last)
    #expect(throws: VaultError.otpInvalid(.counter)) { try vault.code("bank") }
    #expect(try vault.getText("bank") == last)
  }

  @Test func `of a protected item take its key, and stay protected`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.putOTP("bank", Self.counting)
    try vault.protect(Array("bank".utf8).span)
    #expect(throws: VaultError.protected) { try vault.code("bank") }
    let fresh = try file.key()
    let key: ProtectedKey? = try vault.protectedKey(from: fresh)
    let name = Array("bank".utf8)
    for expected in ["755224", "287082"] {
      let code = try vault.oneTimeCode(name.span, with: key)
      #expect(text(of: code.text.bytes) == expected)
    }
    #expect(throws: VaultError.protected) { try vault.code("bank") }
    #expect(try vault.item("bank").isProtected)
    #expect(try vault.findings() == [])
  }

  @Test func `go on after their attributes were changed`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.putOTP("bank", Self.counting)
    var edits = AttributeEdits()
    try edits.set(Array("user".utf8).span, to: Array("ada".utf8).span)
    try vault.setAttributes(Array("bank".utf8).span, edits)
    #expect(try vault.code("bank") == "755224")
    #expect(try vault.attributes(of: "bank") == ["user": "ada"])
  }
}

extension UnlockedVault {
  fileprivate mutating func putOTP(
    _ name: String, _ uri: String, condition: PutCondition = .create
  ) throws(VaultError) {
    let (name, uri) = (Array(name.utf8), Array(uri.utf8))
    _ = try put(
      name.span, value: uri.span, attributes: AttributeEdits(), condition: condition, kind: .otp)
  }

  fileprivate mutating func code(_ name: String) throws(VaultError) -> String {
    let name = Array(name.utf8)
    let code = try oneTimeCode(name.span)
    return text(of: code.text.bytes)
  }
}
