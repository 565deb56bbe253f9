// SPDX-License-Identifier: MIT

internal import CSQLite

extension Storage {
  /// The fewest and the most pages of the file, of 4 KiB, that a connection keeps in memory.
  private static let fewestPages: Int64 = 512
  private static let mostPages: Int64 = 2_048
  /// How many pages of the file there are to one that is kept: room for the inner pages that most ways to
  /// an item have in common. (An inner page has some five below it.)
  private static let pagesToCached: Int64 = 64
  /// How many pages a batch's own connection keeps: what it changed beyond goes to the journal early.
  private static let batchPages: Int64 = 1_024

  /// Makes room in memory for as many pages as suits the file as long as it is now.
  package mutating func fitCache() throws(StorageError) {
    _ = unsafe try start(.pageCount)
    guard try step(.pageCount) else { throw .corrupt }
    let count = try integer(.pageCount, 0, 0...Int64.max, in: .part)
    finish(.pageCount)
    let fitting = count / Self.pagesToCached
    try cache(min(max(fitting, Self.fewestPages), Self.mostPages))
  }

  /// Opens a vault file to write a batch: no journal is moved into the file at a commit,
  /// ``checkpoint()`` is called for that.
  package static func openForBatch(at path: String) throws(StorageError) -> Storage {
    let storage = try open(at: path)
    storage.leaveJournal()
    try storage.cache(batchPages)
    return storage
  }

  private borrowing func cache(_ pages: Int64) throws(StorageError) {
    try execute("PRAGMA cache_size=\(pages)")
  }
}
