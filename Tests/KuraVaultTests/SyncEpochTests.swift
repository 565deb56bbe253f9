// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A vault key that one machine changes is the others' once their owner has given the passcode there.
@Suite struct `A key that machines change` {
  let machines: Machines
  var desk: TestVault { machines.all[0] }
  var phone: TestVault { machines.all[1] }
  var tower: TestVault { machines.all[2] }

  init() throws {
    machines = try Machines(3) { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      _ = try vault.protect(Array("b".utf8).span)
      try vault.upload("long", letters(1_200_000))
    }
  }

  private func rekey(_ file: TestVault, removing removed: Set<DeviceID> = []) throws {
    try file.fill { vault throws in
      let slots = try RekeySlots.cheap()
      try vault.complete(
        try vault.beginRekey(authorizedBy: file.key(), slots, removing: removed))
    }
  }

  /// Has a machine enter what another one began, with the passcode.
  @discardableResult
  private func enter(_ file: TestVault, at other: TestStore? = nil) throws -> SyncReport {
    let store = other ?? machines.store
    var vault = try file.unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
    let (report, entrance) = (run.report, run.entrance)
    _ = consume run
    vault.fold()
    if let entrance { try enter(file, by: entrance) }
    return report
  }

  private func enter(_ file: TestVault, by entrance: JoinOffer) throws {
    var vault = try file.unlock()
    let attempt = try entrance.attempt(stateDirectory: file.stateDirectory)
    let key = try attempt.open(.passcode, secret: secret(TestVault.passcode))
    do {
      let rekey = try vault.beginEntering(entrance, by: key, authorizedBy: file.key())
      try vault.complete(rekey)
    } catch {
      vault.fold()
      throw error
    }
    vault.fold()
  }

  /// Of whom desk has heard nothing under the key of now.
  private func behind() throws -> [DeviceID] {
    var vault = try desk.unlock()
    let state = try vault.sharingState()
    vault.fold()
    return state?.devices.filter(\.isBehind).map(\.id) ?? []
  }

  @Test func `is asked for, and then all is under it and nothing is lost`() throws {
    try rekey(desk)
    try desk.fill { try $0.put("a", "2") }
    try desk.meet(machines.store)
    try phone.fill { vault throws in
      try vault.put("of phone", "x")
      try vault.put("secret", "y")
      _ = try vault.protect(Array("secret".utf8).span)
    }
    // Nothing is written under the key that was.
    machines.store.forgetWrites()
    let told = try phone.meet(machines.store)
    #expect(told.findings.map(\.kind) == [.passcodeWanted])
    #expect(machines.store.written == [])
    _ = try enter(phone)
    try phone.meet(machines.store)
    #expect(try phone.meet(machines.store).findings == [])
    try phone.fill { vault throws in
      #expect(try vault.getText("a") == "2")
      #expect(try vault.findings() == [])
    }
    // Tower was away all the time.
    _ = try enter(tower)
    try machines.settle()
    #expect(try machines.agree())
    for machine in machines.all {
      try machine.fill { vault throws in
        #expect(try vault.getText("of phone") == "x")
        #expect(try vault.openedText("secret") == "y")
        #expect(try vault.openedText("b") == "1")
        #expect(try vault.get("long") == letters(1_200_000))
        #expect(try vault.findings() == [])
      }
    }
    // What stood under the old key is gone.
    let told2 = try machines.settle()
    #expect(told2.allSatisfy { $0.findings == [] })
  }

  @Test func `can be changed twice while another one is away`() throws {
    try rekey(desk)
    try desk.meet(machines.store)
    _ = try enter(phone)
    try phone.meet(machines.store)
    try rekey(phone)
    try phone.fill { try $0.put("a", "3") }
    try phone.meet(machines.store)
    _ = try enter(tower)
    try tower.meet(machines.store)
    try tower.fill { vault throws in #expect(try vault.getText("a") == "3") }
    #expect(try desk.meet(machines.store).findings.map(\.kind).contains(.passcodeWanted))
    _ = try enter(desk)
    try machines.settle()
    #expect(try machines.agree())
  }

  @Test func `goes on where a push was killed`() throws {
    try desk.fill { try $0.put("a", "2") }
    try desk.meet(machines.store, killedAfter: 9)
    try rekey(desk)
    try desk.meet(machines.store, killedAfter: 9)
    #expect(try desk.meet(machines.store).findings.filter(\.kind.isAlarm) == [])
    _ = try enter(phone)
    _ = try enter(tower)
    try machines.settle()
    #expect(try machines.agree())
    try tower.fill { vault throws in #expect(try vault.getText("a") == "2") }
  }

  @Test func `leaves out a device that is removed by it`() throws {
    let removed = try tower.settledDevice()
    let other = try phone.settledDevice()
    #expect(try behind() == [])
    try rekey(desk, removing: [removed])
    try desk.meet(machines.store)
    #expect(try behind() == [other])
    _ = try enter(phone)
    try phone.meet(machines.store)
    #expect(try behind() == [other])
    try tower.fill { try $0.put("a", "of tower") }
    try tower.meet(machines.store)
    for machine in [desk, phone, desk] { try machine.meet(machines.store) }
    #expect(try behind() == [])
    for machine in [desk, phone] {
      try machine.fill { vault throws in #expect(try vault.getText("a") == "1") }
    }
    #expect(throws: VaultError.deviceRemoved) { try enter(tower) }
    // Its files go once nobody needs them.
    #expect(machines.store.objects(of: removed).isEmpty)
    #expect(!machines.store.heads.contains(removed))
    #expect(try Copies.state(desk) == Copies.state(phone))
  }

  /// Two machines give the vault a key each, a third one enters that of the first, and a fourth has neither.
  @Test func `is none where there are two, in whatever order they are read`() throws {
    let machines = try Machines(4)
    let (store, fourth) = (machines.store, machines.all[3])
    let devices = try machines.all.map { try $0.settledDevice() }
    let before = store.files
    try rekey(machines.all[1])
    try machines.all[1].meet(store)
    let second = store.files.filter { path, _ in
      path == .head(devices[1]) || store.objects(of: devices[1]).contains(path)
    }
    store.files = before
    try rekey(machines.all[0])
    try machines.all[0].meet(store)
    try enter(machines.all[2], at: store)
    try machines.all[2].meet(store)
    store.files.merge(second) { _, theirs in theirs }
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      var vault = try fourth.unlock()
      var run = try SyncRun(&vault)
      for number in order {
        let head = try #require(store.files[.head(devices[number])])
        try run.look(in: SyncFront(kept: head), at: store, &vault)
      }
      #expect(run.entrance == nil && run.report.findings.contains { $0.kind == .twoOwners })
      _ = consume run
      vault.fold()
    }
    #expect(try enter(fourth, at: store).findings.contains { $0.kind == .twoOwners })
    // Nor does one of the two follow the other.
    #expect(throws: VaultError.copyDamaged) {
      try enter(machines.all[1], by: try offer(of: machines.all[0]))
    }
  }

  @Test func `is another one than there was`() throws {
    var vault = try desk.unlock()
    let key = try desk.key()
    let change = try #require(try vault.nextEpoch(under: key.payload.vaultKey, removing: []))
    let header = try #require(try vault.headerObject())
    let offer = try JoinOffer(header, record: change.record, in: change.id, of: vault.id)
    vault.fold()
    #expect(throws: VaultError.copyDamaged) { try enter(phone, by: offer) }
  }

  private func offer(of file: TestVault) throws -> JoinOffer {
    var vault = try file.unlock()
    let header = try #require(try vault.headerObject())
    let record = try #require(try vault.remoteMemory()?.record)
    let offer = try JoinOffer(
      header, record: record, in: vault.keys.ring.ledger?.epoch ?? .zero, of: vault.id)
    vault.fold()
    return offer
  }

  @Test func `is not asked for by who had not the key before`() throws {
    let honest = machines.store.files
    try rekey(desk)
    try desk.meet(machines.store)
    let device = try desk.settledDevice()
    let path = try #require(
      machines.store.objects(of: device).first { path in
        machines.store.files[path]?[8] == RemoteObject.Kind.epochRecord.rawValue
          && honest[path] == nil
      })
    // The record as somebody would make it who knows the epoch, and not its key.
    let front = try SyncFront(kept: try #require(machines.store.files[.head(device)]))
    let object = try #require(machines.store.files[path])
    let known = try EpochRecord(object: object.span, in: front.head.epoch)
    let mine = try DeviceSeed.random(vault: front.head.vault, device: VaultID.zeroDevice)
    var record = EpochRecord(
      vault: known.vault, maker: mine.device, parents: Set(known.parents),
      ancestors: Set(known.ancestors), sealed: known.sealed)
    let body = try record.signed(with: try mine.pair()) { _ throws(FormatError) in
      do { return try Key.fresh() } catch { throw .outOfMemory }
    }
    let forged = try RemoteObject.encode(.epochRecord, in: front.head.epoch, body: body.span)
    var head = front.head
    head.device = mine.device
    head.record = try RemoteObject.name(of: forged.span)
    machines.store.files = honest
    machines.store.files[.object(mine.device, hash: head.record)] = forged
    machines.store.files[.head(mine.device)] = head.signed(with: try mine.pair())
    #expect(
      try phone.meet(machines.store).findings
        == [SyncReport.Finding(kind: .falseEpoch, device: mine.device)])
  }
}

extension SyncRun {
  /// Looks at a head of another epoch, with what a store gives.
  fileprivate mutating func look(
    in front: SyncFront, at store: TestStore, _ vault: inout UnlockedVault
  ) throws {
    while true {
      do throws(SyncStop) { return try look(in: front, &vault) } catch {
        guard case .wish(let wish) = error else { throw error }
        shelf.ask(wish)
        try shelf.take(store.answer(wish))
      }
    }
  }
}

extension VaultID {
  fileprivate static var zeroDevice: DeviceID {
    let bytes = [UInt8](repeating: 1, count: 16)
    return DeviceID(bytes.span)
  }
}
