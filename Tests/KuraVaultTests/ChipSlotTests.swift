// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import KuraStorage
import SecureMemory
import TestChips
import Testing

@testable import KuraVault

/// Slots that a TPM has its part of.
@Suite("A slot of a TPM") struct ChipSlotTests {
  private let chip = FakeChip()
  private let file: TestVault

  init() throws {
    file = try TestVault()
    file.chip = chip
  }

  private func add(_ code: String, withProtected: Bool = false) throws {
    var vault = try file.unlock()
    var locked = try file.open()
    let slot = try PreparedSlot.tpm(
      secret(code), kdf: TestVault.kdf, allowsWeak: true, withProtected: withProtected,
      beside: try locked.attempt())
    try vault.addSlot(slot, authorizedBy: file.key())
  }

  private func remove(_ number: UInt8) throws {
    var vault = try file.unlock()
    try vault.removeSlot(number, authorizedBy: file.key())
  }

  private func refusal(adding code: String) -> VaultError? {
    do { try add(code) } catch { return error as? VaultError }
    return nil
  }

  @Test func `opens by its code, and by nothing else`() throws {
    try add("4711")
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(file.refusal("4712", .tpm) == .wrongPasscode)
    #expect(file.refusal("", .tpm) == .noSuchSlot(.tpm))
    #expect(file.refusal(TestVault.passcode, .tpm) == .wrongPasscode)
    let tries = chip.kept.withLock { $0.shown.count }
    // What is typed for a passcode costs no try of the TPM.
    for _ in 0..<100 { #expect(file.refusal("4711") == .wrongPasscode) }
    #expect(file.refusal("4711", .local) == .noSuchSlot(.local))
    #expect(chip.kept.withLock { $0.shown.count } == tries)
    var vault = try file.unlock("4711", .tpm)
    #expect(vault.unlockSlot == 1)
    #expect(try vault.slotReports()[1].holdsProtectedHalf == false)
  }

  @Test func `shows the TPM another value for each slot, whose last byte is odd`() throws {
    for _ in 0..<3 {
      try add("4711")
      try remove(1)
    }
    let shown = chip.kept.withLock { $0.shown }
    #expect(Set(shown).count == 3)
    #expect(shown.allSatisfy { $0.count == 32 && $0[31] & 1 == 1 })
  }

  @Test func `that takes no code opens for none, and holds nothing protected`() throws {
    try add("")
    #expect(file.refusal("", .tpm) == nil)
    #expect(file.refusal("4711", .tpm) == .noSuchSlot(.tpm))
    try add("4711")
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(file.refusal("", .tpm) == nil)
  }

  @Test func `that takes a code is the only one of its TPM, which counts its wrong ones alone`()
    throws
  {
    try add("4711")
    #expect(refusal(adding: "0815") == .credentialTaken(1))
    chip.kept.withLock { $0.name = 2 }
    try add("0815")
    chip.kept.withLock { $0.name = 1 }
    var vault = try file.unlock()
    let key = try file.key()
    try vault.disableSlot(1, authorizedBy: key)
    try add("1234")
    vault = try file.unlock()
    #expect(throws: VaultError.credentialTaken(3)) {
      try vault.enableSlot(1, authorizedBy: key)
    }
    try remove(3)
    vault = try file.unlock()
    try vault.enableSlot(1, authorizedBy: key)
    #expect(file.refusal("4711", .tpm) == nil)
  }

  @Test func `of another TPM is passed over, and said to be that`() throws {
    try add("4711")
    chip.kept.withLock { $0.name = 2 }
    #expect(file.refusal("4711", .tpm) == .chip(ChipFault(.other)))
    try add("0815")
    #expect(file.refusal("0815", .tpm) == nil)
    #expect(file.refusal("4711", .tpm) == .wrongPasscode)
  }

  @Test(arguments: [ChipFault(.lockedOut, 600), ChipFault(.noProgram), ChipFault(.failed, 0x101)])
  func `tells why the TPM did nothing`(fault: ChipFault) throws {
    try add("4711")
    chip.kept.withLock { $0.fault = fault }
    #expect(file.refusal("4711", .tpm) == .chip(fault))
    #expect(refusal(adding: "1234") == .chip(fault))
    #expect(file.refusal(TestVault.passcode) == nil)
    file.chip = nil
    #expect(file.refusal("4711", .tpm) == .chip(ChipFault(.noProgram)))
  }

  @Test func `is tried before it is the vault's, so that none stands there that opens nothing`()
    throws
  {
    chip.kept.withLock { $0.lies = true }
    for code in ["", "4711"] {
      #expect(refusal(adding: code) == .chip(ChipFault(.programFailed)))
    }
    #expect(try file.open().slotReports.map(\.kind) == [.passcode])
  }

  /// Who has the file and knows all but what the TPM keeps: the vault's and the slot's id, salt and cost, all parts of the
  /// header, and by how a code becomes a key.
  private func isRight(_ code: String, _ row: SlotRow, with chipSecret: [UInt8]) throws -> Bool {
    let locked = try file.open()
    let header = try SlotHeader(decoding: row.header.span)
    let cost = try #require(header.kdf)
    let typed = Array(code.utf8)
    let derived = try ChipCode(code: typed.span, salt: header.salt, cost: cost)
    let secret = try SlotSecret(
      chip: chipSecret.span, code: derived, vault: locked.id, slot: header.id)
    let key = try secret.keyEncryptionKey(vault: locked.id, header: header)
    let associated = AssociatedData.slotKey(vault: locked.id, header: header)
    return (try? Seal.openPadded(row.key.span, authenticating: associated.span, under: key)) != nil
  }

  @Test func `tells who has the file no right code from a wrong one, without what the TPM keeps`()
    throws
  {
    try add("4711")
    let vault = try file.unlock()
    let row = try #require(vault.trust.slots.first { $0.number == 1 })
    let kept = try #require(chip.kept.withLock { $0.secrets.values.first?.secret })
    let codes = (4_700..<4_720).map { "\($0)" }
    // With it all is lost, so that the guesser is none who could not find anything.
    #expect(try codes.filter { try isRight($0, row, with: kept) } == ["4711"])
    for guess in [[UInt8](repeating: 0, count: 32), kept.reversed(), row.header.suffix(32)] {
      #expect(try codes.filter { try isRight($0, row, with: Array(guess)) } == [])
    }
    // Nothing that stands there is of the code alone: another slot for the same code shares nothing with it.
    try remove(1)
    try add("4711")
    let other = try #require(try file.unlock().trust.slots.first { $0.number == 1 })
    for (one, two) in [
      (row.key, other.key), (Array(row.header[16..<48]), Array(other.header[16..<48])),
    ] {
      let windows = Set((0...one.count - 8).map { Array(one[$0..<$0 + 8]) })
      let shared = (0...two.count - 8).filter { windows.contains(Array(two[$0..<$0 + 8])) }
      #expect(shared.count == 0)
    }
  }

  @Test func `stays in a vault that is opened, backed up and changed where there is no such TPM`()
    throws
  {
    try add("4711")
    chip.kept.withLock { $0.fault = ChipFault(.noChip) }
    file.chip = nil
    try file.fill { vault throws in try vault.put("a", "1") }
    let bytes = try file.content()
    let other = try TestVault(creating: false)
    try FileManager.default.createDirectory(
      atPath: other.directory + "/vault", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let isMade = FileManager.default.createFile(
      atPath: other.path, contents: bytes, attributes: [.posixPermissions: 0o600])
    #expect(isMade)
    try other.fill { vault throws in
      #expect(try vault.slotReports().map(\.kind) == [.passcode, .tpm2])
      #expect(try vault.slotReports()[1].availability == .unknown)
      try vault.put("b", "2")
    }
    #expect(other.refusal("4711", .tpm) == .chip(ChipFault(.noProgram)))
    // Back where the TPM is.
    try file.restore(try other.content())
    (file.chip, other.chip) = (chip, chip)
    chip.kept.withLock { $0.fault = nil }
    #expect(file.refusal("4711", .tpm) == nil)
    var vault = try file.unlock()
    #expect(try vault.getText("b") == "2")
  }

  @Test func `takes a longer code where the TPM does not limit the tries`() throws {
    #expect(refusal(adding: "123") == .codeTooShort)
    chip.kept.withLock { $0.most = 0 }
    #expect(refusal(adding: "12345678901") == .chip(ChipFault(.unlimited, 12)))
    #expect(refusal(adding: "123456789012") == nil)
  }

  /// Why another code is not put in the place of one; nil where it is.
  private func change(
    _ code: String, to next: String, withProtected: Bool = true
  ) throws -> VaultError? {
    var vault = try file.unlock()
    var locked = try file.open()
    let slot = try PreparedSlot.tpm(
      secret(next), kdf: TestVault.kdf, allowsWeak: true, withProtected: withProtected,
      beside: try locked.attempt())
    let stale = try file.key(code, .tpm)
    do throws(VaultError) {
      try vault.changeCode(slot, authorizedBy: stale)
      try vault.changeCode(slot, authorizedBy: stale)
    } catch {
      // What it was is not what it is.
      return file.refusal(next, .tpm) == nil && error == .credentialStale ? nil : error
    }
    Issue.record("one code was changed twice")
    return nil
  }

  @Test func `takes another code, which has a new secret in the TPM, and keeps its place`() throws {
    try add("4711", withProtected: true)
    #expect(try change("4711", to: "", withProtected: false) == .credentialStale)
    #expect(try change("4711", to: "0815", withProtected: false) == .credentialStale)
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(try change("4711", to: "0815") == nil)
    #expect(file.refusal("4711", .tpm) == .wrongPasscode)
    #expect(try file.key("0815", .tpm).slot == 1)
    var vault = try file.unlock()
    #expect(try vault.slotReports()[1].holdsProtectedHalf)
    #expect(chip.kept.withLock { Set($0.secrets.values.map(\.secret)).count } == 4)
  }

  @Test func `keeps its code where none would hold the same`() throws {
    try add("4711", withProtected: false)
    #expect(try change("4711", to: "", withProtected: false) == .credentialStale)
    #expect(file.refusal("4711", .tpm) == nil)
  }

  @Test func `that takes no code gets none by itself`() throws {
    try add("")
    #expect(try change("", to: "4711", withProtected: false) == .credentialStale)
  }

  @Test(arguments: [true, false])
  func `goes over to another key as it was, with a new secret in the TPM`(
    withProtected: Bool
  ) throws {
    try add("4711", withProtected: withProtected)
    var vault = try file.unlock()
    var locked = try file.open()
    var slots = try RekeySlots.cheap()
    slots.keep(
      try PreparedSlot.tpm(
        secret("4711"), kdf: TestVault.kdf, allowsWeak: true, withProtected: withProtected,
        beside: try locked.attempt(), naming: try SlotNaming(label: "desk".utf8.span)), at: 1)
    #expect(file.refusal("4711", .tpm) == nil)
    try vault.complete(try vault.beginRekey(authorizedBy: file.key(), slots))
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(file.refusal("4712", .tpm) == .wrongPasscode)
    let report = try vault.slotReports()[1]
    #expect(report.number == 1 && report.holdsProtectedHalf == withProtected)
    #expect(report.note?.label == Array("desk".utf8))
    #expect(chip.kept.withLock { $0.secrets.count } == 2)
  }

  @Test func `is the owner's word where it takes a code and was made to open protected values`()
    throws
  {
    try add("")
    try add("0815")
    var vault = try file.unlock()
    for code in ["", "0815"] {
      #expect(throws: VaultError.ownerNeeded) { _ = try OwnerProof(file.key(code, .tpm)) }
      let origin = try file.key(code, .tpm).origin
      #expect(throws: VaultError.ownerNeeded) {
        try vault.checkTimes(idleTimeout: 1_000_000, maxSession: 0, by: origin)
      }
    }
    try vault.removeSlot(2, authorizedBy: file.key())
    try add("4711", withProtected: true)
    let proof: OwnerProof? = try OwnerProof(file.key("4711", .tpm))
    try vault.setPolicy(.idleTimeout, to: 1_000_000, by: proof)
    #expect(vault.policy[.idleTimeout] == 1_000_000)
    let origin = try file.key("4711", .tpm).origin
    try vault.checkTimes(idleTimeout: 2_000_000, maxSession: 0, by: origin)
  }

  @Test func `is told from one of another machine as far as this one remembers`() throws {
    try add("4711")
    func availability() throws -> SlotAvailability? {
      try file.open().slotReports.first { $0.kind == .tpm2 }?.availability
    }
    #expect(try availability() == .here)
    let note = file.stateDirectory + "/device/chips"
    #expect(try [UInt8](Data(contentsOf: URL(filePath: note))) == [1, 1])
    chip.kept.withLock { $0.name = 2 }
    #expect(file.refusal("4711", .tpm) == .chip(ChipFault(.other)))
    #expect(try availability() == .unknown)
    chip.kept.withLock { $0.name = 1 }
    #expect(file.refusal("4712", .tpm) == .wrongPasscode)
    #expect(try availability() == .unknown)
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(try availability() == .here)
    for torn in [[], [0], [2, 1], [1], [1, 2, 1, 1, 9]] as [[UInt8]] {
      try Data(torn).write(to: URL(filePath: note))
      #expect(try availability() == (torn.count > 4 ? .here : .unknown))
    }
    for name in UInt8(2)...20 {
      chip.kept.withLock { $0.name = name }
      try add("", withProtected: false)
      try file.fill { vault throws in try vault.removeSlot(2, authorizedBy: file.key()) }
    }
    #expect(try Data(contentsOf: URL(filePath: note)).count == 16)
  }

  @Test func `changes no slot, is disabled and enabled, and ends with a rekey`() throws {
    try add("4711", withProtected: true)
    var vault = try file.unlock()
    let key = try file.key("4711", .tpm)
    _ = try OwnerProof(file.key("4711", .tpm))
    try vault.disableSlot(1, authorizedBy: file.key())
    #expect(file.refusal("4711", .tpm) == .noSuchSlot(.tpm))
    try vault.enableSlot(1, authorizedBy: file.key())
    #expect(file.refusal("4711", .tpm) == nil)
    #expect(key.slot == 1)
    _ = try vault.rekey(file.key())
    #expect(file.refusal("4711", .tpm) == .noSuchSlot(.tpm))
  }
}
