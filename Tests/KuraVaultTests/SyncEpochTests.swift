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
    try file.giveKey(removing: removed)
  }

  @discardableResult
  private func enter(_ file: TestVault, at other: TestStore? = nil) throws -> SyncReport {
    try file.enter(other ?? machines.store)
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
    var vault = try tower.unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = machines.store.answer(wish) }
    // The one before it is none any more.
    #expect(run.entrance?.others == [])
    _ = consume run
    vault.fold()
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

  @Test func `asks once to take away what the store keeps as another one's`() throws {
    let removed = try tower.settledDevice()
    machines.store.kept = [removed]
    try rekey(desk, removing: [removed])
    try desk.meet(machines.store)
    _ = try enter(phone)
    try phone.meet(machines.store)
    var vault = try desk.unlock()
    for _ in 0..<3 {
      var run = try SyncRun(&vault)
      var answer: SyncAnswer?
      while let wish = try run.next(answer, in: &vault) { answer = machines.store.answer(wish) }
      let told = run.report.findings
      #expect(told == [])
      _ = consume run
    }
    vault.fold()
    #expect(machines.store.refused == [.head(removed)])
    #expect(machines.store.heads.contains(removed))
  }

  /// Of two keys one is entered first, in whatever order heads are read.
  @Test func `is the same one where there are two, in whatever order they are read`() throws {
    let machines = try Machines(4)
    let (store, fourth) = (machines.store, machines.all[3])
    let devices = try machines.all.map { try $0.settledDevice() }
    try machines.part(0, 1)
    try enter(machines.all[2], at: store)
    try machines.all[2].meet(store)
    var offers: [JoinOffer] = []
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      var vault = try fourth.unlock()
      var run = try SyncRun(&vault)
      for number in order {
        let head = try #require(store.files[.head(devices[number])])
        try run.look(in: SyncFront(kept: head), at: store, &vault)
      }
      let entrance = run.entrance
      offers.append(try #require(entrance))
      _ = consume run
      vault.fold()
    }
    #expect(offers.allSatisfy { $0 == offers[0] })
  }

  /// What is followed by what stays is history of who has it, and no other copy has it.
  @Test func `leaves what another machine has built on in the history of that`() throws {
    let removed = try tower.settledDevice()
    for value in ["late", "later"] { try tower.fill { try $0.put("a", value) } }
    try tower.fill { vault throws in
      try vault.put("b", "late")
      try vault.setPolicy(.idleTimeout, to: 60_000)
    }
    try tower.meet(machines.store)
    try phone.meet(machines.store)
    try phone.fill { try $0.put("a", "of phone") }
    try rekey(desk, removing: [removed])
    try desk.meet(machines.store)
    try enter(phone)
    for _ in 0..<4 { for machine in [phone, desk] { try machine.meet(machines.store) } }
    #expect(try Copies.state(desk) == Copies.state(phone))
    try phone.fill { vault throws in
      let values = try vault.history(of: "a").map { $0.split(separator: " ")[0] }
      #expect(values == ["1", "late", "later", "of"])
      #expect(try vault.openedText("b") == "1" && vault.findings() == [])
      #expect(vault.policy[.idleTimeout] == Setting.idleTimeout.standard)
    }
  }

  /// A machine had taken more of the removed one than who removed it, and has built on some of that.
  @Test func `leaves out what a removed device made after that, and nothing of others`() throws {
    let removed = try tower.settledDevice()
    try desk.fill { vault throws in
      for name in ["kept", "gone", "moved", "deleted"] { try vault.put(name, "1") }
      try vault.setPolicy(.idleTimeout, to: 120_000)
    }
    try machines.settle()
    try tower.fill { vault throws in
      for name in ["a", "b", "kept"] { try vault.put(name, "late") }
      try vault.upload("long", letters(70_000))
      try vault.put("late", "late")
      _ = try vault.purge(Array("gone".utf8).span, .item)
      _ = try vault.move(Array("moved".utf8).span, to: Array("elsewhere".utf8).span)
      try vault.remove("deleted")
      try vault.setPolicy(.idleTimeout, to: 600_000)
    }
    try tower.meet(machines.store)
    try phone.meet(machines.store)
    try phone.fill { vault throws in
      try vault.put("kept", "of phone")
      try vault.put("of phone", "x")
      // Another item has the name that is free now.
      try vault.put("moved", "other")
    }
    try rekey(desk, removing: [removed])
    try desk.meet(machines.store)
    try enter(phone)
    #expect(phone.leftOut == [removed])
    // Which the next meeting of the same engine tells.
    var vault = try phone.unlock()
    vault.leftOut = phone.leftOut
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = machines.store.answer(wish) }
    #expect(run.report.findings == [SyncReport.Finding(kind: .leftOut, device: removed)])
    _ = consume run
    vault.fold()
    for _ in 0..<4 { for machine in [desk, phone] { try machine.meet(machines.store) } }
    #expect(try Copies.state(desk) == Copies.state(phone))
    for machine in [desk, phone] {
      try machine.fill { vault throws in
        #expect(try vault.getText("a") == "1" && vault.openedText("b") == "1")
        #expect(try vault.getText("kept") == "of phone" && vault.getText("of phone") == "x")
        #expect(try vault.getText("gone") == "1" && vault.getText("deleted") == "1")
        #expect(try vault.get("long") == letters(1_200_000))
        #expect(throws: VaultError.notFound) { try vault.getText("late") }
        #expect(throws: VaultError.notFound) { try vault.getText("elsewhere") }
        let names = try vault.names().filter { $0.hasPrefix("moved") }
        #expect(Set(try names.map { try vault.getText($0) }) == ["1", "other"])
        #expect(try vault.findings() == [])
      }
      #expect(try machine.meet(machines.store).findings == [])
    }
  }

  @Test func `is another one than there was`() throws {
    var vault = try desk.unlock()
    let key = try desk.key()
    let change = try #require(try vault.nextEpoch(under: key.payload.vaultKey, removing: []))
    let header = try #require(try vault.headerObject())
    let offer = try JoinOffer(header, record: change.record, in: change.id, of: vault.id)
    let before = try JoinOffer(
      header, record: try vault.memoryOfShared().record, in: try vault.epoch(), of: vault.id)
    vault.fold()
    #expect(throws: VaultError.copyDamaged) { try phone.enter(by: offer) }
    // Nor is it the one before.
    try rekey(desk)
    #expect(throws: VaultError.copyDamaged) { try desk.enter(by: before) }
  }

  /// Copies of one file that were made before any of them was shared have the same key, and no epoch in common.
  @Test(arguments: [false, true])
  func `is one, though copies began to be shared apart`(atOnce isAtOnce: Bool) throws {
    let (one, other) = (try TestVault.machine(8), try TestVault.machine(9))
    let store = TestStore()
    try one.createOfFirstFormat()
    try one.fill { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
    }
    try Copies.copy(one, to: other)
    try other.fill { try $0.put("b", "of the other") }
    for machine in [one, other] {
      try machine.takeOver()
      try machine.share()
      let before = store.files
      try machine.meet(store)
      if isAtOnce, machine === one { store.files = before }
    }
    if isAtOnce { try one.meet(store) }
    for _ in 0..<3 { for machine in [one, other] { try machine.meet(store) } }
    #expect(try Copies.state(one) == Copies.state(other))
    for machine in [one, other] {
      #expect(try machine.meet(store).findings == [])
      try machine.fill { vault throws in
        #expect(try vault.getText("a") == "1")
        #expect(try vault.values(of: "b").isSuperset(of: ["of the other"]))
        #expect(try vault.findings() == [])
      }
    }
  }

  @Test func `is not asked for by who had not the key before`() throws {
    let mine = try leaveForged { $0 }
    #expect(
      try phone.meet(machines.store).findings
        == [SyncReport.Finding(kind: .falseEpoch, device: mine)])
  }

  /// Of a later one nobody can tell that it was made up: it is waited for, and holds nobody up.
  @Test func `holds nobody up where somebody who is not known says to follow`() throws {
    let mine = try leaveForged { _ in [DeviceTable.Epoch([UInt8](repeating: 7, count: 16).span)] }
    let told = [SyncReport.Finding(kind: .stranger, device: mine)]
    try phone.fill { try $0.put("a", "2") }
    let report = try phone.meet(machines.store)
    #expect(report.findings == told && report.sentCount == 1)
    #expect(try tower.meet(machines.store).findings == told)
    try tower.fill { vault throws in #expect(try vault.getText("a") == "2") }
  }

  /// Leaves the record of an epoch after the present one as somebody would make it who has no key.
  ///
  /// - Parameter parents: Which ones it names, in the place of the right ones.
  /// - Returns: Who made it.
  private func leaveForged(
    _ parents: ([DeviceTable.Epoch]) -> [DeviceTable.Epoch]
  ) throws -> DeviceID {
    let honest = machines.store.files
    try rekey(desk)
    try desk.meet(machines.store)
    let device = try desk.settledDevice()
    let path = try #require(
      machines.store.objects(of: device).first { path in
        machines.store.files[path]?[8] == RemoteObject.Kind.epochRecord.rawValue
          && honest[path] == nil
      })
    let front = try SyncFront(kept: try #require(machines.store.files[.head(device)]))
    let object = try #require(machines.store.files[path])
    let known = try EpochRecord(object: object.span, in: front.head.epoch)
    let mine = try DeviceSeed.random(vault: front.head.vault, device: VaultID.zeroDevice)
    let named = Set(parents(known.parents))
    var record = EpochRecord(
      vault: known.vault, maker: mine.device, parents: named,
      ancestors: named.union(known.ancestors), sealed: known.sealed)
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
    return mine.device
  }
}

extension SyncRun {
  /// Looks at a head of another epoch, with what a store gives.
  fileprivate mutating func look(
    in front: SyncFront, at store: TestStore, _ vault: inout UnlockedVault
  ) throws {
    while true {
      do throws(SyncStop) {
        try look(in: front, &vault)
        entrance = nil
        return try chooseEntrance(&vault)
      } catch {
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
