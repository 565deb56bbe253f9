// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraStorage

@Suite struct `Rows` {
  @Test func `of items come back as they were written`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let item = TestItem(
      facts: RevisionFacts(revision: 5, generation: 9, itemClass: 1, kind: 1),
      history: bytes(8, 80), meta: bytes(6, 584), body: bytes(7, 67_656))
    try storage.beginWrite()
    try TestItem().store(in: &storage)
    try item.store(in: &storage)
    if let row = try storage.item(item.tag.span) {
      #expect([UInt8](copying: row.tag) == item.tag)
      #expect([UInt8](copying: row.id) == item.id)
      #expect(row.facts == item.facts)
      #expect([UInt8](copying: row.history) == item.history)
      #expect([UInt8](copying: row.meta) == item.meta)
      #expect([UInt8](copying: row.body) == item.body)
    } else {
      Issue.record("no row")
    }
    #expect(try !storage.holds(bytes(9, 16)))
    try storage.commit()
  }

  @Test func `of items are scanned in tag order while others are read`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    for tag: UInt8 in [9, 3, 200, 0] { try TestItem(tag: bytes(tag, 16)).store(in: &storage) }
    try storage.commit()
    try storage.beginRead()
    var found: [UInt8] = []
    try storage.scanItems(from: bytes(3, 16).span)
    while let tag = try storage.nextTag() {
      found.append(tag)
      #expect(try storage.holds(bytes(0, 16)))
    }
    #expect(found == [3, 9, 200])
    storage.end()
  }

  @Test func `of the history belong to an item and a revision`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    for revision: UInt64 in [3, 1, 2] {
      let facts = RevisionFacts(revision: revision, generation: 1, itemClass: 0, kind: 0)
      try TestItem(facts: facts).keep(in: &storage)
    }
    try TestItem(id: bytes(9, 16)).keep(in: &storage)
    #expect(try storage.keeps(bytes(2, 16), 2))
    #expect(try !storage.keeps(bytes(2, 16), 4))
    try storage.deleteHistory(of: bytes(2, 16).span, revision: 2)
    var revisions: [UInt64] = []
    try storage.scanHistory(of: bytes(2, 16).span)
    while true {
      guard let row = try storage.nextHistory() else { break }
      revisions.append(row.facts.revision)
    }
    #expect(revisions == [1, 3])
    var keys: [KeyPair] = []
    #expect(try storage.historyKeys(after: .first, limit: 2) { keys.append($0) } == 2)
    #expect(try storage.historyKeys(after: keys[1], limit: 2) { keys.append($0) } == 1)
    #expect(keys.map(\.number) == [1, 3, 1])
    try storage.commit()
  }

  @Test func `of chunks are deleted in slices`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let (mine, other) = (bytes(1, 16), bytes(2, 16))
    try storage.beginWrite()
    for number in UInt64(0)..<5 {
      try storage.storeChunk(mine.span, number, bytes(UInt8(number), 65_608).span)
    }
    try storage.storeChunk(other.span, 0, bytes(7, 73).span)
    #expect(try storage.deleteChunks(mine.span, limit: 3) == 3)
    #expect(try storage.chunkCount(mine, 2) == nil)
    #expect(try storage.chunkCount(mine, 3) == 65_608)
    #expect(try storage.deleteChunks(mine.span, limit: 3) == 2)
    #expect(try storage.deleteChunks(mine.span, limit: 3) == 0)
    #expect(try storage.chunkCount(other, 0) == 73)
    try storage.commit()
  }

  @Test func `of orphans are marks`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    try storage.markOrphan(bytes(5, 16).span)
    try storage.markOrphan(bytes(1, 16).span)
    #expect(try storage.isOrphan(bytes(5, 16).span))
    #expect(try storage.orphan(after: []) == bytes(1, 16))
    #expect(try storage.orphan(after: bytes(1, 16)) == bytes(5, 16))
    #expect(try storage.orphan(after: bytes(5, 16)) == nil)
    try storage.unmarkOrphan(bytes(5, 16).span)
    #expect(try !storage.isOrphan(bytes(5, 16).span))
    try storage.commit()
  }

  @Test func `of the tree exist only where there is something`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    try storage.storeBucket(63, bytes(1, 96).span)
    try storage.storeBucket(7, bytes(1, 48).span)
    try storage.storeBucket(63, Span())
    #expect(try storage.bucketCount(63) == nil)
    #expect(try storage.bucketCount(7) == 48)
    #expect(try storage.bucketKeys(after: -1, limit: 9) == [7])
    try storage.storeNode(1 << 32 | 5, bytes(1, 2_048).span)
    #expect(try storage.nodeCount(1 << 32 | 5) == 2_048)
    #expect(try storage.nodeKeys(after: .min, limit: 9) == [1 << 32 | 5])
    try storage.storeNode(1 << 32 | 5, nil)
    #expect(try storage.nodeCount(1 << 32 | 5) == nil)
    try storage.commit()
  }

  @Test func `of slots come by number`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    let rows = [3, 1].map {
      SlotRow(
        number: $0, header: bytes($0, 48), key: bytes($0, 328),
        protected: $0 == 1 ? [] : bytes(9, 104))
    }
    for row in rows { try storage.storeSlot(row) }
    #expect(try storage.slots() == rows.reversed())
    try storage.deleteSlot(1)
    #expect(try storage.slots() == [rows[0]])
    try storage.commit()
  }
}

@Suite struct `A row that cannot be right` {
  private static let item = "INSERT INTO item VALUES"
  private static let good = "zeroblob(16), zeroblob(16)"

  @Test(arguments: [
    "\(item) (zeroblob(16), zeroblob(15), 1, 1, 0, 0, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 0, 1, 0, 0, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), -1, 1, 0, 0, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 4294967296, 0, 0, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 1, 2, 0, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 1, 0, 4, x'', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 1, 0, 0, x'00', zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 1, 0, 0, zeroblob(200000), zeroblob(328), zeroblob(328))",
    "\(item) (\(good), 1, 1, 0, 0, x'', zeroblob(327), zeroblob(328))",
    "\(item) (\(good), 1, 1, 0, 0, x'', zeroblob(328), zeroblob(67657))",
    "\(item) (\(good), 1, 1, 0, 0, x'', zeroblob(328), zeroblob(2000000))",
  ])
  func `in the table of items is not handed on`(insert: String) throws {
    let file = try TestFile()
    file.attack(insert)
    var storage = try file.open()
    try storage.beginRead()
    var error: StorageError?
    do throws(StorageError) { _ = try storage.holds(bytes(0, 16)) } catch let thrown {
      error = thrown
    }
    #expect(error == .damaged(.item) || error == .corrupt)
    storage.end()
  }

  @Test(arguments: [
    ("INSERT INTO part VALUES (2, zeroblob(900001))", Table.part),
    ("INSERT INTO slot VALUES (16, zeroblob(48), zeroblob(328), x'')", .slot),
    ("INSERT INTO slot VALUES (1, zeroblob(47), zeroblob(328), x'')", .slot),
    ("INSERT INTO slot VALUES (1, zeroblob(65537), zeroblob(328), x'')", .slot),
    ("INSERT INTO slot VALUES (1, zeroblob(48), zeroblob(65537), x'')", .slot),
    ("INSERT INTO slot VALUES (1, zeroblob(48), zeroblob(328), zeroblob(65537))", .slot),
    (
      "INSERT INTO history VALUES (zeroblob(16), 1, x'', 1, 0, 0, zeroblob(328), zeroblob(328))",
      .history
    ),
    ("INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(72))", .chunk),
    ("INSERT INTO chunk VALUES (zeroblob(16), 0, zeroblob(65609))", .chunk),
    ("INSERT INTO loose VALUES (zeroblob(17))", .loose),
    ("INSERT INTO bucket VALUES (0, zeroblob(47))", .bucket),
    ("INSERT INTO bucket VALUES (0, zeroblob(49))", .bucket),
    ("INSERT INTO node VALUES (0, zeroblob(2047))", .node),
  ])
  func `in another table is not handed on`(insert: String, table: Table) throws {
    let file = try TestFile()
    file.attack(insert)
    var storage = try file.open()
    try storage.beginRead()
    #expect(throws: StorageError.damaged(table)) {
      let id = bytes(0, 16)
      switch table {
      case .part: _ = try storage.copy(of: .root)
      case .slot: _ = try storage.slots()
      case .item: _ = try storage.holds(id)
      case .history: _ = try storage.keeps(id, 1)
      case .chunk: _ = try storage.chunkCount(id, 0)
      case .loose: _ = try storage.orphan(after: [])
      case .bucket: _ = try storage.bucketCount(0)
      case .node: _ = try storage.nodeCount(0)
      }
    }
    storage.end()
  }

  @Test func `among seventeen slots ends the reading`() throws {
    let file = try TestFile()
    for number in -1..<16 {
      file.attack("INSERT INTO slot VALUES (\(number), zeroblob(48), zeroblob(328), x'')")
    }
    var storage = try file.open()
    try storage.beginRead()
    #expect(throws: StorageError.damaged(.slot)) { try storage.slots() }
    storage.end()
  }

  @Test func `does not end a scan`() throws {
    let file = try TestFile()
    file.attack(
      "INSERT INTO item VALUES (x'00', x'', 1, 1, 0, 0, x'', zeroblob(328), zeroblob(328))")
    var storage = try file.open()
    try storage.beginWrite()
    try TestItem().store(in: &storage)
    try storage.commit()
    try storage.beginRead()
    try storage.scanItems(from: Span())
    #expect(throws: StorageError.damaged(.item)) { try storage.nextTag() }
    #expect(try storage.nextTag() == 1)
    storage.end()
  }
}
