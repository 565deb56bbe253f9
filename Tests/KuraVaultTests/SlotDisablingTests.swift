// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraStorage
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Slots out of use` {
  @Test func `a disabled one opens nothing until it is enabled, and leaves no byte of itself`()
    throws
  {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(passcodeSlot("battery staple", label: "w"), authorizedBy: fresh)
    let old = vault.trust.slots[2]
    try vault.disableSlot(2, authorizedBy: fresh)
    #expect(file.refusal("battery staple") == .wrongPasscode)
    #expect(file.refusal() == nil)
    let reports = try vault.slotReports()
    #expect(reports.map(\.kind) == [.passcode, .recoveryKey, .passcode])
    #expect(reports.map(\.isDisabled) == [false, false, true])
    #expect(reports.map { label($0) } == ["", "", "w"])
    let locked = try file.open().slotReports
    #expect(locked.map(\.kind) == [.passcode, .recoveryKey, .disabled])
    #expect(locked.map(\.isDisabled) == [false, false, true])
    for name in file.files {
      let content = try file.content(of: name)
      for part in [old.key, old.protected, Array(old.header[16..<32])] {
        for start in stride(from: 0, to: part.count - 15, by: 16) {
          let window = Data(part[start..<(start + 16)])
          #expect(content.firstRange(of: window) == nil, "\(name), byte \(start)")
        }
      }
    }
    try vault.disableSlot(2, authorizedBy: fresh)
    try vault.enableSlot(2, authorizedBy: fresh)
    #expect(vault.trust.slots[2] == old)
    try vault.enableSlot(2, authorizedBy: fresh)
    #expect(file.refusal("battery staple") == nil)
    #expect(try vault.findings() == [])
  }

  @Test func `disabling keeps the last for a person, enabling the rules of adding`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.disableSlot(0, authorizedBy: fresh)
    let recovery = try file.key(
      String(decoding: file.recoveryKey, as: UTF8.self), .recoveryKey)
    #expect(refusal(try vault.disableSlot(1, authorizedBy: recovery)) == .lastSlot)
    #expect(refusal(try vault.disableSlot(9, authorizedBy: recovery)) == .slotNotFound(9))
    // What was proved by a slot that is out of use since proves nothing.
    #expect(refusal(try vault.enableSlot(0, authorizedBy: fresh)) == .credentialStale)
    for number in 2...5 {
      try vault.addSlot(passcodeSlot("p\(number)"), authorizedBy: recovery)
    }
    #expect(refusal(try vault.enableSlot(0, authorizedBy: recovery)) == .slotsFull(limit: 4))
    try vault.disableSlot(1, authorizedBy: try file.key("p2"))
    try vault.addSlot(PreparedSlot.recoveryKey(), authorizedBy: try file.key("p2"))
    let key = try file.key("p2")
    #expect(refusal(try vault.enableSlot(1, authorizedBy: key)) == .recoveryKeyExists)
    #expect(try vault.slotReports().map(\.number) == [0, 1, 2, 3, 4, 5, 6])
    #expect(try vault.findings() == [])
  }

  @Test func `another slot in a disabled one's place is no slot of this vault`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(passcodeSlot("a"), authorizedBy: fresh)
    try vault.addSlot(passcodeSlot("b"), authorizedBy: fresh)
    try vault.disableSlot(1, authorizedBy: fresh)
    try vault.disableSlot(2, authorizedBy: fresh)
    let (first, second) = (vault.trust.slots[1], vault.trust.slots[2])
    // The seal says whose it is.
    let moved = SlotRow(number: 1, header: first.header, key: second.key, protected: [])
    #expect(refusal(try moved.inUse(vault.keys)) == .damaged(.slot))
    #expect(try first.inUse(vault.keys).isDisabled == false)
  }

  @Test func `what this machine does by itself goes with the slot`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    let place = file.stateDirectory + "/stick"
    try Data(repeating: 7, count: 40).write(to: URL(fileURLWithPath: place))
    let naming = try SlotNaming(label: Span(), place: place.utf8.span)
    try vault.addSlot(
      PreparedSlot.keyFile(keyFile(7), naming: naming), authorizedBy: fresh, manner: .tried)
    try vault.addSlot(localSlot("12345"), authorizedBy: fresh, manner: .submitted)
    var reports = try file.open().slotReports
    #expect(
      reports.map { $0.looked.map { String(decoding: $0.path, as: UTF8.self) } } == [
        nil, place, nil,
      ])
    #expect(reports.map { $0.looked?.size } == [nil, 40, nil])
    #expect(reports.map(\.submitLength) == [0, 0, 5])
    #expect(reports.map(\.availability) == [.here, .here, .here])
    try Data(repeating: 7, count: 41).write(to: URL(fileURLWithPath: place))
    reports = try file.open().slotReports
    #expect(reports[1].availability == .missing)
    var options = file.options
    options.look = { _ in nil }
    reports = try LockedVault(at: file.path, options: options).slotReports
    #expect(reports[1].availability == .unknown)
    // Another code has another length; what is no key each is not sent by itself.
    try vault.changeCode(localSlot("1234567"), authorizedBy: try file.key("12345", .local))
    #expect(try file.open().slotReports[2].submitLength == 7)
    try vault.removeSlot(1, authorizedBy: fresh)
    try vault.removeSlot(2, authorizedBy: fresh)
    #expect(devices(file) == ["CACHEDIR.TAG"])
  }

  @Test func `what destroys a code's secret is kept up to date while the code is out of use`()
    throws
  {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    try vault.addSlot(localSlot("4711"), authorizedBy: fresh)
    let id = try #require(vault.trust.slots[1].id)
    let secrets = DeviceSecrets(stateDirectory: file.stateDirectory)
    try vault.disableSlot(1, authorizedBy: fresh)
    try vault.setPolicy(.eraseLocalAfter, to: 3)
    try vault.refreshEraseRules()
    #expect(try secrets.eraseLimit(of: id) == 3)
    try vault.enableSlot(1, authorizedBy: fresh)
    #expect(try secrets.eraseLimit(of: id) == 3)
  }

  @Test func `a key file that is held waits until it was seen away, or somebody unlocked`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(!LockedVault.looksForKeyFiles(file.options))
    let place = file.stateDirectory + "/stick"
    try Data(repeating: 7, count: 40).write(to: URL(fileURLWithPath: place))
    let naming = try SlotNaming(label: Span(), place: place.utf8.span)
    try vault.addSlot(
      PreparedSlot.keyFile(keyFile(7), naming: naming), authorizedBy: try file.key(),
      manner: .tried)
    #expect(LockedVault.looksForKeyFiles(file.options))
    func isHeld() throws -> Bool { try file.open().slotReports[1].isHeld }
    #expect(try !isHeld())
    try file.open().holdKeyFiles()
    #expect(try isHeld())
    vault.releaseKeyFiles()
    #expect(try !isHeld())
    LockedVault.holdAllKeyFiles(file.options)
    LockedVault.holdAllKeyFiles(file.options)
    #expect(try isHeld())
    // One that stands there is not away.
    var locked = try file.open()
    locked.noteAway(locked.slotReports)
    #expect(try isHeld())
    try FileManager.default.removeItem(atPath: place)
    locked = try file.open()
    locked.noteAway(locked.slotReports)
    #expect(try !isHeld())
  }

  // MARK: - Helpers

  private func refusal<Value>(
    _ body: @autoclosure () throws(VaultError) -> Value
  ) -> VaultError? {
    do throws(VaultError) {
      _ = try body()
      return nil
    } catch { return error }
  }
}
