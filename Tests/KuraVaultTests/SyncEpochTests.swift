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
  private func enter(_ file: TestVault) throws -> SyncReport {
    let store = machines.store
    var vault = try file.unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
    let (report, entrance) = (run.report, run.entrance)
    _ = consume run
    guard let entrance else {
      vault.fold()
      return report
    }
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
    return report
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

extension VaultID {
  fileprivate static var zeroDevice: DeviceID {
    let bytes = [UInt8](repeating: 1, count: 16)
    return DeviceID(bytes.span)
  }
}
