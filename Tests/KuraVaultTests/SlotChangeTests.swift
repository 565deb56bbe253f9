// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Slots` {
  @Test func `a second passcode opens the vault beside the first`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    let number = try vault.addSlot(
      passcodeSlot("battery staple", label: "work"), authorizedBy: fresh)
    #expect(number == 2)
    #expect(file.refusal() == nil)
    #expect(file.refusal("battery staple") == nil)
    let reports = try vault.slotReports()
    #expect(reports.map(\.kind) == [.passcode, .recoveryKey, .passcode])
    #expect(reports.map { label($0) } == ["", "", "work"])
    #expect(reports.map(\.availability) == [.here, .here, .here])
    #expect(reports.map(\.holdsProtectedHalf) == [true, true, true])
    #expect(reports.map { $0.note?.isWeakCostMeant } == [true, false, true])
    #expect(try vault.findings() == [])
  }

  @Test func `a removed one opens nothing and leaves no byte in any file`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(passcodeSlot("battery staple", label: "w"), authorizedBy: fresh)
    for number in 0..<50 { try vault.put("a\(number)", pattern(500)) }
    let old = vault.trust.slots[2]
    try vault.removeSlot(2, authorizedBy: fresh)
    #expect(file.refusal("battery staple") == .wrongPasscode)
    #expect(try vault.slotReports().map(\.number) == [0, 1])
    #expect(vault.keys.ring.notes.all.count == 2)
    for name in file.files {
      let content = try file.content(of: name)
      for part in [old.key, old.protected, Array(old.header[16...])] {
        for start in stride(from: 0, to: part.count - 15, by: 16) {
          let window = Data(part[start..<(start + 16)])
          #expect(content.firstRange(of: window) == nil, "\(name), byte \(start)")
        }
      }
      if name == "test.kura" {
        #expect(content.firstRange(of: Data(vault.trust.slots[0].key)) != nil)
      }
    }
  }

  @Test func `the last one that a person can open stays`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(PreparedSlot.keyFile(keyFile(7)), authorizedBy: fresh)
    try vault.addSlot(localSlot("1234"), authorizedBy: fresh)
    let epoch = vault.summary.epoch
    #expect(refusal(removing: 0, from: &vault, fresh) == .lastSlot)
    #expect(refusal(removing: 9, from: &vault, fresh) == .slotNotFound(9))
    #expect(vault.summary.epoch == epoch)
    #expect(vault.keys.ring.notes.all.count == 3)
    try vault.addSlot(passcodeSlot("x"), authorizedBy: fresh)
    try vault.removeSlot(0, authorizedBy: fresh)
    #expect(file.refusal("x") == nil)
  }

  @Test func `there is room for four that take a passcode, and for sixteen`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    for number in 1...3 {
      try vault.addSlot(passcodeSlot("p\(number)"), authorizedBy: fresh)
    }
    let code = try localSlot("1234")
    #expect(refusal(adding: code, to: &vault, fresh) == .slotsFull(limit: 4))
    #expect(devices(file) == ["CACHEDIR.TAG"])
    for number in 4...15 {
      let slot = try PreparedSlot.keyFile(keyFile(UInt8(number)))
      let added = try vault.addSlot(slot, authorizedBy: fresh)
      #expect(added == number)
    }
    let more = try PreparedSlot.keyFile(keyFile(99))
    #expect(refusal(adding: more, to: &vault, fresh) == .slotsFull(limit: 16))
    #expect(file.refusal("p3") == nil)
    #expect(try vault.findings() == [])
  }

  @Test func `a second recovery key must be meant to replace the first`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    let slot = try PreparedSlot.recoveryKey()
    let new = text(of: slot.recoveryKeyText)
    #expect(refusal(adding: slot, to: &vault, fresh) == .recoveryKeyExists)
    let number = try vault.addSlot(slot, authorizedBy: fresh, replacing: true)
    #expect(number == 1)
    let old = String(decoding: file.recoveryKey, as: UTF8.self)
    #expect(file.refusal(old, .recoveryKey) == .wrongPasscode)
    #expect(file.refusal(new, .recoveryKey) == nil)
  }

  @Test func `a key file opens the vault, and authorises nothing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    let naming = try SlotNaming(label: "usb".utf8.span, place: file.path.utf8.span)
    try vault.addSlot(PreparedSlot.keyFile(keyFile(7), naming: naming), authorizedBy: fresh)
    let text = String(decoding: [UInt8](repeating: 7, count: 40), as: UTF8.self)
    var other = try file.unlock(text, .keyFile)
    #expect(file.refusal(text + "x", .keyFile) == .wrongPasscode)
    #expect(file.refusal("too short", .keyFile) == .keyFileTooShort)
    #expect(other.unlockSlot == 1)
    let reports = try other.slotReports()
    #expect(reports[1].availability == .here)
    #expect(reports[1].holdsProtectedHalf == false)
    let key = try file.key(text, .keyFile)
    let passcode = try passcodeSlot("x")
    #expect(refusal(adding: passcode, to: &other, key) == .credentialStale)
    #expect(refusal(removing: 0, from: &other, key) == .credentialStale)
  }

  @Test func `a code opens the vault only beside the secret of its machine`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    #expect(refusal(code: "123") == .codeTooShort)
    #expect(refusal(code: "12345678901234567") == .codeTooLong)
    try vault.addSlot(localSlot("1234"), authorizedBy: fresh)
    let names = devices(file)
    #expect(names.count == 2 && names.contains("CACHEDIR.TAG"))
    for name in names {
      let path = file.stateDirectory + "/device/" + name
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
    #expect(file.refusal("1234") == .wrongPasscode)
    #expect(file.refusal("1234", .local) == nil)
    #expect(file.refusal("4321", .local) == .wrongPasscode)
    #expect(file.refusal(TestVault.passcode, .local) == .wrongPasscode)
    var locked = try file.open()
    let attempt = try locked.attempt()
    let lengths = ["321", "4321", "1234567890123456", "12345678901234567"]
    #expect(mayBeCodes(lengths, attempt) == [false, true, true, false])
    // On another machine there is nothing that the code could be tried on.
    try FileManager.default.removeItem(atPath: file.stateDirectory + "/device")
    #expect(mayBeCodes(["4321"], attempt) == [false])
    #expect(file.refusal("1234", .local) == .deviceSecretMissing)
    #expect(try vault.slotReports()[1].availability == .missing)
  }

  @Test func `the secret of a code's slot goes with the slot`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(localSlot("1234"), authorizedBy: fresh)
    try vault.removeSlot(1, authorizedBy: fresh)
    #expect(devices(file) == ["CACHEDIR.TAG"])
  }

  @Test func `a code is changed in its place, by who knows it, and opens no more than before`()
    throws
  {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.addSlot(localSlot("1234"), authorizedBy: file.key())
    let before = devices(file)
    let key = try file.key("1234", .local)
    let full = try PreparedSlot.local(
      secret("5678"), kdf: TestVault.kdf, allowsWeak: true, withProtected: true)
    #expect(refusal(changingTo: full, in: &vault, key) == .credentialStale)
    #expect(try refusal(changingTo: passcodeSlot("5678"), in: &vault, key) == .credentialStale)
    #expect(try refusal(changingTo: localSlot("5678"), in: &vault, file.key()) == .credentialStale)
    #expect(devices(file) == before)
    try vault.changeCode(localSlot("5678"), authorizedBy: key)
    #expect(file.refusal("1234", .local) == .wrongPasscode)
    #expect(file.refusal("5678", .local) == nil)
    #expect(devices(file).count == before.count && devices(file) != before)
    #expect(try vault.slotReports().count == 2)
    // What the old code proved allows nothing any more.
    #expect(try refusal(changingTo: localSlot("9999"), in: &vault, key) == .credentialStale)
  }

  @Test func `a secret that others can read is not used`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(localSlot("1234"), authorizedBy: fresh)
    let name = try #require(devices(file).first { $0 != "CACHEDIR.TAG" })
    let path = file.stateDirectory + "/device/" + name
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    #expect(file.refusal("1234", .local) == .deviceSecretMissing)
  }

  @Test(arguments: [
    ("two\nlines", TextRule.controlCharacter), ("\u{7}", .controlCharacter),
    (String(repeating: "x", count: 65), .tooLong),
  ])
  func `a label follows the rules for texts`(label: String, rule: TextRule) {
    #expect(throws: VaultError.labelInvalid(rule)) { try SlotNaming(label: label.utf8.span) }
  }

  @Test func `a label stays with the passcode that is changed`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(passcodeSlot("second", label: "Büro"), authorizedBy: fresh)
    let second = try file.key("second")
    try vault.changeSlots(
      authorizedBy: second, passcode: passcodeSlot("third"), recovery: nil)
    #expect(try vault.slotReports().map { label($0) } == ["", "Büro"])
    #expect(file.refusal("second") == .wrongPasscode)
    #expect(file.refusal("third") == nil)
  }

  @Test func `one can be tried alone`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(passcodeSlot("second"), authorizedBy: fresh)
    #expect(refusal(file, 2) == nil)
    #expect(refusal(file, 0) == .wrongPasscode)
    #expect(refusal(file, 7) == .slotNotFound(7))
    #expect(refusal(file, 1) == .slotOfOtherKind(1, .passcode))
  }

  private func refusal(
    adding slot: borrowing PreparedSlot, to vault: inout UnlockedVault, _ fresh: borrowing VaultKey
  ) -> VaultError? {
    do throws(VaultError) {
      try vault.addSlot(slot, authorizedBy: fresh)
      return nil
    } catch { return error }
  }

  private func refusal(
    removing number: UInt8, from vault: inout UnlockedVault, _ fresh: borrowing VaultKey
  ) -> VaultError? {
    do throws(VaultError) {
      try vault.removeSlot(number, authorizedBy: fresh)
      return nil
    } catch { return error }
  }

  private func refusal(code: String) -> VaultError? {
    do throws(VaultError) {
      _ = try localSlot(code)
      return nil
    } catch { return error }
  }

  private func mayBeCodes(_ texts: [String], _ attempt: UnlockAttempt) -> [Bool] {
    texts.map { text in
      let typed = secret(text)
      return attempt.mayBeCode(typed)
    }
  }

  private func refusal(_ file: TestVault, _ number: UInt8) -> VaultError? {
    do throws(VaultError) {
      var locked = try file.open()
      let key = try locked.attempt().open(.passcode, secret: secret("second"), only: number)
      return key.slot == number ? nil : .busy
    } catch { return error }
  }

  private func refusal(
    changingTo slot: borrowing PreparedSlot, in vault: inout UnlockedVault,
    _ key: borrowing VaultKey
  ) -> VaultError? {
    do throws(VaultError) {
      try vault.changeCode(slot, authorizedBy: key)
      return nil
    } catch { return error }
  }
}
