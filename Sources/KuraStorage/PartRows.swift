// SPDX-License-Identifier: MIT

/// Names the records that a vault has one of.
package enum Part: Int64, Equatable, Sendable {
  /// What a reader needs before any key: format and vault id.
  case header = 0
  /// The sealed key ring.
  case ring = 1
  /// The sealed root of the integrity tree.
  case root = 2
  /// What copies know of each other, sealed; in the newest layout alone, and there not always.
  case devices = 3
  /// What a shared vault remembers of its store, sealed; likewise.
  case remote = 4
}

extension Storage {
  /// A record of which there is one; nil when the row is missing.
  @_lifetime(&self)
  package mutating func part(_ part: Part) throws(StorageError) -> Span<UInt8>? {
    let statement = unsafe try start(.part)
    unsafe bind(statement, 1, part.rawValue)
    guard try step(.part) else { return nil }
    return try blob(.part, 0, Bounds.part, in: .part)
  }

  /// Whether the tables have the newest layout.
  package var isNewest: Bool { version == Schema.newest }

  /// Writes a record in place of what stands there.
  package mutating func storePart(_ part: Part, _ data: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.storePart)
    unsafe bind(statement, 1, part.rawValue)
    unsafe bind(statement, 2, borrowing: data)
    _ = try step(.storePart)
  }
}

/// Holds a key slot as it stands in its row.
package struct SlotRow: Hashable, Sendable {
  /// Where it stands, 0 to 15.
  package let number: UInt8
  /// In clear; 48 bytes, of a kind for a later release more.
  package let header: [UInt8]
  /// The vault key, sealed.
  package let key: [UInt8]
  /// The protected secret, sealed; empty when the slot does not hold it.
  package let protected: [UInt8]

  package init(number: UInt8, header: [UInt8], key: [UInt8], protected: [UInt8]) {
    self.number = number
    self.header = header
    self.key = key
    self.protected = protected
  }
}

extension Storage {
  /// The largest number of slots that a vault may have.
  package static let slotLimit = 16

  /// All key slots, by number. Which lengths they must have hangs on their kinds, and is not asked here.
  ///
  /// - Throws: ``StorageError/damaged(_:)`` also for more than 16 rows, of which the rest is not read.
  package mutating func slots() throws(StorageError) -> [SlotRow] {
    _ = unsafe try start(.slots)
    defer { finish(.slots) }
    var rows: [SlotRow] = []
    while try step(.slots) {
      guard rows.count < Self.slotLimit else { throw .damaged(.slot) }
      let number = try integer(.slots, 0, 0...Int64(Self.slotLimit - 1), in: .slot)
      let header = try [UInt8](copying: blob(.slots, 1, Bounds.slotHeader, in: .slot))
      let key = try [UInt8](copying: blob(.slots, 2, Bounds.slotSealed, in: .slot))
      let protected = try [UInt8](copying: blob(.slots, 3, Bounds.slotSealed, in: .slot))
      rows.append(SlotRow(number: UInt8(number), header: header, key: key, protected: protected))
    }
    return rows
  }

  /// Writes a slot in place of what stands there; the old bytes are overwritten.
  package mutating func storeSlot(_ row: SlotRow) throws(StorageError) {
    let statement = unsafe try start(.storeSlot)
    unsafe bind(statement, 1, Int64(row.number))
    unsafe bind(statement, 2, copying: row.header.span)
    unsafe bind(statement, 3, copying: row.key.span)
    unsafe bind(statement, 4, copying: row.protected.span)
    _ = try step(.storeSlot)
  }

  /// Deletes a slot; its bytes are overwritten.
  package mutating func deleteSlot(_ number: UInt8) throws(StorageError) {
    let statement = unsafe try start(.deleteSlot)
    unsafe bind(statement, 1, Int64(number))
    _ = try step(.deleteSlot)
  }
}

extension [UInt8] {
  /// The bytes of a view, kept.
  package init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
  }

  /// Adds the bytes of a view.
  package mutating func append(copying span: Span<UInt8>) {
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Copies the bytes of a view over what was held before, into the same memory where they fit.
  package mutating func replace(with span: Span<UInt8>) {
    removeAll(keepingCapacity: true)
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
