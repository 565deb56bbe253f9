// SPDX-License-Identifier: MIT

// What a shared vault keeps of its store, beside the records of which there is one.

extension Storage {
  /// Whether there are tables for it.
  package var isShared: Bool { hasSharing }

  /// Deletes what a copy of the newest layout knows of others, and what it keeps to tell them.
  package mutating func forgetCopies() throws(StorageError) {
    for part in [Part.devices, .remote] {
      let statement = unsafe try start(.deletePart)
      unsafe bind(statement, 1, part.rawValue)
      _ = try step(.deletePart)
    }
    try deleteJournal(from: 1)
    guard isShared else { return }
    for table in Schema.sharing { try execute("DELETE FROM \(table.name)") }
  }

  // MARK: - Heads

  /// The head of a device that was kept; nil for none.
  @_lifetime(&self)
  package mutating func head(of device: Span<UInt8>) throws(StorageError) -> Span<UInt8>? {
    guard isShared else { return nil }
    let statement = unsafe try start(.head)
    unsafe bind(statement, 1, borrowing: device)
    guard try step(.head) else { return nil }
    return try blob(.head, 0, Bounds.head, in: .part)
  }

  /// Keeps a head in place of the one that there was.
  package mutating func storeHead(
    of device: Span<UInt8>, _ data: Span<UInt8>
  ) throws(StorageError) {
    let statement = unsafe try start(.storeHead)
    unsafe bind(statement, 1, borrowing: device)
    unsafe bind(statement, 2, borrowing: data)
    _ = try step(.storeHead)
  }

  /// Forgets the head of a device.
  package mutating func deleteHead(of device: Span<UInt8>) throws(StorageError) {
    let statement = unsafe try start(.deleteHead)
    unsafe bind(statement, 1, borrowing: device)
    _ = try step(.deleteHead)
  }

  /// The devices of which there is a head, ascending; one may have any length.
  ///
  /// - Parameter limit: How many at most.
  package mutating func heads(limit: Int) throws(StorageError) -> [[UInt8]] {
    guard isShared else { return [] }
    let statement = unsafe try start(.heads)
    defer { finish(.heads) }
    unsafe bind(statement, 1, Int64(limit))
    var devices: [[UInt8]] = []
    while try step(.heads) {
      devices.append(try [UInt8](copying: blob(.heads, 0, 0...4_096, in: .part)))
    }
    return devices
  }

  // MARK: - Places of values

  /// Where a long value stands in the store; nil where that is not known.
  @_lifetime(&self)
  package mutating func place(of value: Span<UInt8>) throws(StorageError) -> Span<UInt8>? {
    guard isShared else { return nil }
    let statement = unsafe try start(.place)
    unsafe bind(statement, 1, borrowing: value)
    guard try step(.place) else { return nil }
    return try blob(.place, 0, Bounds.place, in: .part)
  }

  /// Notes where a long value stands.
  package mutating func storePlace(
    of value: Span<UInt8>, _ data: Span<UInt8>
  ) throws(StorageError) {
    let statement = unsafe try start(.storePlace)
    unsafe bind(statement, 1, borrowing: value)
    unsafe bind(statement, 2, borrowing: data)
    _ = try step(.storePlace)
  }

  /// Forgets where a long value stands.
  package mutating func deletePlace(of value: Span<UInt8>) throws(StorageError) {
    guard isShared else { return }
    let statement = unsafe try start(.deletePlace)
    unsafe bind(statement, 1, borrowing: value)
    _ = try step(.deletePlace)
  }

  /// The value behind another one of which it is known where it stands; one may have any length.
  ///
  /// - Parameter value: Without bytes to begin with.
  package mutating func placedValue(after value: [UInt8]) throws(StorageError) -> [UInt8]? {
    guard isShared else { return nil }
    let statement = unsafe try start(.nextPlace)
    defer { finish(.nextPlace) }
    unsafe bind(statement, 1, copying: value.span)
    guard try step(.nextPlace) else { return nil }
    return try [UInt8](copying: blob(.nextPlace, 0, 0...4_096, in: .part))
  }

  // MARK: - The journal

  /// A row of the journal; nil behind the last.
  ///
  /// - Parameter number: From 1; the next one there is from here on.
  package mutating func journalRow(
    from number: Int64
  ) throws(StorageError) -> (number: Int64, data: [UInt8])? {
    let statement = unsafe try start(.journalScan)
    defer { finish(.journalScan) }
    unsafe bind(statement, 1, number)
    guard try step(.journalScan) else { return nil }
    return (
      try integer(.journalScan, 0, 1...Int64.max, in: .part),
      try [UInt8](copying: blob(.journalScan, 1, Bounds.journal, in: .part))
    )
  }

  /// Writes a row of the journal in place of what stands there.
  package mutating func storeJournal(
    row number: Int64, _ data: Span<UInt8>
  ) throws(StorageError) {
    let statement = unsafe try start(.storeJournal)
    unsafe bind(statement, 1, number)
    unsafe bind(statement, 2, borrowing: data)
    _ = try step(.storeJournal)
  }

  /// Deletes the rows of the journal from one on.
  package mutating func deleteJournal(from number: Int64) throws(StorageError) {
    let statement = unsafe try start(.deleteJournal)
    unsafe bind(statement, 1, number)
    _ = try step(.deleteJournal)
  }
}
