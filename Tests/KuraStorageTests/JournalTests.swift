// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraStorage

@Suite struct `A journal` {
  @Test(arguments: [1, 5, 40])
  func `holds all of a transaction when its commit returns`(count: UInt64) throws {
    let file = try TestFile()
    var storage = try file.open()
    for round in 0..<3 as Range<UInt64> {
      try storage.storeChunks(from: round * count, count)
      // As a crash would leave them: nothing was closed or moved.
      let copy = try file.copy()
      var other = try copy.open()
      try other.beginRead()
      for number in 0..<(round + 1) * count {
        #expect(try other.chunkCount(bytes(1, 16), number) == 65_608)
      }
      other.end()
    }
  }

  @Test func `holds nothing of a transaction that was given up`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.storeChunks(from: 0, 3)
    // More than memory keeps, so that a part of it was written, and what waited is not.
    try storage.beginWrite(durable: false)
    for number in 3..<150 as Range<UInt64> {
      try storage.storeChunk(bytes(1, 16).span, number, bytes(7, 65_608).span)
    }
    storage.end()
    try storage.storeChunks(from: 3, 2)
    var other = try file.copy().open()
    try other.beginRead()
    #expect(try other.chunkCount(bytes(1, 16), 4) == 65_608)
    #expect(try other.chunkCount(bytes(1, 16), 5) == nil)
    other.end()
    file.attack("PRAGMA integrity_check")
  }

  @Test func `is moved by another connection, and begins anew`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let isIdle1 = noMove(&storage)
    #expect(isIdle1)
    try storage.storeChunks(from: 0, 200)
    let move = try storage.requireMove()
    // One at a time.
    let isIdle2 = noMove(&storage)
    #expect(isIdle2)
    #expect(try file.size() < 1_000_000)
    move.run()
    #expect(try file.size() > 200 * 65_536)
    let isIdle3 = noMove(&storage)
    #expect(isIdle3)
    let long = try file.size("-wal")
    for round in 1..<4 as Range<UInt64> {
      try storage.storeChunks(from: round * 200, 200)
      try storage.requireMove().run()
    }
    #expect(try file.size("-wal") < long + long / 4)
  }

  @Test func `is moved by commits where nobody else does`() throws {
    let file = try TestFile()
    var storage = try file.open()
    for round in 0..<10 as Range<UInt64> { try storage.storeChunks(from: round * 20, 20) }
    #expect(try file.size() > 100 * 65_536)
    #expect(try file.size("-wal") < 10_000_000)
  }

  @Test func `is cleared while its move has not begun, which finds nothing to do then`() throws {
    let file = try TestFile()
    var storage = try file.open()
    _ = storage.takeJournalMove()
    try storage.storeChunks(from: 0, 200)
    let move = try storage.requireMove()
    try storage.truncateJournal()
    #expect(try file.size("-wal") == 0)
    let size = try file.size()
    move.run()
    #expect(try file.size() == size)
    #expect(try file.size("-wal") == 0)
  }

  @Test func `that is full has those wait who can, until all of it was moved`() throws {
    let file = try TestFile()
    var storage = try file.open()
    _ = storage.takeJournalMove()
    try storage.storeChunks(from: 0, 200)
    let first = try storage.requireMove()
    var isFull = storage.isJournalFull
    #expect(!isFull)
    for round in 1..<5 as Range<UInt64> { try storage.storeChunks(from: round * 200, 200) }
    isFull = storage.isJournalFull
    #expect(isFull)
    #expect(try file.size() < 1_000_000)
    first.run()
    #expect(try file.size() > 900 * 65_536)
    // A move that was asked for before the last commit may have left out what that wrote.
    let second = try storage.requireMove()
    isFull = storage.isJournalFull
    #expect(isFull)
    second.run()
    let isIdle = noMove(&storage)
    #expect(isIdle)
    isFull = storage.isJournalFull
    #expect(!isFull)
    let long = try file.size("-wal")
    try storage.storeChunks(from: 1_000, 200)
    #expect(try file.size("-wal") <= long)
  }

  @Test func `keeps its room until all of it is in the file`() throws {
    let file = try TestFile()
    var storage = try file.open()
    _ = storage.takeJournalMove()
    try storage.storeChunks(from: 0, 200)
    var isLong = storage.hasLongJournal
    #expect(!isLong)
    let move = try storage.requireMove()
    isLong = storage.hasLongJournal
    #expect(!isLong)
    move.run()
    isLong = storage.hasLongJournal
    #expect(isLong)
    try storage.truncateJournal()
    isLong = storage.hasLongJournal
    #expect(!isLong)
  }

  @Test func `that another connection wrote is moved as its own`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let isIdle1 = noMove(&storage)
    #expect(isIdle1)
    var other = try Storage.openForBatch(at: file.path)
    try other.storeChunks(from: 0, 200)
    let isIdle2 = noMove(&storage)
    #expect(isIdle2)
    storage.noteJournal(of: other)
    try storage.requireMove().run()
    #expect(try file.size() > 200 * 65_536)
  }
}

extension Storage {
  // Macros take no mutating calls of what cannot be copied.
  fileprivate mutating func requireMove() throws -> JournalMove {
    let move = takeJournalMove()
    return try #require(move)
  }

  /// Stores pieces of a value in a transaction that need not be durable.
  fileprivate mutating func storeChunks(from first: UInt64, _ count: UInt64) throws {
    try beginWrite(durable: false)
    defer { end() }
    for number in first..<first + count {
      try storeChunk(bytes(1, 16).span, number, bytes(UInt8(number % 251), 65_608).span)
    }
    try commit()
  }
}

private func noMove(_ storage: inout Storage) -> Bool { storage.takeJournalMove() == nil }

extension TestFile {
  fileprivate func size(_ suffix: String = "") throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: path + suffix)
    return try #require(facts[.size] as? Int)
  }

  /// The vault and its journal as they are now, elsewhere.
  fileprivate func copy() throws -> TestFile {
    let copy = try TestFile(creating: false)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
    }
    return copy
  }
}
