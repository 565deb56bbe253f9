// SPDX-License-Identifier: MIT

extension Storage {
  /// A sealed piece of a large value; nil when there is no such row.
  @_lifetime(&self)
  package mutating func chunk(
    _ value: Span<UInt8>, _ number: UInt64
  ) throws(StorageError) -> Span<UInt8>? {
    let statement = unsafe try start(.chunk)
    unsafe bind(statement, 1, borrowing: value)
    unsafe bind(statement, 2, Int64(clamping: number))
    guard try step(.chunk) else { return nil }
    return try blob(.chunk, 0, Bounds.chunk, in: .chunk)
  }

  /// Writes a sealed piece.
  package mutating func storeChunk(
    _ value: Span<UInt8>, _ number: UInt64, _ data: Span<UInt8>
  ) throws(StorageError) {
    let statement = unsafe try start(.storeChunk)
    unsafe bind(statement, 1, borrowing: value)
    unsafe bind(statement, 2, Int64(clamping: number))
    unsafe bind(statement, 3, borrowing: data)
    _ = try step(.storeChunk)
  }

  /// Deletes the first pieces of a value.
  ///
  /// - Parameter limit: How many at most, so that one transaction stays short.
  /// - Returns: How many there were to delete.
  package mutating func deleteChunks(
    _ value: Span<UInt8>, limit: Int
  ) throws(StorageError) -> Int {
    let statement = unsafe try start(.deleteChunks)
    unsafe bind(statement, 1, borrowing: value)
    unsafe bind(statement, 2, Int64(limit))
    _ = try step(.deleteChunks)
    return changeCount
  }

  /// Reads the keys of pieces, in order, after a given one.
  ///
  /// - Parameters:
  ///   - last: Where the last call ended; a value without bytes to begin with.
  ///   - body: Is given value id and number of each.
  /// - Returns: How many there were; less than `limit` at the end.
  package mutating func chunkKeys(
    after last: KeyPair, limit: Int, _ body: (KeyPair) -> Void
  ) throws(StorageError) -> Int {
    try pairs(.chunkKeys, after: last, limit: limit, in: .chunk, body)
  }

  /// Reads the keys of kept revisions, item id and revision, as ``chunkKeys(after:limit:_:)`` does.
  package mutating func historyKeys(
    after last: KeyPair, limit: Int, _ body: (KeyPair) -> Void
  ) throws(StorageError) -> Int {
    try pairs(.historyKeys, after: last, limit: limit, in: .history, body)
  }

  private mutating func pairs(
    _ query: Query, after last: KeyPair, limit: Int, in table: Table, _ body: (KeyPair) -> Void
  ) throws(StorageError) -> Int {
    let statement = unsafe try start(query)
    defer { finish(query) }
    unsafe bind(statement, 1, copying: last.id.span)
    unsafe bind(statement, 2, last.number)
    unsafe bind(statement, 3, Int64(limit))
    var count = 0
    while try step(query) {
      // An id of another length is reported with its key, or it could not be told from the others.
      let id = try [UInt8](copying: blob(query, 0, 0...4_096, in: table))
      body(KeyPair(id: id, number: try integer(query, 1, Int64.min...Int64.max, in: table)))
      count += 1
    }
    return count
  }
}

/// Names a row of `chunk` or `history` by its two-part key.
package struct KeyPair: Hashable, Sendable {
  /// A value id or an item id.
  package var id: [UInt8]
  /// A chunk number or a revision.
  package var number: Int64

  package init(id: [UInt8], number: Int64) {
    self.id = id
    self.number = number
  }

  /// Before every key.
  package static var first: KeyPair { KeyPair(id: [], number: .min) }
}

// MARK: - Orphans

extension Storage {
  /// Whether a value is marked as one that no item refers to.
  package mutating func isOrphan(_ value: Span<UInt8>) throws(StorageError) -> Bool {
    let statement = unsafe try start(.loose)
    defer { finish(.loose) }
    unsafe bind(statement, 1, borrowing: value)
    return try step(.loose)
  }

  /// The mark after a given one, in order; nil at the end.
  package mutating func orphan(after value: [UInt8]) throws(StorageError) -> [UInt8]? {
    let statement = unsafe try start(.nextLoose)
    defer { finish(.nextLoose) }
    unsafe bind(statement, 1, copying: value.span)
    guard try step(.nextLoose) else { return nil }
    return try [UInt8](copying: blob(.nextLoose, 0, Bounds.id, in: .loose))
  }

  /// Marks a value as an orphan: one that no item refers to.
  package mutating func markOrphan(_ value: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.storeLoose)
    unsafe bind(statement, 1, borrowing: value)
    _ = try step(.storeLoose)
  }

  /// Takes the mark of an orphan away.
  package mutating func unmarkOrphan(_ value: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.deleteLoose)
    unsafe bind(statement, 1, borrowing: value)
    _ = try step(.deleteLoose)
  }
}
