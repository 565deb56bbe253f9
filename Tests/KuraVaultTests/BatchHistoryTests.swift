// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A batch of what was kept elsewhere` {
  @Test func `keeps the times, the kinds and the history that it is told`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let uri = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    let past = [
      Given("a", "one", ["user": "ann", "gone": "x"], at: 1_000),
      Given("b", "", at: 5_000, as: .deleted),
      Given("code", uri, at: 6_000, as: .otp),
      Given("a", "two", ["user": "bob"], at: 2_000),
      Given("a", "", at: 3_000, as: .deleted),
      Given("a", "three", at: 4_000),
      Given("gone", "x", at: 7_000),
      Given("gone", "", at: 8_000, as: .deleted),
    ]
    #expect(try vault.store(past, replacing: true).stored == past.count)
    #expect(
      try vault.history(of: "a") == [
        "one value 500 1000 gone=x user=ann", "two value 500 2000 user=bob", " deleted 500 3000 ",
        "three value 500 4000 ",
      ])
    #expect(try vault.history(of: "code") == ["\(uri) otp 500 6000 "])
    #expect(try vault.history(of: "gone") == ["x value 500 7000 ", " deleted 500 8000 "])
    #expect(throws: VaultError.notFound) { try vault.history(of: "b") }
    #expect(try vault.names() == ["a", "code"])
    #expect(vault.summary.deletedCount == 1)
    #expect(try vault.findings() == [])
  }

  @Test func `takes no codes of what makes none`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let result = try vault.store([Given("a", "1"), Given("b", "no URI", at: 1, as: .otp)])
    #expect(result.stored == 1 && result.index == 1)
    guard case .otpInvalid = result.error else {
      Issue.record("\(result)")
      return
    }
    #expect(try vault.names() == ["a"])
  }

  @Test func `replaces what it is told to, and nothing else`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "1")
    var given = Given("a", "2")
    given.manner.isReplacing = true
    let result = try vault.store([given, Given("b", "2")])
    #expect(result.stored == 1 && result.error == .exists(revision: 1))
    #expect(try vault.getText("a") == "2")
    #expect(try vault.getText("b") == "1")
  }

  @Test func `deletes only where that is allowed`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let result = try vault.store([Given("a", "", at: 1, as: .deleted)])
    #expect(result.error == .exists(revision: 1))
    #expect(try vault.names() == ["a"])
  }
}
