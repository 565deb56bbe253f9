// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Rounds of sealing anew count by who began them: none of several stands for another one.
@Suite struct `A round of sealing anew` {
  let machines: Machines
  var store: TestStore { machines.store }
  var first: TestVault { machines.all[0] }
  var second: TestVault { machines.all[1] }
  var third: TestVault { machines.all[2] }

  init() throws {
    machines = try Machines(3)
    for (number, machine) in machines.all.enumerated() {
      try machine.fill { vault throws in
        for name in ["a", "b"] { try vault.put(name, "\(number)") }
      }
      try machines.settle()
    }
  }

  private func packs(_ files: TestVault...) throws -> Set<RemotePath> {
    try files.reduce(into: []) { $0.formUnion(try $1.packs()) }
  }

  /// The last round of a machine that another one has followed.
  private func round(of file: TestVault, followedBy other: TestVault) throws -> UInt64 {
    try other.told().report.rounds.counter(of: file.told().device)
  }

  private func purge(_ name: String, _ file: TestVault) throws {
    try file.fill { _ = try $0.purge(Array(name.utf8).span, .item) }
  }

  /// What is done to the store as it was, beside what has been done to it since, then meets that.
  private func apart(from before: [RemotePath: [UInt8]], _ body: () throws -> Void) rethrows {
    let since = store.files
    store.files = before
    try body()
    for (path, bytes) in since where before[path] != bytes { store.files[path] = bytes }
  }

  /// That everybody has come past all rounds, and of what was there before nothing is left.
  private func expectNothing(of before: Set<RemotePath>, _ all: [TestVault]? = nil) throws {
    for _ in 0..<6 { for machine in all ?? machines.all { try machine.meet(store) } }
    #expect(before.isDisjoint(with: store.files.keys))
    for machine in all ?? machines.all {
      #expect(try machine.awaited() == [])
      #expect(try machine.told().report.condemned == [])
    }
  }

  @Test func `is done for each of two that were begun apart`() throws {
    let before = store.files
    try purge("a", first)
    try first.meet(store, compacts: true)
    try third.meet(store)
    #expect(try round(of: first, followedBy: third) == first.told().report.round)
    let sealed = try packs(first, third)
    try apart(from: before) {
      try purge("b", second)
      try second.meet(store, compacts: true)
    }
    #expect(try first.told().report.round == second.told().report.round)
    #expect(try round(of: second, followedBy: third) == 0)

    // All of those have what was purged on the second machine.
    try expectNothing(of: sealed)
    for (machine, others) in [(first, [second, third]), (second, [first, third])] {
      for other in others {
        #expect(try round(of: machine, followedBy: other) == machine.told().report.round)
      }
    }
    let stood = store.files
    try machines.settle()
    #expect(store.files == stood)
  }

  @Test func `is done once where two that were begun apart are heard of together`() throws {
    let before = store.files
    try purge("a", first)
    try first.meet(store, compacts: true)
    try apart(from: before) {
      try purge("b", second)
      try second.meet(store, compacts: true)
    }
    try third.meet(store)
    let sealed = try packs(third)
    try machines.settle()
    #expect(try packs(third) == sealed)
    #expect(try first.awaited() == [] && third.awaited() == [])
  }

  @Test func `is waited for by whoever has heard of it`() throws {
    let before = try packs(first, second, third)
    try first.fill { try $0.put("more", "1") }
    try first.meet(store, compacts: true)
    try second.meet(store)
    #expect(try second.awaited().contains(third.told().device))
    // It has heard of it, and an object is late.
    let (device, report) = try first.told()
    let path = RemotePath.object(device, hash: try #require(report.packs.last).hash)
    let late = store.files.removeValue(forKey: path)
    try third.meet(store)
    #expect(try third.awaited().contains(third.told().device))
    store.files[path] = late
    try expectNothing(of: before)
  }

  @Test func `is begun once more where the vault got another key before it ended`() throws {
    let before = store.files
    try purge("a", second)
    try second.meet(store, compacts: true)
    try apart(from: before) {
      try third.giveKey()
      try third.meet(store)
    }
    let sealed = try packs(third)
    for _ in 0..<3 { for machine in machines.all { try machine.enterAll(store) } }
    try expectNothing(of: sealed)
    #expect(try second.told().report.round > 0)
    let number = try second.told().report.round
    try second.fill { try $0.put("more", "1") }
    try machines.settle()
    #expect(try second.told().report.round == number)
  }

  @Test func `is begun once more where somebody nobody knew of began an epoch before it`() throws {
    let (before, fresh) = (store.files, try TestVault.machine(7))
    try Copies.copy(first, to: fresh)
    try purge("a", first)
    try first.meet(store, compacts: true)
    try machines.settle()
    #expect(try first.awaited() == [])
    try apart(from: before) {
      try fresh.meet(store)
      try fresh.giveKey()
      try fresh.meet(store)
    }
    let (sealed, all) = (try packs(fresh), machines.all + [fresh])
    for _ in 0..<3 { for machine in all { try machine.enterAll(store) } }
    try expectNothing(of: sealed, all)
    #expect(try first.told().report.round > 0)
  }

  @Test func `does not wait in another epoch for who was taken out`() throws {
    try first.meet(store, compacts: true)
    try second.meet(store)
    try first.meet(store)
    try second.giveKey(removing: [third.settledDevice()])
    try second.meet(store)
    try first.enterAll(store)
    #expect(try first.told().report.round == 0)
    #expect(try second.told().report.rounds == RevisionVector())
  }

  @Test func `is begun by the next head where a meeting was cut off`() throws {
    let before = try packs(first, second, third)
    try first.meet(store, killedAfter: 0, compacts: true)
    #expect(try first.told().report.round == 0)
    #expect(try first.awaited() == Set(machines.all.map { try $0.told().device }))
    try expectNothing(of: before)
    #expect(try first.told().report.round > 0)
  }

  @Test func `is not begun once more in another epoch once it has ended`() throws {
    try second.meet(store, compacts: true)
    try machines.settle()
    try second.giveKey()
    try second.meet(store)
    #expect(try second.told().report.round == 0)
  }

  @Test func `is begun once more by a copy of who began it, until it has ended`() throws {
    try second.meet(store, compacts: true)
    let copies = try [TestVault.machine(7), TestVault.machine(8)]
    try Copies.copy(second, to: copies[0])
    try copies[0].meet(store)
    #expect(try copies[0].told().report.round > 0)
    try expectNothing(of: [], machines.all + [copies[0]])
    try Copies.copy(second, to: copies[1])
    try copies[1].meet(store)
    #expect(try copies[1].told().report.round == 0)
  }

  /// Two copies of a vault that was shared by nobody begin an epoch each, with one key.
  @Test func `is begun once more where another epoch with the same key counts`() throws {
    let store = TestStore()
    let (one, begun) = (try TestVault.machine(0), try TestVault.machine(1))
    try one.createOfFirstFormat()
    try one.takeOver()
    try Copies.copy(one, to: begun)
    try one.share()
    try one.meet(store)
    let phone = try TestVault.machine(2)
    try Copies.copy(one, to: phone)
    try phone.meet(store)
    try one.meet(store, compacts: true)
    let epoch = try one.epochOfShared()
    var other: TestVault
    repeat {
      other = try TestVault.machine(3)
      try Copies.copy(begun, to: other)
      try other.share()
    } while try other.epochOfShared() > epoch
    try other.meet(store)
    try one.meet(store)
    #expect(try one.epochOfShared() == other.epochOfShared())
    #expect(try one.told().report.round > 0)
  }

  @Test func `is begun once more by a machine that took another id`() throws {
    let (before, former) = (store.files, try second.settledDevice())
    let twin = try second.copiedDisk()
    try purge("a", second)
    try second.meet(store, compacts: true)
    try apart(from: before) {
      try twin.fill { try $0.put("of the twin", "1") }
      try twin.meet(store)
    }
    let bytes = try #require(try twin.lastHead())
    store.files[.head(former)] = bytes
    let sealed = try packs(first, third)
    try first.meet(store)
    try second.meet(store)
    #expect(try second.settledDevice() != former && twin.settledDevice() == former)
    try expectNothing(of: sealed, [first, second, third, twin])
    #expect(try round(of: second, followedBy: third) == second.told().report.round)
    #expect(try second.told().report.round > 0)
  }

  /// The second machine begins a round that the third one follows, and goes on under another id: a copy of its disk, which
  /// purged something and began a round at an earlier head, goes on under its own.
  ///
  /// - Returns: The copy, and what it left in the store.
  private func part() throws -> (twin: TestVault, news: [RemotePath]) {
    let (before, former) = (store.files, try second.settledDevice())
    let twin = try second.copiedDisk()
    for name in ["one", "more"] {
      try second.fill { try $0.put(name, "1") }
      try second.meet(store)
    }
    try second.meet(store, compacts: true)
    try third.meet(store)
    #expect(try round(of: second, followedBy: third) > 0)
    let known = Set(store.files.keys)
    try apart(from: before) {
      try purge("a", twin)
      try twin.meet(store, compacts: true)
    }
    #expect(try twin.told().report.round < second.told().report.round)
    store.files[.head(former)] = try twin.lastHead()
    let news = store.objects(of: former).filter { !known.contains($0) }
    try second.meet(store)
    #expect(try second.settledDevice() != former)
    return (twin, news)
  }

  @Test func `of a machine counts for nothing that another one began under its id`() throws {
    let (twin, news) = try part()
    // The third machine hears who is who before it has what the other one purged.
    let late = try news.filter { try packs(twin).contains($0) }.map {
      ($0, store.files.removeValue(forKey: $0))
    }
    #expect(!late.isEmpty)
    try third.meet(store)
    try third.meet(store)
    let sealed = try packs(third)
    for (path, object) in late { store.files[path] = object }
    try expectNothing(of: sealed, [first, second, third, twin])
    #expect(try round(of: twin, followedBy: third) == twin.told().report.round)
  }

  @Test func `is waited for where another one with the same id was followed`() throws {
    let (twin, _) = try part()
    #expect(try round(of: twin, followedBy: third) > twin.told().report.round)
    for machine in [first, twin, first, twin] {
      try machine.meet(store)
      #expect(try machine.awaited().contains(third.settledDevice()))
    }
    try expectNothing(of: [], [first, second, third, twin])
  }
}

extension TestVault {
  fileprivate func epochOfShared() throws -> DeviceTable.Epoch {
    let vault = try unlock()
    let epoch = try vault.epoch()
    vault.fold()
    return epoch
  }

  /// The last own head that arrived.
  fileprivate func lastHead() throws -> [UInt8]? {
    var vault = try unlock()
    let bytes = try vault.keptHead(of: vault.ownDevice())
    vault.fold()
    return bytes
  }
}
