// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A store that no copy from before, no other vault key and nobody without a key has get another slot than the recovery key's.
@Suite struct StoreSlotsKeptTests: SparingSuite {
  let store: TestStore
  let desk: TestVault
  let seen: SeenSlots

  init() throws { (store, desk, seen) = try Self.begun() }

  /// Of two copies that began to be shared apart the others come to the one that keeps passcodes out of the store,
  /// whichever epoch is the lower one and whatever of it is late.
  @Test(arguments: [false, true], ["nothing", "packs", "header", "record"])
  func `is kept to by a copy from before`(isLower: Bool, late: String) throws {
    let (desk, phone) = try begunApart(isLower: isLower)
    #expect(try !isSparing(phone))
    let files = store.files
    let kind: [String: UInt8] = ["packs": 1, "header": 4, "record": 3]
    for path in store.objects(of: try desk.settledDevice()) {
      if files[path]?[8] == kind[late] { store.files[path] = nil }
    }
    try phone.meet(store)
    #expect(try isSparing(phone) == (late != "record"))
    if late != "record" {
      // Nor does its file bring the passcode that it has in its table.
      _ = try Copies.merge(phone, into: desk)
      #expect(desk.refusal("of phone") == .wrongPasscode && desk.refusal() == nil)
    }
    try expectNothing(of: desk, phone)
    store.files.merge(files) { now, _ in now }
    _ = try meetAll(phone, desk)
    #expect(try isSparing(phone) && epoch(phone) == epoch(desk))
    try expectNothing(of: desk, phone)
    #expect(phone.refusal("of phone") == nil && desk.refusal() == nil)
  }

  /// Two copies that began to be shared apart: one by its recovery key alone, which has met the store, and one with all of
  /// its slots, as `sync init` has it begin without a word.
  private func begunApart(isLower: Bool) throws -> (TestVault, TestVault) {
    for number in 1...64 {
      let (first, second) = (try TestVault.machine(number), try TestVault.machine(100 + number))
      for file in [first, second] { try Copies.copy(desk, to: file) }
      first.recoveryKey = desk.recoveryKey
      try first.fill { vault throws in
        try vault.share(label: Array("desk".utf8), sparing: true)
        try vault.put("a", "1")
      }
      try second.fill { vault throws in
        try vault.addSlot(passcodeSlot("of phone"), authorizedBy: second.key())
        try vault.share(label: Array("phone".utf8))
      }
      guard try (epoch(second) < epoch(first)) == isLower else { continue }
      try first.meet(store)
      return (first, second)
    }
    throw VaultError.busy
  }

  @Test(arguments: [false, true])
  func `is told where a copy has left others there that had not heard of it`(isLower: Bool) throws {
    let (desk, phone) = try begunApart(isLower: isLower)
    let files = store.files
    store.files = [:]
    try phone.meet(store)
    #expect(seen.kinds == [.recoveryKey, .passcode])
    (seen.kinds, seen.objects) = ([], [])
    store.files.merge(files) { now, _ in now }
    let own = try epoch(desk)
    #expect(try kinds(ofFindings: desk.meet(store)) == [.passcodesLeft])
    #expect(try epoch(desk) == own && isSparing(desk))
    _ = try meetAll(phone, desk)
    #expect(try isSparing(phone) && epoch(phone) == own)
    #expect(try kinds(ofFindings: desk.meet(store)) == [])
    try expectNothing(of: desk, phone)
    // What was there is gone.
    for object in store.files.values where object.starts(with: "KURAOBJ1".utf8) && object[8] == 4 {
      #expect(try HeaderObject(decoding: Array(object.dropFirst(32)).span).isSparing)
    }
  }

  @Test func `is nothing that somebody without a key decides`() throws {
    let (desk, phone) = try begunApart(isLower: false)
    let device = try desk.settledDevice()
    let front = try SyncFront(kept: try #require(store.files[.head(device)]))
    let record = try #require(store.files[.object(device, hash: front.head.record)])
    // A record that is right, under a head that somebody made up.
    let seed = try DeviceSeed.random(vault: front.head.vault, device: DeviceID.fresh())
    var head = RemoteHead(
      vault: front.head.vault, device: seed.device, epoch: front.head.epoch)
    (head.record, head.sealed) = (front.head.record, front.head.sealed)
    store.files = [
      .head(seed.device): head.signed(with: try seed.pair()),
      .object(seed.device, hash: head.record): record,
    ]
    #expect(try kinds(ofFindings: phone.meet(store)) == [.late])
    #expect(try !isSparing(phone))
    // The same without the record keeps nobody waiting.
    store.files[.object(seed.device, hash: head.record)] = nil
    try phone.fill { try $0.put("b", "2") }
    #expect(try phone.meet(store).sentCount == 1)
  }

  @Test func `is as it was in a backup, and where all of a disk was copied`() throws {
    try share()
    let twin = try TestVault.machine(3)
    try Copies.copy(desk, to: twin)
    try twin.fill { vault throws in
      try vault.addSlot(passcodeSlot("of twin"), authorizedBy: twin.key())
    }
    _ = try meetAll(twin, desk)
    #expect(try isSparing(twin))
    try expectNothing(of: desk, twin)
    // A passcode that was ended here does not come back by its file.
    try setPasscode("of desk", desk)
    _ = try Copies.merge(twin, into: desk)
    #expect(desk.refusal(TestVault.passcode) == .wrongPasscode && desk.refusal() == nil)
    #expect(try kinds(desk) == [.passcode, .recoveryKey])
  }

  /// An epoch after this one under a record that says nothing of it, as a program makes it that does not know of that.
  private func lossyOffer() throws -> JoinOffer {
    var vault = try desk.unlock()
    let (record, cut) = (try vault.epochRecord(), try vault.epochBeginning().cut)
    let bare = EpochCut(removed: cut.removed, taken: cut.taken, first: cut.first)
    let (epoch, id) = (try vault.epoch(), vault.id)
    let place = AssociatedData.remote(.epochRecord, vault: id, device: record.maker, epoch: epoch)
    var lossy = EpochRecord(
      vault: id, maker: record.maker, parents: Set(record.parents),
      ancestors: Set(record.ancestors),
      sealed: try place.sealPadded(bare.encoded.span, under: vault.keys.remote, .header))
    let object = try vault.signed(&lossy, in: epoch, by: try vault.settledSeed())
    let header = try #require(try vault.headerObject())
    vault.fold()
    return try JoinOffer(header, record: object, in: epoch, of: id)
  }

  @Test func `is lost in no epoch that is entered`() throws {
    try share()
    let phone = try joined()
    _ = try meetAll(desk, phone)
    try rekey(desk)
    let offer = try lossyOffer()
    let key = try offer.attempt(stateDirectory: phone.stateDirectory).open(
      .recoveryKey, secret: secret(desk.recoveryKey))
    var vault = try phone.unlock()
    #expect(throws: VaultError.passcodesInStore) {
      _ = try vault.beginEntering(offer, by: key, authorizedBy: try phone.key())
    }
    vault.fold()
    try desk.meet(store)
    try phone.meet(store)
    try enter(phone, desk.recoveryKey)
    #expect(try isSparing(phone) && epoch(phone) == epoch(desk))
  }

  @Test func `is kept to where two epochs are brought together, and a machine is taken out`() throws
  {
    try share()
    let phone = try joined()
    try setPasscode("of phone", phone)
    _ = try meetAll(desk, phone)
    let files = store.files
    try rekey(phone)
    try phone.meet(store)
    let apart = store.files
    store.files = files
    try rekey(desk)
    try desk.meet(store)
    store.files = apart.merging(store.files) { first, second in
      files.values.contains(first) ? second : first
    }
    // Whichever comes first enters the other one's, and makes one of both.
    #expect(try kinds(ofFindings: desk.meet(store)).contains(.passcodeWanted))
    try enter(desk, phone.recoveryKey)
    #expect(try isSparing(desk))
    try desk.meet(store)
    var vault = try desk.unlock()
    let unites = RekeySlots(
      passcode: try PreparedSlot.recoveryKey(typed: secret(phone.recoveryKey)), keyFile: nil,
      keyFileNumber: 0, recovery: nil)
    let removed = try phone.settledDevice()
    try vault.complete(
      try vault.beginRekey(authorizedBy: try desk.key(), unites, removing: [removed]))
    vault.fold()
    #expect(try isSparing(desk))
    try setPasscode("of desk", desk)
    try desk.meet(store)
    try expectNothing(of: desk)
  }

  /// What stands in the store beside the slot of a recovery key, and whoever put it there.
  private func spoiled(_ header: HeaderObject) throws -> HeaderObject {
    let vault = try desk.unlock()
    let row = try #require(vault.trust.slots.first { $0.kind == .passcode })
    vault.fold()
    let slot = WaitingSlot(header: row.header, key: row.key, protected: row.protected)
    return try HeaderObject(header.header, slots: header.slots + [slot])
  }

  @Test func `is refused to who joins where another slot was put beside it`() throws {
    try share()
    let offer = try offer(of: desk)
    let other = try JoinOffer(
      spoiled(offer.header), record: offer.record, in: offer.epoch, of: offer.header.header.vault)
    for (credential, text) in [
      (Credential.recoveryKey, text(desk)), (.passcode, TestVault.passcode),
    ] {
      let key = try other.attempt(stateDirectory: desk.stateDirectory).open(
        credential, secret: secret(text))
      #expect(throws: VaultError.passcodesInStore) { try other.check(by: key) }
    }
  }

  @Test func `is told where a machine has left another slot beside it`() throws {
    try share()
    let phone = try joined()
    try setPasscode("of phone", phone)
    _ = try meetAll(desk, phone)
    try desk.fill { try $0.put("b", "2") }
    try desk.meet(store)
    let device = try desk.settledDevice()
    let files = store.files
    var head = try SyncFront(kept: try #require(files[.head(device)])).head
    let header = try #require(files[.object(device, hash: head.header)])
    let body = try spoiled(HeaderObject(decoding: Array(header.dropFirst(32)).span)).encoded
    let object = try RemoteObject.encode(.header, in: head.epoch, body: body.span)
    head.header = try RemoteObject.name(of: object.span)
    var vault = try desk.unlock()
    let bytes = head.signed(with: try vault.settledSeed().pair())
    vault.fold()
    store.files[.object(device, hash: head.header)] = object
    store.files[.head(device)] = bytes
    #expect(try phone.meet(store).findings == [.init(kind: .passcodesLeft, device: device)])
    #expect(try kinds(phone) == [.recoveryKey, .passcode])
    #expect(phone.refusal(TestVault.passcode) == .wrongPasscode)
  }
}
