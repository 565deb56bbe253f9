// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A machine that has entered a key changes no slot that others have before it hears which change made each: what another
/// one ended would come back by it, and what it ended itself would stand elsewhere.
@Suite struct `Slots whose table is still to come` {
  let machines: Machines
  let whole: [RemotePath: [UInt8]]
  let recoveryKey: String
  var store: TestStore { machines.store }
  var desk: TestVault { machines.all[0] }
  var tower: TestVault { machines.all[2] }

  /// The desk has given the vault a key, and added a key file and a recovery key; the tower has entered that key while the desk's packs
  /// were late.
  init() throws {
    machines = try Machines(3) { vault throws in try vault.put("a", "1") }
    let (desk, tower, store) = (machines.all[0], machines.all[2], machines.store)
    try desk.giveKey()
    try desk.fill { try $0.addSlot(PreparedSlot.keyFile(keyFile(7)), authorizedBy: desk.key()) }
    let recovery = try PreparedSlot.recoveryKey()
    recoveryKey = text(of: recovery.recoveryKeyText)
    try desk.fill { try $0.addSlot(recovery, authorizedBy: desk.key()) }
    try desk.meet(store)
    whole = store.files
    let device = try desk.settledDevice()
    var vault = try desk.unlock()
    let told = try #require(try vault.toldReport(by: vault.ownDevice())?.report)
    vault.fold()
    try #require(!told.packs.isEmpty)
    for pack in told.packs { store.files[.object(device, hash: pack.hash)] = nil }
    try tower.enter(store)
  }

  private func slots(_ machine: TestVault) throws -> [SlotKind?] {
    var vault = try machine.unlock()
    let found = try vault.slotReports().map(\.kind)
    vault.fold()
    return found
  }

  private func addFile(_ number: UInt8) throws {
    try tower.fill {
      try $0.addSlot(PreparedSlot.keyFile(keyFile(number)), authorizedBy: tower.key())
    }
  }

  private func file(_ machine: TestVault) throws -> UInt8 {
    var vault = try machine.unlock()
    let found = try vault.slotReports().first { $0.kind == .keyFile }?.number
    vault.fold()
    return try #require(found)
  }

  private func settle() throws {
    for (path, bytes) in whole where store.files[path] == nil { store.files[path] = bytes }
    for _ in 0..<4 { for machine in machines.all { try machine.enterAll(store) } }
  }

  private func notes(_ machine: TestVault) throws -> [SlotID: SlotNote] {
    let vault = try machine.unlock()
    let notes = vault.keys.ring.notes
    vault.fold()
    return Dictionary(uniqueKeysWithValues: notes.all.map { ($0.slot, $0) })
  }

  /// Both what came before the table, with a header, and what came after it.
  @Test func `are noted as where they were made once it has come, but for the place of a key file`()
    throws
  {
    try settle()
    let naming = try SlotNaming(label: "büro".utf8.span, place: "/media/stick/key".utf8.span)
    try desk.fill {
      try $0.addSlot(PreparedSlot.keyFile(keyFile(9), naming: naming), authorizedBy: desk.key())
    }
    try settle()
    let (made, here) = (try notes(desk), try notes(tower))
    #expect(made.count == 4 && Set(here.keys) == Set(made.keys))
    for (slot, note) in made {
      #expect(here[slot]?.label == note.label && here[slot]?.created == note.created)
      #expect(here[slot]?.isWeakCostMeant == note.isWeakCostMeant && note.created > 0)
      #expect(here[slot]?.place == [])
    }
    #expect(made.values.contains { !$0.place.isEmpty && $0.label == Array("büro".utf8) })
  }

  @Test func `are not changed, and what another machine ends stays ended`() throws {
    let before = try slots(tower)
    #expect(before.count { $0 == .keyFile } == 1)
    #expect(throws: VaultError.slotsAwaited) { try addFile(9) }
    let number = try file(tower)
    #expect(throws: VaultError.slotsAwaited) {
      try tower.fill { try $0.removeSlot(number, authorizedBy: tower.key()) }
    }
    #expect(throws: VaultError.slotsAwaited) {
      try tower.fill {
        try $0.changeSlots(
          authorizedBy: tower.key(), passcode: passcodeSlot("another one"), recovery: nil)
      }
    }
    #expect(try slots(tower) == before)
    try desk.fill { try $0.removeSlot(file(desk), authorizedBy: desk.key()) }
    try settle()
    for machine in machines.all { #expect(try slots(machine).allSatisfy { $0 != .keyFile }) }
    try addFile(9)
    try settle()
    for machine in machines.all { #expect(try slots(machine).count { $0 == .keyFile } == 1) }
  }

  @Test func `of this machine alone are changed as ever`() throws {
    try tower.fill { try $0.addSlot(localSlot("1234"), authorizedBy: tower.key()) }
    try settle()
    #expect(try slots(tower).contains(.local))
    #expect(try !slots(desk).contains(.local))
  }

  @Test func `do not keep out who forgot the passcode`() throws {
    let slot: PreparedSlot? = try passcodeSlot("another one")
    try tower.fill {
      try $0.changeSlots(
        authorizedBy: tower.key(recoveryKey, .recoveryKey), passcode: slot, recovery: nil)
    }
    let vault = try tower.unlock("another one")
    vault.fold()
    for (path, bytes) in whole where store.files[path] == nil { store.files[path] = bytes }
    for _ in 0..<2 {
      for machine in [desk, machines.all[1]] { try machine.enterAll(store) }
      var vault = try tower.unlock("another one")
      var run = try SyncRun(&vault)
      var answer: SyncAnswer?
      while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
      _ = consume run
      vault.fold()
    }
    let other = try desk.unlock("another one")
    other.fold()
  }

  @Test func `are this machine's by another key`() throws {
    try tower.giveKey()
    try addFile(9)
    try settle()
    for machine in machines.all { #expect(try slots(machine).count { $0 == .keyFile } == 1) }
  }
}
