// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Whoever comes when those who changed something are gone has it from the others.
@Suite struct `A machine that comes later` {
  let machines: Machines
  var desk: TestVault { machines.all[0] }
  var later: TestVault { machines.all[1] }

  init() throws { machines = try Machines(3) { try $0.put("a", "1") } }

  @Test func `has what came by a file, also where all was sealed anew`() throws {
    let away = try TestVault.machine(7)
    try Copies.copy(desk, to: away)
    try away.fill { try $0.put("far", "1") }
    _ = try Copies.merge(away, into: desk)
    try desk.meet(machines.store)
    try desk.meet(machines.store, compacts: true)
    try later.meet(machines.store)
    try later.fill { vault throws in #expect(try vault.getText("far") == "1") }
  }

  @Test func `has settings that were set before the vault was shared, or taken over`() throws {
    let (first, second, store) = (try TestVault.machine(0), try TestVault.machine(1), TestStore())
    try first.createOfFirstFormat()
    try Copies.copy(first, to: second)
    try first.fill { vault throws in
      try vault.setPolicy(.idleTimeout, to: 120_000)
      try vault.setPolicy(.historyDepth, to: 50)
    }
    try second.fill { try $0.setPolicy(.idleTimeout, to: 300_000) }
    for file in [second, first] {
      try file.takeOver()
      try file.fill { try $0.share(label: []) }
      try file.meet(store)
    }
    for _ in 0..<2 { for file in [first, second] { try file.meet(store) } }
    for file in [first, second] {
      try file.fill { vault throws in
        try vault.takeLooserSettings(by: file.key().origin)
        #expect(vault.policy[.idleTimeout] == 120_000 && vault.policy[.historyDepth] == 50)
      }
    }
  }

  @Test func `takes a passcode that is cheap to guess as it was meant where it was made`() throws {
    try desk.fill { try $0.addSlot(passcodeSlot("cheap"), authorizedBy: desk.key()) }
    try desk.meet(machines.store)
    try later.meet(machines.store)
    var vault = try later.unlock("cheap")
    #expect(try vault.slotReports().count { $0.note?.isWeakCostMeant == true } == 2)
    let mayBe = vault.mayBeStrengthened
    #expect(!mayBe)
    vault.fold()
  }

  @Test func `has what was set between others' changes, also where theirs come first`() throws {
    let tower = machines.all[2]
    for value in ["2", "3"] { try tower.fill { try $0.put("a", value) } }
    try tower.meet(machines.store)
    try desk.fill { try $0.put("b", "1") }
    try desk.meet(machines.store)
    try desk.fill { try $0.put("a", "4") }
    try desk.meet(machines.store)
    try withoutPacks(of: tower)
    try later.meet(machines.store)
    #expect(try later.allValues().isSuperset(of: ["1", "2", "3", "4"]))
  }

  @Test func `has the history of what nobody knew of, also where more was changed here`() throws {
    let tower = machines.all[2]
    for value in ["2", "3"] { try tower.fill { try $0.put("a", value) } }
    for number in 4...8 { try desk.fill { try $0.put("a", "\(number)") } }
    for machine in [desk, tower, desk] { try machine.meet(machines.store) }
    try desk.fill { try $0.put("a", "9") }
    try desk.meet(machines.store)
    try withoutPacks(of: tower)
    try later.meet(machines.store)
    #expect(try later.allValues().isSuperset(of: (1...9).map { "\($0)" }))
  }

  /// Of a machine there is no more than its head.
  private func withoutPacks(of machine: TestVault) throws {
    let device = try machine.settledDevice()
    machines.store.files = machines.store.files.filter { path, _ in
      path.writer != device || path == .head(device)
    }
  }

  @Test func `has the history of what is in two minds, also where all was sealed anew`() throws {
    let tower = machines.all[2]
    try tower.fill { try $0.put("a", "of the tower") }
    for value in ["earlier", "now"] { try desk.fill { try $0.put("a", value) } }
    // What came by a file has all sealed anew, beside what is new.
    _ = try Copies.merge(tower, into: desk)
    try desk.meet(machines.store)
    let new = try TestVault.machine(8)
    try Copies.copy(later, to: new)
    try new.meet(machines.store)
    #expect(try new.allValues().isSuperset(of: ["1", "earlier", "now", "of the tower"]))
  }

  @Test func `has what a machine changed that was taken out by another key`() throws {
    let tower = machines.all[2]
    try tower.fill { try $0.put("far", "1") }
    try tower.meet(machines.store)
    try desk.meet(machines.store)
    // What it says from here on is that all has it.
    try desk.fill { try $0.put("a", "2") }
    try desk.meet(machines.store)
    try desk.giveKey(removing: [try tower.settledDevice()])
    try desk.meet(machines.store)
    let gone = try tower.settledDevice()
    machines.store.files = machines.store.files.filter { $0.key.writer != gone }
    try later.enterAll(machines.store)
    try later.fill { vault throws in #expect(try vault.getText("far") == "1") }
  }
}
