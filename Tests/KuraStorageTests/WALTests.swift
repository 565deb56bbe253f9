// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraStorage

@Suite struct `A WAL` {
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
    // More than memory keeps, so that a part of it was written.
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

  @Test func `is moved into the file by commits, and begins anew`() throws {
    let file = try TestFile()
    var storage = try file.open()
    for round in 0..<10 as Range<UInt64> { try storage.storeChunks(from: round * 20, 20) }
    #expect(try file.size() > 100 * 65_536)
    #expect(try file.size("-wal") < 10_000_000)
  }

  @Test func `that a batch left is moved by the next commit`() throws {
    let file = try TestFile()
    var storage = try file.open()
    do {
      var batch = try Storage.openForBatch(at: file.path)
      try batch.storeChunks(from: 0, 200)
    }
    #expect(try file.size() < 1_000_000)
    try storage.storeChunks(from: 200, 1)
    #expect(try file.size() > 200 * 65_536)
  }

  @Test func `that a long transaction left gives the disk its room back`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.storeChunks(from: 0, 400)
    #expect(try file.size("-wal") > 20_000_000)
    try storage.storeChunks(from: 400, 1)
    #expect(try file.size("-wal") < 17_000_000)
  }
}

extension Storage {
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

extension TestFile {
  fileprivate func size(_ suffix: String = "") throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: path + suffix)
    return try #require(facts[.size] as? Int)
  }

  /// The vault and its WAL as they are now, elsewhere.
  fileprivate func copy() throws -> TestFile {
    let copy = try TestFile(creating: false)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
    }
    return copy
  }
}
