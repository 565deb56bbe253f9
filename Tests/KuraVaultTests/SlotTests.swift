// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Changing the passcode` {
  @Test func `makes the old one wrong`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    try file.fill { try $0.put("a", "1") }
    var vault = try file.unlock()
    try change(&vault, file, to: "battery staple")
    #expect(try vault.getText("a") == "1")
    #expect(vault.slots.map(\.number) == [0, 1])
    vault.lock().close()
    #expect(file.refusal() == .wrongPasscode)
    #expect(file.refusal("battery staple") == nil)
    #expect(file.refusal(recovery(file), .recoveryKey) == nil)
    var again = try file.unlock("battery staple")
    #expect(try again.getText("a") == "1")
    #expect(try again.findings() == [])
  }

  @Test func `leaves no byte of the old slot in any file`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let old = vault.trust.slots[0]
    for number in 0..<50 { try vault.put("a\(number)", pattern(500)) }
    try change(&vault, file, to: "battery staple")
    #expect(vault.mustTruncate == false)
    for name in file.files {
      let content = try file.content(of: name)
      for part in [old.key, old.protected, Array(old.header[16...])] {
        for start in stride(from: 0, to: part.count - 15, by: 16) {
          let window = Data(part[start..<(start + 16)])
          #expect(content.firstRange(of: window) == nil, "\(name), byte \(start)")
        }
      }
      // The scanner finds what is there.
      if name == "test.kura" {
        #expect(content.firstRange(of: Data(vault.trust.slots[0].key)) != nil)
      }
    }
  }

  @Test func `takes the recovery key in place of the passcode`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock(recovery(file), .recoveryKey)
    let fresh = try file.key(recovery(file), .recoveryKey)
    try vault.changeSlots(authorizedBy: fresh, passcode: slot("battery staple"), recovery: nil)
    #expect(file.refusal() == .wrongPasscode)
    #expect(file.refusal("battery staple") == nil)
    #expect(file.refusal(recovery(file), .recoveryKey) == nil)
  }

  @Test func `can make a new recovery key`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let text = try changeRecoveryKey(&vault, file)
    #expect(file.refusal(recovery(file), .recoveryKey) == .wrongPasscode)
    #expect(file.refusal(text, .recoveryKey) == nil)
    #expect(file.refusal() == nil)
  }

  @Test func `can add the recovery key that was missing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let text = try changeRecoveryKey(&vault, file, passcode: "x")
    #expect(vault.slots.map(\.kind) == [.passcode, .recoveryKey])
    #expect(vault.summary.weaknesses == [.weakKDF])
    #expect(file.refusal("x") == nil)
    #expect(file.refusal(text, .recoveryKey) == nil)
  }

  @Test func `carries the protected half along`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let before = half(try file.key(), vault.id)
    #expect(before.count == 32)
    try change(&vault, file, to: "x")
    #expect(half(try file.key("x"), vault.id) == before)
    #expect(half(try file.key(recovery(file), .recoveryKey), vault.id) == before)
  }

  @Test func `with a stale credential is refused`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let stale = try file.key()
    try change(&vault, file, to: "x")
    #expect(throws: VaultError.credentialStale) {
      try vault.changeSlots(authorizedBy: stale, passcode: slot("y"), recovery: nil)
    }
    let other = try TestVault()
    let foreign = try other.key()
    #expect(throws: VaultError.self) {
      try vault.changeSlots(authorizedBy: foreign, passcode: slot("y"), recovery: nil)
    }
    #expect(file.refusal("x") == nil)
  }

  @Test func `is weak only when asked for`() throws {
    #expect(throws: VaultError.kdfTooWeak) {
      _ = try PreparedSlot.passcode(secret("x"), kdf: TestVault.kdf)
    }
  }

  @Test func `while somebody reads clears the journal later`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let old = vault.trust.slots[0].key
    do {
      var reader = try file.unlock()
      let verification = try reader.beginVerify()
      try change(&vault, file, to: "x")
      #expect(vault.needsFlush == true)
      _ = consume verification
    }
    try vault.flushSeen()
    #expect(vault.needsFlush == false)
    for name in file.files {
      #expect(try file.content(of: name).firstRange(of: Data(old)) == nil, "\(name)")
    }
  }

  @Test func `in another engine is seen by this one`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    var second = try file.unlock()
    try change(&first, file, to: "x")
    try second.put("a", "1")
    #expect(second.trust.slots == first.trust.slots)
    #expect(try first.getText("a") == "1")
  }

  private func half(_ key: consuming VaultKey, _ vault: VaultID) -> [UInt8] {
    do {
      let half = try key.protectedHalf(vault: vault)
      return bytes(of: half.bytes)
    } catch { return [] }
  }

  private func changeRecoveryKey(
    _ vault: inout UnlockedVault, _ file: TestVault, passcode: String? = nil
  ) throws(VaultError) -> String {
    let fresh = try file.key()
    let recovery: PreparedSlot? = try PreparedSlot.recoveryKey()
    let text = recoveryText(recovery)
    let lock = try passcode.map { text throws(VaultError) in try slot(text) }
    try vault.changeSlots(authorizedBy: fresh, passcode: lock, recovery: recovery)
    return text
  }

  private func recoveryText(_ slot: borrowing PreparedSlot?) -> String {
    switch slot {
    case .some(let slot): text(of: slot.recoveryKeyText)
    case .none: ""
    }
  }

  private func change(
    _ vault: inout UnlockedVault, _ file: TestVault, to text: String
  ) throws(VaultError) {
    let fresh = try file.key()
    try vault.changeSlots(authorizedBy: fresh, passcode: slot(text), recovery: nil)
  }

  private func slot(_ text: String) throws(VaultError) -> PreparedSlot {
    try PreparedSlot.passcode(secret(text), kdf: TestVault.kdf, allowsWeak: true)
  }

  private func recovery(_ file: TestVault) -> String {
    String(decoding: file.recoveryKey, as: UTF8.self)
  }
}

@Suite struct `A slot` {
  @Test(arguments: [
    // Reverted, removed, doubled, changed.
    "UPDATE slot SET key = (SELECT key FROM slot WHERE number = 1) WHERE number = 0",
    "DELETE FROM slot WHERE number = 1",
    "INSERT INTO slot SELECT 5, header, key, protected FROM slot WHERE number = 0",
    "UPDATE slot SET protected = zeroblob(104) WHERE number = 1",
    "UPDATE slot SET protected = x'' WHERE number = 0",
    "UPDATE slot SET number = 7 WHERE number = 1",
  ])
  func `that was tampered with is detected at unlock`(statement: String) throws {
    let file = try TestVault(wantsRecoveryKey: true)
    file.attack(statement)
    #expect([.damaged(.header), .damaged(.slot), .wrongPasscode].contains(file.refusal()))
  }

  @Test func `that is put back is detected at unlock`() throws {
    let file = try TestVault()
    file.attack("CREATE TEMP TABLE t (a)")
    let old = file.attack("SELECT hex(header) || hex(key) || hex(protected) FROM slot")[0]
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.changeSlots(
      authorizedBy: fresh,
      passcode: PreparedSlot.passcode(secret("x"), kdf: TestVault.kdf, allowsWeak: true),
      recovery: nil)
    vault.lock().close()
    let header = old.prefix(96)
    let key = old.dropFirst(96).prefix(656)
    let protected = old.dropFirst(752)
    file.attack(
      "UPDATE slot SET header = x'\(header)', key = x'\(key)', protected = x'\(protected)'")
    #expect(file.refusal() == .damaged(.header))
    // The check is what detects it.
    #expect(file.refusal(without: .header) == nil)
  }
}
