// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A store that gets the slot of the recovery key alone, at which nobody can guess.
@Suite struct StoreSlotsTests: SparingSuite {
  let store: TestStore
  let desk: TestVault
  let seen: SeenSlots

  init() throws { (store, desk, seen) = try Self.begun() }

  @Test func `sees no other slot in a whole life`() throws {
    try share()
    try desk.fill { vault throws in
      try vault.addSlot(passcodeSlot("second"), authorizedBy: desk.key())
      try vault.addSlot(PreparedSlot.keyFile(keyFile(7)), authorizedBy: desk.key())
    }
    try desk.meet(store)
    let phone = try joined()
    try setPasscode("of desk", desk)
    _ = try meetAll(desk, phone)
    try setPasscode("of phone", phone)
    try phone.fill { try $0.put("b", "2") }
    _ = try meetAll(phone, desk)
    try desk.meet(store, compacts: true)
    _ = try meetAll(phone, desk)
    // What is added under another key is no more there than before.
    try rekey(desk)
    try desk.meet(store)
    #expect(try phone.meet(store).findings.map(\.kind) == [.passcodeWanted])
    try enter(phone, desk.recoveryKey)
    _ = try meetAll(phone, desk)
    try setPasscode("of phone again", phone)
    try desk.fill { vault throws in
      try vault.addSlot(passcodeSlot("third"), authorizedBy: desk.key())
    }
    _ = try meetAll(phone, desk)
    try expectNothing(of: desk, phone)
    #expect(try isSparing(desk) && isSparing(phone))
    for file in [desk, phone] {
      var vault = try file.unlock()
      #expect(try vault.names() == ["a", "b"] && vault.findings() == [])
      vault.fold()
    }
    #expect(try kinds(phone) == [.recoveryKey, .passcode])
  }

  @Test func `leaves each machine the ways in that it has`() throws {
    try share()
    let phone = try joined()
    #expect(try kinds(phone) == [.recoveryKey])
    _ = try meetAll(desk, phone)
    try setPasscode("of phone", phone)
    let told = try meetAll(phone, desk)
    #expect(told.allSatisfy { !$0.taken.keptSlots && $0.taken.waitingSlots == 0 })
    #expect(phone.refusal(TestVault.passcode) == .wrongPasscode)
    #expect(desk.refusal("of phone") == .wrongPasscode)
    for file in [desk, phone] {
      #expect(file.refusal() == nil && file.refusal(text(desk), .recoveryKey) == nil)
    }
    #expect(try kinds(desk) == [.passcode, .recoveryKey])
    #expect(try kinds(phone) == [.recoveryKey, .passcode])
    // What one changes ends nothing of the other's, and says nothing of it to the other.
    try setPasscode("of desk", desk)
    try setPasscode("of phone again", phone)
    _ = try meetAll(phone, desk)
    #expect(phone.refusal() == nil && desk.refusal() == nil)
    for file in [desk, phone] {
      let vault = try file.unlock()
      let listed = Set((vault.keys.ring.ledger?.slots ?? []).flatMap { $0.slots.map(\.id) })
      let own = vault.trust.slots.filter { $0.kind == .passcode }.compactMap(\.id)
      #expect(own.count == 1 && listed.isDisjoint(with: own) && !listed.isEmpty)
      vault.fold()
    }
    try expectNothing(of: desk, phone)
  }

  @Test func `carries a recovery key that takes the place of another one`() throws {
    try share()
    let phone = try joined()
    _ = try meetAll(desk, phone)
    var vault = try desk.unlock()
    let slot = try PreparedSlot.recoveryKey()
    let fresh = bytes(of: slot.recoveryKeyText)
    try vault.addSlot(slot, authorizedBy: try desk.key(), replacing: true)
    vault.fold()
    try desk.meet(store)
    try phone.meet(store)
    #expect(phone.refusal(text(desk), .recoveryKey) == .wrongPasscode)
    #expect(phone.refusal(String(decoding: fresh, as: UTF8.self), .recoveryKey) == nil)
    try expectNothing(of: desk)
  }

  @Test func `is kept to by a machine from the first moment`() throws {
    try share()
    // Nothing comes but what it takes to join.
    let phone = try joined()
    #expect(try isSparing(phone))
    try setPasscode("of phone", phone)
    store.lateness = 60
    for _ in 0..<6 { try phone.meet(store) }
    store.lateness = 0
    _ = try meetAll(phone, desk)
    try expectNothing(of: desk, phone)
    #expect(phone.refusal() == nil && desk.refusal() == nil)
    #expect(phone.refusal(TestVault.passcode) == .wrongPasscode)
  }

  @Test func `is left with a recovery key, or nothing is changed`() throws {
    let bare = try TestVault.machine(2)
    try bare.createOfFirstFormat()
    try bare.takeOver()
    let before = try bare.content()
    var vault = try bare.unlock()
    #expect(throws: VaultError.recoveryKeyNeeded) { try vault.share(sparing: true) }
    vault.fold()
    #expect(try bare.content() == before)
    try share()
    vault = try desk.unlock()
    let slot = try #require(try vault.slotReports().first { $0.kind == .recoveryKey }?.number)
    #expect(throws: VaultError.recoveryKeyNeeded) {
      try vault.removeSlot(slot, authorizedBy: try desk.key())
    }
    #expect(throws: VaultError.recoveryKeyNeeded) {
      try vault.disableSlot(slot, authorizedBy: try desk.key())
    }
    let slots = try RekeySlots.cheap()
    #expect(throws: VaultError.recoveryKeyNeeded) {
      _ = try vault.beginRekey(authorizedBy: try desk.key(), slots)
    }
    vault.fold()
    #expect(try kinds(desk) == [.passcode, .recoveryKey])
    // A recovery key that was shown goes over to another vault key, and opens it.
    vault = try desk.unlock()
    let key = try desk.key(text(desk), .recoveryKey)
    let own = RekeySlots(
      passcode: try PreparedSlot.recoveryKey(typed: secret(desk.recoveryKey)), keyFile: nil,
      keyFileNumber: 0, recovery: nil)
    try vault.complete(try vault.beginRekey(authorizedBy: key, own))
    vault.fold()
    desk.opener = (text(desk), .recoveryKey)
    #expect(try isSparing(desk))
  }

  /// Each machine may put one recovery key in the place of another, and end the one that it did not make.
  @Test func `keeps a recovery key that was ended on two machines at once`() throws {
    try share()
    let phone = try joined()
    try setPasscode("of phone", phone)
    _ = try meetAll(desk, phone)
    for file in [desk, phone] {
      let slot = try PreparedSlot.recoveryKey()
      file.recoveryKey = bytes(of: slot.recoveryKeyText)
      try file.fill { vault throws in
        try vault.addSlot(slot, authorizedBy: file.key(), replacing: true)
      }
    }
    _ = try meetAll(desk, phone)
    #expect(try kinds(desk).count { $0 == .recoveryKey } == 2)
    for (file, other) in [(desk, phone), (phone, desk)] {
      let opened = try file.key(text(other), .recoveryKey).slot
      try file.fill { try $0.removeSlot(opened, authorizedBy: file.key()) }
    }
    let told = try meetAll(desk, phone)
    #expect(told.contains { $0.taken.keptSlots })
    for file in [desk, phone] {
      #expect(try kinds(file).contains(.recoveryKey))
      #expect(file.refusal() == nil)
      let front = try SyncFront(kept: try #require(store.files[.head(try file.settledDevice())]))
      #expect(front.head.header.contains { $0 != 0 })
    }
    try expectNothing(of: desk, phone)
  }

  /// One key out of use and the other one ended elsewhere.
  @Test func `keeps the recovery key that is in use here`() throws {
    try share()
    let phone = try joined()
    _ = try meetAll(desk, phone)
    for file in [desk, phone] {
      let slot = try PreparedSlot.recoveryKey()
      try file.fill { vault throws in
        let key =
          file === phone
          ? try file.key(text(file), .recoveryKey) : try file.key()
        try vault.addSlot(slot, authorizedBy: key, replacing: true)
      }
      file.recoveryKey = bytes(of: slot.recoveryKeyText)
    }
    phone.opener = (text(phone), .recoveryKey)
    _ = try meetAll(desk, phone)
    let ofPhone = try desk.key(text(phone), .recoveryKey).slot
    try desk.fill { try $0.disableSlot(ofPhone, authorizedBy: desk.key()) }
    let ofDesk = try phone.key(text(desk), .recoveryKey).slot
    try phone.fill { try $0.removeSlot(ofDesk, authorizedBy: phone.key()) }
    for _ in 0..<3 { for file in [phone, desk] { try file.meet(store) } }
    #expect(desk.refusal(text(desk), .recoveryKey) == nil)
    #expect(phone.refusal(text(phone), .recoveryKey) == nil)
  }
}
