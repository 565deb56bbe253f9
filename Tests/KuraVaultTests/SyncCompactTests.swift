// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What no vault has any more goes from the store, once everybody has sealed anew.
@Suite struct `A store that is compacted` {
  private func devices(_ files: TestVault...) throws -> Set<DeviceID> {
    Set(try files.map { try $0.told().device })
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
    let before = try machines.all.reduce(into: Set()) { $0.formUnion(try $1.packs()) }
    try purge("a", second)
    try machines.settle()
    #expect(before.isSubset(of: machines.store.files.keys))
    #expect(try first.awaited() == [])

    // Two meet the store again and again; it waits for the third alone.
    try first.meet(machines.store, compacts: true)
    #expect(try first.awaited() == devices(second, third))
    for _ in 0..<3 { for machine in [second, first] { try machine.meet(machines.store) } }
    #expect(try first.awaited() == devices(third))
    #expect(try second.awaited() == devices(third))
    #expect(!before.isDisjoint(with: machines.store.files.keys))

    try machines.settle()
    #expect(before.isDisjoint(with: machines.store.files.keys))
    let round = try first.told().report.round
    #expect(round > 0)
    for machine in machines.all {
      #expect(try machine.awaited() == [])
      let rounds = try machine.told().report.rounds.counter(of: first.told().device)
      #expect(machine === first || rounds == round)
      #expect(try machine.told().report.condemned == [])
    }
    let fresh = try TestVault.machine(7)
    try Copies.copy(third, to: fresh)
    try fresh.meet(machines.store)
    #expect(try Copies.state(fresh) == Copies.state(first))
  }

  @Test func `has again what was cut off or damaged of long values and of what opens the vault`()
    throws
  {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, store) = (machines.all[0], machines.store)
    try first.fill { try $0.upload("long", letters(1_300_000)) }
    try first.meet(store)
    for (place, isCut) in (0..<3).flatMap({ [($0, true), ($0, false)] }) {
      let path = try kept(by: first)[place]
      var broken = try #require(store.files[path])
      if isCut { broken.removeLast(9) } else { broken[broken.count - 20] ^= 1 }
      store.files[path] = broken
      try first.meet(store)
      #expect(store.files[path] == broken)
      let reader = try TestVault.machine(7)
      try Copies.copy(machines.all[1], to: reader)
      let found = try reader.meet(store).findings.map(\.kind)
      #expect(found == [isCut ? .cut : .changed], "\(place), \(found)")
      #expect(try first.meet(store, compacts: true).findings.map(\.kind) == [.ownFilesGone])
      #expect(store.files[path] != broken)
      #expect(try reader.meet(store).findings == [])
      try reader.fill { vault throws in #expect(try vault.names() == ["a", "long"]) }
    }
  }

  /// The first and the last piece of a long value, and what opens the vault.
  private func kept(by file: TestVault) throws -> [RemotePath] {
    let device = try file.told().device
    var vault = try file.unlock()
    let pieces = try vault.places().flatMap { $0.place.value.pieces.map(\.hash) }
    let header = try #require(try vault.newestOwnHead(device)).head.header
    vault.fold()
    try #require(pieces.count > 1)
    return [pieces[0], pieces[pieces.count - 1], header].map { .object(device, hash: $0) }
  }

  @Test func `waits for what the one had seen who began it`() throws {
    let machines = try Machines(3) { try $0.put("a", "1") }
    let (first, second, third) = (machines.all[0], machines.all[1], machines.all[2])
    try third.fill { try $0.put("a", "2") }
    try machines.settle()
    let known = Set(machines.store.files.keys)
    try purge("a", second)
    try second.meet(machines.store)
    let device = try second.told().device
    let news = machines.store.objects(of: device).filter { !known.contains($0) }
    try first.meet(machines.store, compacts: true)

    // The purge is on its way, and what the third one has of the item would be sealed anew.
    let late = news.map { ($0, machines.store.files.removeValue(forKey: $0)) }
    try third.meet(machines.store)
    #expect(try third.told().report.rounds == RevisionVector())
    for (path, bytes) in late { machines.store.files[path] = bytes }
    let before = try third.packs()
    try machines.settle()
    #expect(try third.told().report.rounds.entries.count == 1)
    #expect(before.isDisjoint(with: machines.store.files.keys))
  }

  @Test func `waits for others also where it began with who has nothing in it`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, second) = (machines.all[0], machines.all[1])
    let fresh = try TestVault.machine(7)
    try Copies.copy(first, to: fresh)
    try fresh.meet(machines.store, compacts: true)
    #expect(try fresh.told().report.condemned == [])
    #expect(try fresh.awaited() == devices(first, second))
    for _ in 0..<3 { for machine in [first, second, fresh] { try machine.meet(machines.store) } }
    #expect(try fresh.awaited() == [])
  }

  @Test func `is sealed anew where there is no room for one more pack`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let first = machines.all[0]
    for number in 0..<6 {
      try first.fill { try $0.put("a", "\(number)") }
      try first.meet(machines.store, mostPacks: 3)
      #expect(try first.told().report.packs.count <= 3)
    }
    try machines.settle()
    #expect(try machines.agree())
  }
}
