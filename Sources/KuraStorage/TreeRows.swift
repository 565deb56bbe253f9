// SPDX-License-Identifier: MIT

internal import CSQLite

extension Storage {
  /// The leaves of a bucket; nil when there is no such row.
  @_lifetime(&self)
  package mutating func bucket(_ number: UInt32) throws(StorageError) -> Span<UInt8>? {
    let statement = unsafe try start(.bucket)
    unsafe bind(statement, 1, Int64(number))
    guard try step(.bucket) else { return nil }
    let leaves = try blob(.bucket, 0, Bounds.leaves, in: .bucket)
    guard leaves.count % 48 == 0 else { throw .damaged(.bucket) }
    return leaves
  }

  /// Writes the leaves of a bucket; without leaves there is no row.
  package mutating func storeBucket(
    _ number: UInt32, _ leaves: Span<UInt8>
  ) throws(StorageError) {
    let query = leaves.isEmpty ? Query.deleteBucket : .storeBucket
    let statement = unsafe try start(query)
    unsafe bind(statement, 1, Int64(number))
    if !leaves.isEmpty { unsafe bind(statement, 2, borrowing: leaves) }
    _ = try step(query)
  }

  /// The child digests of a node; nil when there is no such row.
  @_lifetime(&self)
  package mutating func node(_ id: Int64) throws(StorageError) -> Span<UInt8>? {
    let statement = unsafe try start(.node)
    unsafe bind(statement, 1, id)
    guard try step(.node) else { return nil }
    return try blob(.node, 0, Bounds.digests, in: .node)
  }

  /// Writes the child digests of a node; nil deletes the row.
  package mutating func storeNode(_ id: Int64, _ digests: Span<UInt8>?) throws(StorageError) {
    let query = digests == nil ? Query.deleteNode : .storeNode
    let statement = unsafe try start(query)
    unsafe bind(statement, 1, id)
    if let digests { unsafe bind(statement, 2, borrowing: digests) }
    _ = try step(query)
  }

  /// Reads the keys of `bucket`, ascending, after a given one.
  ///
  /// - Returns: At most `limit` of them.
  package mutating func bucketKeys(
    after last: Int64, limit: Int
  ) throws(StorageError) -> [Int64] {
    try keys(.bucketKeys, in: .bucket, after: last, limit: limit)
  }

  /// Reads the keys of `node`, ascending, after a given one.
  ///
  /// - Returns: At most `limit` of them.
  package mutating func nodeKeys(after last: Int64, limit: Int) throws(StorageError) -> [Int64] {
    try keys(.nodeKeys, in: .node, after: last, limit: limit)
  }

  /// Reads the keys of `part`, ascending, after a given one.
  ///
  /// - Returns: At most `limit` of them.
  package mutating func partKeys(after last: Int64, limit: Int) throws(StorageError) -> [Int64] {
    try keys(.partKeys, in: .part, after: last, limit: limit)
  }

  private mutating func keys(
    _ query: Query, in table: Table, after last: Int64, limit: Int
  ) throws(StorageError) -> [Int64] {
    let statement = unsafe try start(query)
    defer { finish(query) }
    unsafe bind(statement, 1, last)
    unsafe bind(statement, 2, Int64(limit))
    var keys: [Int64] = []
    while try step(query) {
      keys.append(try integer(query, 0, Int64.min...Int64.max, in: table))
    }
    return keys
  }

  /// How many rows the last statement changed.
  var changeCount: Int { Int(unsafe sqlite3_changes64(db)) }
}
