// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What no vault has any more goes from the store, once everybody has sealed anew.
@Suite struct `A store that is compacted` {
  /// What the last own head of a machine says, and the machine's id.
  private func told(_ file: TestVault) throws -> (device: DeviceID, report: HeadReport) {
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    let report = try vault.toldReport(by: device)?.report
    vault.fold()
    return (device, try #require(report))
  }

  private func packs(_ file: TestVault) throws -> Set<RemotePath> {
    let (device, report) = try told(file)
    return Set(report.packs.map { .object(device, hash: $0.hash) })
  }

  private func awaited(by file: TestVault) throws -> Set<DeviceID> {
    var vault = try file.unlock()
    let awaited = try vault.awaitedDevices()
    vault.fold()
    return awaited
  }

  private func devices(_ files: TestVault...) throws -> Set<DeviceID> {
    Set(try files.map { try told($0).device })
  }

  private func purge(_ name: String, _ file: TestVault) throws {
    try file.fill { _ = try $0.purge(Array(name.utf8).span, .item) }
  }

  @Test func `has nothing of what was purged, whoever had written it`() throws {
    let machines = try Machines(3) { try $0.put("a", Array("1".utf8), .create, ["k": "1"]) }
    for machine in machines.all {
      try machine.fill { try $0.put("a", "more") }
      try machines.settle()
    }
    let (first, second, third) = (machines.all[0], machines.all[1], machines.all[2])
    let before = try machines.all.reduce(into: Set()) { $0.formUnion(try packs($1)) }
    try purge("a", second)
    try machines.settle()
    #expect(before.isSubset(of: machines.store.files.keys))
    #expect(try awaited(by: first) == [])

    // Two meet the store again and again; it waits for the third alone.
    try first.meet(machines.store, compacts: true)
    #expect(try awaited(by: first) == devices(second, third))
    for _ in 0..<3 { for machine in [second, first] { try machine.meet(machines.store) } }
    #expect(try awaited(by: first) == devices(third))
    #expect(try awaited(by: second) == devices(third))
    #expect(!before.isDisjoint(with: machines.store.files.keys))

    try machines.settle()
    #expect(before.isDisjoint(with: machines.store.files.keys))
    let round = try told(first).report.round
    #expect(round > 0)
    for machine in machines.all {
      #expect(try awaited(by: machine) == [])
      let rounds = try told(machine).report.rounds.counter(of: told(first).device)
      #expect(machine === first || rounds == round)
      #expect(try told(machine).report.condemned == [])
    }
    let fresh = try TestVault.machine(7)
    try Copies.copy(third, to: fresh)
    try fresh.meet(machines.store)
    #expect(try Copies.state(fresh) == Copies.state(first))
  }

  @Test func `waits for what the one had seen who began it`() throws {
    let machines = try Machines(3) { try $0.put("a", "1") }
    let (first, second, third) = (machines.all[0], machines.all[1], machines.all[2])
    try third.fill { try $0.put("a", "2") }
    try machines.settle()
    let known = Set(machines.store.files.keys)
    try purge("a", second)
    try second.meet(machines.store)
    let device = try told(second).device
    let news = machines.store.objects(of: device).filter { !known.contains($0) }
    try first.meet(machines.store, compacts: true)

    // The purge is on its way, and what the third one has of the item would be sealed anew.
    let late = news.map { ($0, machines.store.files.removeValue(forKey: $0)) }
    try third.meet(machines.store)
    #expect(try told(third).report.rounds == RevisionVector())
    for (path, bytes) in late { machines.store.files[path] = bytes }
    let before = try packs(third)
    try machines.settle()
    #expect(try told(third).report.rounds.entries.count == 1)
    #expect(before.isDisjoint(with: machines.store.files.keys))
  }

  @Test func `waits for others also where it began with who has nothing in it`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, second) = (machines.all[0], machines.all[1])
    let fresh = try TestVault.machine(7)
    try Copies.copy(first, to: fresh)
    try fresh.meet(machines.store, compacts: true)
    #expect(try told(fresh).report.condemned == [])
    #expect(try awaited(by: fresh) == devices(first, second))
    for _ in 0..<3 { for machine in [first, second, fresh] { try machine.meet(machines.store) } }
    #expect(try awaited(by: fresh) == [])
  }

  @Test func `is sealed anew where there is no room for one more pack`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let first = machines.all[0]
    for number in 0..<6 {
      try first.fill { try $0.put("a", "\(number)") }
      try first.meet(machines.store, mostPacks: 3)
      #expect(try told(first).report.packs.count <= 3)
    }
    try machines.settle()
    #expect(try machines.agree())
  }
}
