// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A store that gets the slot of the recovery key alone, at which nobody can guess.
@Suite struct StoreSlotsTests {
  private let store = TestStore()
  private let desk: TestVault
  private let seen = Seen()

  /// Collects which kinds of slots the store got to see.
  private final class Seen {
    var kinds: Set<SlotKind> = []
    var objects: [[UInt8]] = []
  }

  init() throws {
    desk = try TestVault.machine(0)
    try desk.createOfFirstFormat(wantsRecoveryKey: true)
    try desk.takeOver()
    let seen = seen
    store.spy = { bytes in
      seen.objects.append(bytes)
      // The frame of an object, and the kind that is a header.
      guard bytes.starts(with: "KURAOBJ1".utf8), bytes[8] == 4 else { return }
      guard let header = try? HeaderObject(decoding: Array(bytes.dropFirst(32)).span) else {
        Issue.record("a header that cannot be read")
        return
      }
      for slot in header.slots {
        if let known = try? SlotHeader(decoding: slot.header.span) { seen.kinds.insert(known.kind) }
      }
    }
  }

  private func share(_ isSparing: Bool = true) throws {
    try desk.fill { vault throws in
      try vault.share(label: Array("desk".utf8), sparing: isSparing)
      try vault.put("a", "1")
    }
    try desk.meet(store)
  }

  private func text(_ file: TestVault) -> String {
    String(decoding: file.recoveryKey, as: UTF8.self)
  }

  /// What the store has for who begins there.
  private func offer(of file: TestVault) throws -> JoinOffer {
    let device = try file.settledDevice()
    let head = try #require(store.files[.head(device)])
    let front = try SyncFront(kept: head)
    let header = try #require(store.files[.object(device, hash: front.head.header)])
    let record = try #require(store.files[.object(device, hash: front.head.record)])
    return try JoinOffer(head: head.span, header: header.span, record: record.span)
  }

  /// A machine that begins by the recovery key.
  private func joined(_ number: Int = 1, by credential: Credential = .recoveryKey) throws
    -> TestVault
  {
    let file = try TestVault.machine(number)
    file.recoveryKey = desk.recoveryKey
    let text = credential == .passcode ? TestVault.passcode : text(desk)
    file.opener = (text, credential)
    let offer = try offer(of: desk)
    let key = try offer.attempt(stateDirectory: file.stateDirectory).open(
      credential, secret: secret(file.opener.text))
    try VaultDraft.join(
      offer, at: file.path, options: file.options, by: key, label: Array("phone".utf8)
    ).commit()
    return file
  }

  /// Sets a passcode on a machine that has none, or another one.
  private func setPasscode(_ passcode: String, _ file: TestVault) throws {
    var vault = try file.unlock()
    try vault.changeSlots(
      authorizedBy: try file.key(), passcode: try passcodeSlot(passcode), recovery: nil)
    vault.fold()
    file.opener = (passcode, .passcode)
  }

  private func meetAll(_ files: TestVault...) throws -> [SyncReport] {
    var told: [SyncReport] = []
    for _ in 0..<4 { for file in files { told.append(try file.meet(store)) } }
    store.forgetWrites()
    for file in files { told.append(try file.meet(store)) }
    #expect(store.written.isEmpty)
    return told
  }

  private func kinds(_ file: TestVault) throws -> [SlotKind] {
    var vault = try file.unlock()
    let kinds = try vault.slotReports().map(\.kind)
    vault.fold()
    return kinds
  }

  private func setting(_ file: TestVault) throws -> UInt64 {
    let vault = try file.unlock()
    let value = vault.policy[.passcodeInStore]
    vault.fold()
    return value
  }

  /// No slot of a machine but its recovery key's is anywhere in what the store ever got.
  private func expectNothing(of files: TestVault...) throws {
    #expect(seen.kinds == [.recoveryKey])
    for file in files {
      let vault = try file.unlock()
      for row in vault.trust.slots where row.kind != .recoveryKey {
        let mark = Data(row.header)
        #expect(!seen.objects.contains { Data($0).range(of: mark) != nil })
      }
      vault.fold()
    }
  }

  private func rekey(_ file: TestVault) throws {
    var vault = try file.unlock()
    let slots = RekeySlots(
      passcode: try passcodeSlot(file.opener.text), keyFile: nil, keyFileNumber: 0,
      recovery: try PreparedSlot.recoveryKey())
    file.recoveryKey = bytes(of: slots.recoveryKeyText)
    try vault.complete(try vault.beginRekey(authorizedBy: try file.key(), slots))
    vault.fold()
  }

  /// Enters the key of another machine by its recovery key.
  private func enter(_ file: TestVault, _ recoveryKey: [UInt8]) throws {
    var vault = try file.unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
    let found = run.entrance
    _ = consume run
    let entrance = try #require(found)
    let attempt = try entrance.attempt(stateDirectory: file.stateDirectory)
    #expect(throws: VaultError.noSuchSlot(.passcode)) {
      _ = try attempt.open(.passcode, secret: secret(TestVault.passcode))
    }
    let key = try attempt.open(.recoveryKey, secret: secret(recoveryKey))
    try vault.complete(
      try vault.beginEntering(entrance, by: key, authorizedBy: try file.key()))
    vault.fold()
    file.recoveryKey = recoveryKey
    file.opener = (text(file), .recoveryKey)
  }

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
    #expect(try setting(desk) == 0 && setting(phone) == 0)
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
    // What one changes ends nothing of the other's, and all that there are stand in one table.
    try setPasscode("of desk", desk)
    try setPasscode("of phone again", phone)
    _ = try meetAll(phone, desk)
    #expect(phone.refusal() == nil && desk.refusal() == nil)
    for file in [desk, phone] {
      let vault = try file.unlock()
      let standing = vault.keys.ring.ledger?.slots.standing ?? []
      #expect(standing.count { $0.kind == .passcode } == 2)
      #expect(standing.count == 3)
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

  @Test func `is kept to by a machine before it has heard of any setting`() throws {
    try share()
    // Nothing comes but what it takes to join.
    let phone = try joined()
    #expect(try setting(phone) == 0)
    try setPasscode("of phone", phone)
    store.lateness = 60
    for _ in 0..<6 { try phone.meet(store) }
    store.lateness = 0
    _ = try meetAll(phone, desk)
    try expectNothing(of: desk, phone)
    #expect(phone.refusal() == nil && desk.refusal() == nil)
    #expect(phone.refusal(TestVault.passcode) == .wrongPasscode)
  }

  @Test func `is kept to in another epoch before anything came of it`() throws {
    try share(false)
    let phone = try joined(by: .passcode)
    _ = try meetAll(phone, desk)
    #expect(seen.kinds == [.recoveryKey, .passcode])
    try desk.fill { try $0.setPolicy(.passcodeInStore, to: 0) }
    try rekey(desk)
    try desk.meet(store)
    #expect(try setting(phone) == 1)
    (seen.kinds, seen.objects) = ([], [])
    try enter(phone, desk.recoveryKey)
    #expect(try setting(phone) == 0)
    try setPasscode("of phone", phone)
    _ = try meetAll(phone, desk)
    try expectNothing(of: desk, phone)
  }

  /// Of two copies that began to be shared apart the others come to that of the lower epoch.
  @Test(arguments: [false, true])
  func `is kept to by a copy from before`(isFirst: Bool) throws {
    let old = try TestVault.machine(200)
    try Copies.copy(desk, to: old)
    try share()
    let epoch = try epoch(desk)
    for number in 1...64 {
      // It begins as `sync init` has it begin there.
      let phone = try TestVault.machine(number)
      try Copies.copy(old, to: phone)
      try phone.fill { vault throws in
        try vault.addSlot(passcodeSlot("of phone"), authorizedBy: phone.key())
        try vault.share(label: Array("phone".utf8))
      }
      #expect(try setting(phone) == 1)
      guard try (self.epoch(phone) < epoch) == isFirst else { continue }
      try phone.meet(store)
      #expect(try setting(phone) == 0)
      try expectNothing(of: desk, phone)
      // And it hears at last that all do.
      _ = try meetAll(desk, phone)
      let vault = try phone.unlock()
      #expect(vault.keys.ring.ledger?.settings.map(\.key) == [Setting.passcodeInStore.rawValue])
      vault.fold()
      return try expectNothing(of: desk, phone)
    }
    Issue.record("no epoch was the other one")
  }

  private func epoch(_ file: TestVault) throws -> DeviceTable.Epoch {
    let vault = try file.unlock()
    let epoch = vault.keys.ring.ledger?.epoch ?? .zero
    vault.fold()
    return epoch
  }

  @Test func `gets no other slot from the next meeting on, and what was there goes`() throws {
    try share(false)
    let phone = try joined(by: .passcode)
    _ = try meetAll(phone, desk)
    #expect(seen.kinds == [.recoveryKey, .passcode])
    (seen.kinds, seen.objects) = ([], [])
    try desk.fill { try $0.setPolicy(.passcodeInStore, to: 0) }
    _ = try meetAll(desk, phone)
    #expect(try setting(phone) == 0)
    try expectNothing(of: desk, phone)
    // The objects of before are deleted.
    let left = store.files.values.filter { $0.starts(with: "KURAOBJ1".utf8) && $0[8] == 4 }
    for object in left {
      let header = try HeaderObject(decoding: Array(object.dropFirst(32)).span)
      #expect(header.isSparing && header.slots.count == 1)
    }
    #expect(left.count == 2)
    // Nobody lost a way in that was there on both.
    #expect(phone.refusal() == nil && phone.refusal(text(desk), .recoveryKey) == nil)
  }

  @Test func `gets all of them again where the owner lets it, and so do the others`() throws {
    try share()
    let phone = try joined()
    try setPasscode("of phone", phone)
    _ = try meetAll(phone, desk)
    try desk.fill { vault throws in
      #expect(throws: VaultError.ownerNeeded) {
        try vault.setPolicy(.passcodeInStore, to: 1, by: nil)
      }
      try vault.setPolicy(.passcodeInStore, to: 1)
    }
    _ = try meetAll(desk, phone)
    // The owner's next unlock there.
    var vault = try phone.unlock()
    try vault.takeLooserSettings(by: try phone.key().origin)
    vault.fold()
    #expect(try setting(phone) == 1)
    _ = try meetAll(phone, desk)
    #expect(seen.kinds == [.recoveryKey, .passcode])
    for file in [desk, phone] {
      #expect(file.refusal(TestVault.passcode) == nil && file.refusal("of phone") == nil)
    }
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
    // A vault that is shared otherwise.
    vault = try bare.unlock()
    try vault.share()
    #expect(throws: VaultError.recoveryKeyNeeded) {
      try vault.setPolicy(.passcodeInStore, to: 0, by: nil)
    }
    #expect(vault.policy[.passcodeInStore] == 1)
    vault.fold()
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
    #expect(desk.refusal(text(desk), .recoveryKey) == nil)
  }
}
