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
