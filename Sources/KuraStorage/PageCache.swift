// SPDX-License-Identifier: MIT

internal import CSQLite

extension Storage {
  /// The fewest and the most bytes of the file's pages that a connection keeps in memory.
  private static let fewestBytes = 2_097_152
  private static let mostBytes = 8_388_608
  /// How many pages of the file there are to one that is kept: room for the inner pages that most ways to
  /// an item have in common. (An inner page has some five below it.)
  private static let pagesToCached = 64
  /// How many bytes a batch's own connection keeps: what it changed beyond goes to the WAL early.
  private static let batchBytes = 4_194_304

  /// Makes room in memory for as many pages as suits the file as long as it is now.
  package mutating func fitCache() throws(StorageError) {
    let bytes = try number(.pageCount, 0...Int64(UInt32.max)) * (try pageSize)
    try cache(min(max(bytes / Self.pagesToCached, Self.fewestBytes), Self.mostBytes))
  }

  /// How much of the file nothing stands in, all of it, and a page, in bytes.
  package mutating func space() throws(StorageError) -> (free: Int, all: Int, pageSize: Int) {
    let pageSize = try pageSize
    let all = try number(.pageCount, 0...Int64(UInt32.max)) * pageSize
    return (min(try number(.freeCount, 0...Int64(UInt32.max)) * pageSize, all), all, pageSize)
  }

  /// Opens a vault file to write a batch.
  package static func openForBatch(at path: String) throws(StorageError) -> Storage {
    var storage = try open(at: path)
    try storage.watchWAL(isOfBatch: true)
    try storage.cache(batchBytes)
    return storage
  }

  private mutating func cache(_ bytes: Int) throws(StorageError) {
    try execute("PRAGMA cache_size=\(bytes / (try pageSize))")
  }

  /// The bytes of a page of the file.
  var pageSize: Int {
    mutating get throws(StorageError) { try number(.pageSize, 512...65_536) }
  }

  /// What SQLite says of the file in one number.
  private mutating func number(
    _ query: Query, _ range: ClosedRange<Int64>
  ) throws(StorageError) -> Int {
    _ = unsafe try start(query)
    defer { finish(query) }
    guard try step(query) else { throw .corrupt }
    return Int(try integer(query, 0, range, in: .part))
  }
}
