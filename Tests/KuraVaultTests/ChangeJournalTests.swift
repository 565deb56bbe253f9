// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `The journal of a vault` {
  /// What is in the journal: counter, and whether an item was changed.
  private func facts(_ vault: inout UnlockedVault) throws -> [String] {
    try vault.journal().map { "\($0.counter)\($0.item == .zero ? "" : " item")" }
  }

  @Test func `has each change once it is shared, and none before`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    var vault = try file.unlock()
    try vault.put("a", "1")
    #expect(try vault.journal() == [])
    try vault.beginStore()
    #expect(try vault.journal() == [])
    try vault.put("a", "2")
    try vault.put("b", "1")
    _ = try vault.move(Array("b".utf8).span, to: Array("c".utf8).span)
    try vault.setPolicy(.historyDepth, to: 20)
    _ = try vault.purge(Array("c".utf8).span, .item)
    try vault.remove("a")
    _ = try vault.restore(Array("a".utf8).span)
    _ = try vault.protect(Array("a".utf8).span)
    let made = try vault.journal()
    #expect(
      try facts(&vault) == [
        "2 item", "3 item", "4 item", "5", "6 item", "7 item", "8 item", "9 item",
      ])
    #expect(made[0].item == made[7].item && made[1].item == made[2].item)
    #expect(Set(made.map(\.revision)).count == made.count)
    #expect(made[1].item != made[0].item)
    // The row has the revision that the journal has.
    let items = try vault.packableItems(beyond: .nothing)
    #expect(Set(items.map(\.id)) == Set(made.map(\.item)).subtracting([.zero]))
    #expect(try vault.findings() == [])
    // What comes to nothing is not in it.
    #expect(throws: VaultError.exists(revision: 4)) { try vault.put("a", "x", .create) }
    #expect(try vault.journal() == made)
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.journal() == made)
    vault.fold()
  }

  @Test func `has the revisions that stand in the rows`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let record = try #require(try vault.journal().first)
    let item = try #require(try vault.packableItems(beyond: .nothing).first)
    let copy = try vault.reading { vault throws(VaultError) in
      try vault.item(item.id, item.tag, CopyDifference(of: [], at: []))
    }
    let stamp = try #require(copy?.rows.first?.stamp)
    #expect(record.item == item.id && record.revision == stamp.id)
    #expect(record.counter == stamp.entry.counter)
    vault.fold()
  }

  @Test func `has the changes of a batch in their order`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    for number in [3, 77, 140] { try vault.put("n\(number)", "before") }
    try vault.putAll(200)
    let counters = try vault.journal().map(\.counter)
    #expect(counters.count == 203 && counters == counters.sorted() && Set(counters).count == 203)
    #expect(file.attack("SELECT count(*) FROM journal") == ["4"])
    #expect(try vault.findings() == [])
    vault.fold()
  }

  @Test(arguments: [
    "DELETE FROM journal WHERE number = 3", "DELETE FROM journal WHERE number = 1",
    "UPDATE journal SET number = 9 WHERE number = 3",
    "UPDATE journal SET data = zeroblob(328) WHERE number = 1",
    "UPDATE journal SET data = (SELECT data FROM journal WHERE number = 1) WHERE number = 2",
    "INSERT INTO journal SELECT 4, data FROM journal WHERE number = 1",
    "INSERT INTO journal SELECT 0, data FROM journal WHERE number = 1",
  ])
  func `is the one that the root vouches for`(_ attack: String) throws {
    let file = try Shared.file()
    try file.fill { vault throws in try vault.putAll(140) }
    file.attack(attack)
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.header)) { _ = try vault.journal() }
    #expect(try vault.findings() == ["header: journal"])
    vault.fold()
  }

  @Test func `does not go back by itself`() throws {
    let file = try Shared.file()
    try file.fill { vault throws in try vault.put("a", "1") }
    let before = file.attack("SELECT hex(data) FROM journal")[0]
    try file.fill { vault throws in try vault.put("a", "2") }
    file.attack("UPDATE journal SET data = x'\(before)'")
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.header)) { _ = try vault.journal() }
    #expect(try vault.findings() == ["header: journal"])
    // What goes on behind it does not make it right.
    #expect(throws: VaultError.damaged(.header)) { try vault.put("a", "3") }
    vault.fold()
    file.attack("DELETE FROM journal")
    vault = try file.unlock()
    #expect(throws: VaultError.damaged(.header)) { try vault.put("a", "4") }
    vault.fold()
  }

  @Test func `goes over to another vault key, and ends with its copy`() throws {
    let pair = try Copies()
    var made: [JournalRecord] = []
    try pair.here { vault throws in
      try vault.share()
      try vault.putAll(100)
      made = try vault.journal()
      _ = try vault.rekey(pair.first.key())
      #expect(try vault.journal() == made && vault.findings() == [])
      try vault.put("more", "1")
      #expect(try vault.journal().count == made.count + 1)
    }
    try pair.part()
    // Another machine counts from 1.
    try pair.there { vault throws in
      #expect(try vault.journal().count == made.count + 1)
      try vault.put("there", "1")
      #expect(try vault.journal().map(\.counter) == [1])
      #expect(try vault.findings() == [])
    }
    let third = try TestVault(creating: false)
    third.machine = pair.second.machine
    try Copies.copy(pair.first, to: third)
    try third.fill { vault throws in
      _ = try vault.rekey(third.key())
      #expect(try vault.journal() == [] && vault.findings() == [])
    }
  }

  @Test func `has what a merge of settings and slots makes, and no revision that it takes`() throws
  {
    let pair = try Copies()
    try pair.here { vault throws in try vault.beginStore() }
    try pair.part()
    try pair.there { vault throws in try vault.put("b", "1") }
    #expect(try pair.merge().added == 1)
    try pair.here { vault throws in
      #expect(try vault.journal() == [] && vault.findings() == [])
    }
  }
}

extension UnlockedVault {
  /// Stores so many items as one batch, of which some may be there.
  fileprivate mutating func putAll(_ count: Int) throws {
    let items = (0..<count).map { Given("n\($0)", "value") }
    #expect(try store(items, replacing: true).stored == count)
  }
}
