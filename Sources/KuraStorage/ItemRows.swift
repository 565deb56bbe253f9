// SPDX-License-Identifier: MIT

/// Holds the numbers that the rows of `item` and `history` have in common.
package struct RevisionFacts: Equatable, Sendable {
  /// Which change of the item this is; the first is 1.
  package let revision: UInt64
  /// Which data key sealed it.
  package let generation: UInt32
  /// Standard (0) or protected (1).
  package let itemClass: UInt8
  /// A value (0) or a deleted item (1); 2 is reserved.
  package let kind: UInt8

  package init(revision: UInt64, generation: UInt32, itemClass: UInt8, kind: UInt8) {
    self.revision = revision
    self.generation = generation
    self.itemClass = itemClass
    self.kind = kind
  }
}

/// Lends a row of `item` or `history` out of the storage, or from whoever writes it.
package struct ItemRow: ~Escapable {
  /// Finds the item: 16 bytes made from its name.
  package let tag: Span<UInt8>
  /// Names the item for life: 16 random bytes.
  package let id: Span<UInt8>
  /// Its numbers.
  package let facts: RevisionFacts
  /// Kept revisions and their leaves, 40 bytes each; empty in a row of `history`.
  package let history: Span<UInt8>
  /// The sealed meta.
  package let meta: Span<UInt8>
  /// The sealed body.
  package let body: Span<UInt8>

  @_lifetime(copy tag, copy id, copy history, copy meta, copy body)
  package init(
    tag: Span<UInt8>, id: Span<UInt8>, facts: RevisionFacts, history: Span<UInt8>,
    meta: Span<UInt8>, body: Span<UInt8>
  ) {
    self.tag = tag
    self.id = id
    self.facts = facts
    self.history = history
    self.meta = meta
    self.body = body
  }
}

// MARK: - Current revisions

extension Storage {
  /// The current row of an item; nil when no row has this tag.
  @_lifetime(&self)
  package mutating func item(_ tag: Span<UInt8>) throws(StorageError) -> ItemRow? {
    let statement = unsafe try start(.item)
    unsafe bind(statement, 1, borrowing: tag)
    guard try step(.item) else { return nil }
    return try itemRow(.item)
  }

  /// Begins to read all items from a tag on, in tag order; other reads may stand in between.
  package mutating func scanItems(from tag: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.itemScan)
    unsafe bind(statement, 1, copying: tag)
  }

  /// The next row of the scan; nil at its end.
  ///
  /// - Throws: ``StorageError/damaged(_:)`` for a row that cannot be right; the scan can go on.
  @_lifetime(&self)
  package mutating func nextItem() throws(StorageError) -> ItemRow? {
    guard try step(.itemScan) else { return nil }
    return try itemRow(.itemScan)
  }

  /// The tags of the items that have a history, ascending, one behind the other.
  package mutating func itemsWithHistory(
    from first: Span<UInt8>, below end: Span<UInt8>
  ) throws(StorageError) -> [UInt8] {
    let statement = unsafe try start(.itemsWithHistory)
    unsafe bind(statement, 1, borrowing: first)
    unsafe bind(statement, 2, borrowing: end)
    defer { finish(.itemsWithHistory) }
    var tags: [UInt8] = []
    while try step(.itemsWithHistory) {
      let tag = try blob(.itemsWithHistory, 0, Bounds.id, in: .item)
      for index in tag.indices { tags.append(tag[index]) }
    }
    return tags
  }

  /// Writes the current row of an item in place of the one there.
  package mutating func storeItem(_ row: borrowing ItemRow) throws(StorageError) {
    let statement = unsafe try start(.storeItem)
    unsafe bind(statement, 1, borrowing: row.tag)
    unsafe bind(statement, 2, borrowing: row.id)
    unsafe bindFacts(statement, 3, row.facts)
    unsafe bind(statement, 7, borrowing: row.history)
    unsafe bind(statement, 8, borrowing: row.meta)
    unsafe bind(statement, 9, borrowing: row.body)
    _ = try step(.storeItem)
  }

  /// Deletes the current row of an item.
  package mutating func deleteItem(_ tag: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.deleteItem)
    unsafe bind(statement, 1, borrowing: tag)
    _ = try step(.deleteItem)
  }

  private var metaBounds: ClosedRange<Int> {
    version < Schema.newest ? Bounds.sealed : Bounds.longMeta
  }

  private var bodyBounds: ClosedRange<Int> {
    version < Schema.newest ? Bounds.sealed : Bounds.longBody
  }

  @_lifetime(borrow self)
  private borrowing func itemRow(_ query: Query) throws(StorageError) -> ItemRow {
    let history = try blob(query, 6, Bounds.history, in: .item)
    guard history.count % 40 == 0 else { throw .damaged(.item) }
    return ItemRow(
      tag: try blob(query, 0, Bounds.id, in: .item), id: try blob(query, 1, Bounds.id, in: .item),
      facts: try facts(query, 2, in: .item), history: history,
      meta: try blob(query, 7, metaBounds, in: .item),
      body: try blob(query, 8, bodyBounds, in: .item))
  }
}

// MARK: - Earlier revisions

extension Storage {
  /// A kept revision of an item; nil when there is no such row.
  @_lifetime(&self)
  package mutating func history(
    of item: Span<UInt8>, revision: UInt64
  ) throws(StorageError) -> ItemRow? {
    let statement = unsafe try start(.history)
    unsafe bind(statement, 1, borrowing: item)
    unsafe bind(statement, 2, Int64(clamping: revision))
    guard try step(.history) else { return nil }
    return try historyRow(.history)
  }

  /// Begins to read all rows that name this item, by revision.
  package mutating func scanHistory(of item: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.historyScan)
    unsafe bind(statement, 1, copying: item)
  }

  /// The next row of the scan; nil at its end.
  @_lifetime(&self)
  package mutating func nextHistory() throws(StorageError) -> ItemRow? {
    guard try step(.historyScan) else { return nil }
    return try historyRow(.historyScan)
  }

  /// Copies the current row of an item to the history; its own history is not copied.
  package mutating func keepItem(_ tag: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.keepItem)
    unsafe bind(statement, 1, borrowing: tag)
    _ = try step(.keepItem)
  }

  /// Writes a kept revision in place of the one there; its own history is not looked at.
  package mutating func storeHistory(_ row: borrowing ItemRow) throws(StorageError) {
    let statement = unsafe try start(.storeHistory)
    unsafe bind(statement, 1, borrowing: row.id)
    unsafe bind(statement, 2, Int64(row.facts.revision))
    unsafe bind(statement, 3, borrowing: row.tag)
    unsafe bind(statement, 4, Int64(row.facts.generation))
    unsafe bind(statement, 5, Int64(row.facts.itemClass))
    unsafe bind(statement, 6, Int64(row.facts.kind))
    unsafe bind(statement, 7, borrowing: row.meta)
    unsafe bind(statement, 8, borrowing: row.body)
    _ = try step(.storeHistory)
  }

  /// Drops a kept revision.
  package mutating func deleteHistory(
    of item: Span<UInt8>, revision: UInt64
  ) throws(StorageError) {
    let statement = unsafe try start(.deleteHistory)
    unsafe bind(statement, 1, borrowing: item)
    unsafe bind(statement, 2, Int64(clamping: revision))
    _ = try step(.deleteHistory)
  }

  @_lifetime(borrow self)
  private borrowing func historyRow(_ query: Query) throws(StorageError) -> ItemRow {
    let revision = try integer(query, 1, 1...Int64.max, in: .history)
    return ItemRow(
      tag: try blob(query, 2, Bounds.id, in: .history),
      id: try blob(query, 0, Bounds.id, in: .history),
      facts: RevisionFacts(
        revision: UInt64(revision),
        generation: UInt32(try integer(query, 3, 0...Int64(UInt32.max), in: .history)),
        itemClass: UInt8(try integer(query, 4, 0...1, in: .history)),
        kind: UInt8(try integer(query, 5, 0...3, in: .history))),
      history: Span(), meta: try blob(query, 6, metaBounds, in: .history),
      body: try blob(query, 7, bodyBounds, in: .history))
  }
}

// MARK: - Sealing again

extension Storage {
  /// Tells which data key a row says it is sealed under, before anything of it is verified.
  package struct SealedBy: Sendable {
    /// The item's id.
    package let id: [UInt8]
    /// The data key of the current revision.
    package let generation: UInt32
    /// The list of kept revisions, 40 bytes each.
    package let history: [UInt8]
  }

  /// Which data key sealed the current row of an item; nil when no row has this tag.
  package mutating func generation(of tag: Span<UInt8>) throws(StorageError) -> SealedBy? {
    let statement = unsafe try start(.itemGeneration)
    defer { finish(.itemGeneration) }
    unsafe bind(statement, 1, borrowing: tag)
    guard try step(.itemGeneration) else { return nil }
    let generation = try integer(.itemGeneration, 1, 0...Int64(UInt32.max), in: .item)
    return SealedBy(
      id: [UInt8](copying: try blob(.itemGeneration, 0, Bounds.id, in: .item)),
      generation: UInt32(generation),
      history: [UInt8](copying: try blob(.itemGeneration, 2, Bounds.history, in: .item)))
  }

  /// Which data key sealed a kept revision; nil when there is no such row.
  package mutating func generation(
    of item: Span<UInt8>, revision: UInt64
  ) throws(StorageError) -> UInt32? {
    let statement = unsafe try start(.historyGeneration)
    defer { finish(.historyGeneration) }
    unsafe bind(statement, 1, borrowing: item)
    unsafe bind(statement, 2, Int64(clamping: revision))
    guard try step(.historyGeneration) else { return nil }
    return UInt32(try integer(.historyGeneration, 0, 0...Int64(UInt32.max), in: .history))
  }
}

// MARK: - Numbers

extension Storage {
  private borrowing func facts(
    _ query: Query, _ column: Int32, in table: Table
  ) throws(StorageError) -> RevisionFacts {
    RevisionFacts(
      revision: UInt64(try integer(query, column, 1...Int64.max, in: table)),
      generation: UInt32(try integer(query, column + 1, 0...Int64(UInt32.max), in: table)),
      itemClass: UInt8(try integer(query, column + 2, 0...1, in: table)),
      kind: UInt8(try integer(query, column + 3, 0...3, in: table)))
  }
}

private func bindFacts(_ statement: OpaquePointer, _ first: Int32, _ facts: RevisionFacts) {
  unsafe bind(statement, first, Int64(facts.revision))
  unsafe bind(statement, first + 1, Int64(facts.generation))
  unsafe bind(statement, first + 2, Int64(facts.itemClass))
  unsafe bind(statement, first + 3, Int64(facts.kind))
}
