// SPDX-License-Identifier: MIT

public import SecureMemory

/// Writes what is sealed as a pack, record by record in their order.
public struct PackWriter: ~Copyable {
  private var records: SecretBuffer
  private var recordCount: UInt32 = 0
  private var values: [PackedValue] = []
  private var rowsLeft = 0

  /// Holds a pack of nothing.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public init() throws(FormatError) {
    do { records = try SecretBuffer(capacity: 4_096) } catch { throw .outOfMemory }
  }

  /// How many bytes the pack will have, before it is padded.
  public var byteCount: Int {
    2 + values.reduce(0) { $0 + $1.byteCount } + 4 + records.count
  }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { recordCount == 0 }

  /// Says where a long value is that a row refers to; in any order, once.
  public mutating func add(_ value: PackedValue) { values.append(value) }

  /// Begins an item, whose rows follow.
  ///
  /// - Parameters:
  ///   - item: The next one by its id.
  ///   - purged: What was purged of it.
  ///   - rows: How many rows there will be; at least 1.
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func add(
    item: ItemID, purged: RevisionVector, rows: Int
  ) throws(FormatError) {
    precondition(rowsLeft == 0 && (1...Int(UInt16.max)).contains(rows), "rows were counted")
    var bytes: [UInt8] = [1]
    bytes.append(item)
    purged.append(to: &bytes)
    bytes.append(integer: UInt16(rows))
    try begin(bytes)
    rowsLeft = rows
  }

  /// Adds a row of the item at hand.
  ///
  /// - Parameters:
  ///   - number: Of a revision that was made in format 1, and has a meta of that; else 0.
  ///   - protection: How the value is kept.
  ///   - kind: What the item is.
  ///   - meta: As it is sealed in a vault, without the other sides.
  ///   - body: As it is sealed in a vault.
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func add(
    row number: UInt64, _ protection: ProtectionClass, _ kind: ItemKind, meta: Span<UInt8>,
    body: Span<UInt8>
  ) throws(FormatError) {
    precondition(rowsLeft > 0, "rows stand in an item")
    rowsLeft -= 1
    var head: [UInt8] = []
    head.append(integer: number)
    head += [protection.rawValue, kind.rawValue]
    do {
      try records.append(head.span)
      try records.append(integer: UInt32(meta.count))
      try records.append(meta)
      try records.append(integer: UInt32(body.count))
      try records.append(body)
    } catch { throw .outOfMemory }
  }

  /// Adds a setting, which is none of those that stay.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func add(_ setting: SettingSides) throws(FormatError) {
    precondition(!SettingSides.stays(setting.key), "it is this machine's own")
    var bytes: [UInt8] = [2]
    setting.append(to: &bytes)
    try begin(bytes)
  }

  /// Adds the slot table, by 1 to 255 sides ascending by their ids.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func add(_ slots: [SlotTableSide]) throws(FormatError) {
    precondition((1...CopyLedger.mostSides).contains(slots.count), "sides were counted")
    var bytes: [UInt8] = [3, UInt8(slots.count)]
    for side in slots { side.append(to: &bytes) }
    try begin(bytes)
  }

  /// Adds what is noted of slots of the table, which was added just before, but for where key files are.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func add(_ notes: SlotNotes) throws(FormatError) {
    precondition(!notes.all.isEmpty, "nothing is no record")
    do {
      try begin([4])
      try notes.append(to: &records)
    } catch { throw .outOfMemory }
  }

  private mutating func begin(_ bytes: [UInt8]) throws(FormatError) {
    precondition(rowsLeft == 0, "a row is missing")
    recordCount += 1
    do { try records.append(bytes.span) } catch { throw .outOfMemory }
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public consuming func finish() throws(FormatError) -> SecretBytes {
    precondition(rowsLeft == 0, "a row is missing")
    var head: [UInt8] = []
    head.append(integer: UInt16(values.count))
    for value in values.sorted(by: { $0.value < $1.value }) { value.append(to: &head) }
    head.append(integer: recordCount)
    do {
      var all = try SecretBuffer(capacity: byteCount)
      try all.append(head.span)
      let rest = records.finish()
      try all.append(rest.bytes)
      return all.finish()
    } catch { throw .outOfMemory }
  }
}
