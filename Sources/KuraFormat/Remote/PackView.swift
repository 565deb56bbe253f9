// SPDX-License-Identifier: MIT

/// Reads an opened pack in place: items, settings and slots that changed on a device.
///
/// What rows have in them is read by who takes them; here all of the rest is held to be right.
public struct PackView: ~Escapable {
  private let bytes: Span<UInt8>
  /// In which pieces the long values of the rows are, ascending by their ids.
  public let values: [PackedValue]
  /// Items ascending by id, settings by key, the slot table, what is noted of its slots.
  public let records: [PackRecord]

  /// Reads an opened pack.
  ///
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    values = try reader.list(most: Int(UInt16.max), byteCount: PackedValue.leastByteCount) {
      reader throws(FormatError) in try PackedValue(&reader)
    }
    let count = Int(try reader.integer(UInt32.self))
    // Before anything is allocated by the number.
    guard count <= reader.remaining else { throw .damaged }
    var records: [PackRecord] = []
    for _ in 0..<count {
      let record = try PackRecord(&reader)
      if let last = records.last, !(last < record) { throw .damaged }
      records.append(record)
    }
    try reader.finish()
    guard PackView.hasTable(behind: records) else { throw .damaged }
    guard zip(values, values.dropFirst()).allSatisfy({ $0.value < $1.value }) else {
      throw .damaged
    }
    self.records = records
    self.bytes = bytes
  }

  /// Whether notes stand behind the table that they are of.
  private static func hasTable(behind records: [PackRecord]) -> Bool {
    guard case .notes = records.last else { return true }
    guard case .slots = records.dropLast().last else { return false }
    return true
  }

  /// The meta of a row, not yet read.
  @_lifetime(copy self)
  public func meta(of row: PackedRow) -> Span<UInt8> { bytes.extracting(row.meta) }

  /// The body of a row, not yet read.
  @_lifetime(copy self)
  public func body(of row: PackedRow) -> Span<UInt8> { bytes.extracting(row.body) }
}

/// Says in which pieces of whom a long value stands.
public struct PackedValue: Equatable, Sendable {
  /// Names one piece.
  public struct Piece: Equatable, Sendable {
    /// The object's hash.
    public let hash: [UInt8]
    /// How many bytes it has.
    public let length: UInt32

    /// A piece.
    public init(hash: [UInt8], length: UInt32) {
      self.hash = hash
      self.length = length
    }
  }

  static let leastByteCount = 2 * identifierByteCount + 2
  private static let pieceByteCount = RemoteObject.nameByteCount + 4

  /// The value.
  public let value: ValueID
  /// Whose objects they are.
  public let device: DeviceID
  /// In the order of their chunks; at least one.
  public let pieces: [Piece]

  /// A value.
  public init(_ value: ValueID, of device: DeviceID, in pieces: [Piece]) {
    precondition(!pieces.isEmpty && pieces.count <= Int(UInt16.max), "pieces were counted")
    self.value = value
    self.device = device
    self.pieces = pieces
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    try self.init(of: try reader.identifier(), &reader)
  }

  /// Reads what stands behind the value's id.
  init(of value: ValueID, _ reader: inout ByteReader) throws(FormatError) {
    self.value = value
    device = try reader.identifier()
    pieces = try reader.list(most: Int(UInt16.max), byteCount: PackedValue.pieceByteCount) {
      reader throws(FormatError) in
      Piece(hash: try reader.hash(), length: try reader.integer())
    }
    guard !pieces.isEmpty,
      pieces.allSatisfy({ $0.length <= RemoteObject.Kind.piece.longest })
    else { throw .damaged }
  }

  /// How many bytes it takes in a pack.
  public var byteCount: Int {
    PackedValue.leastByteCount + PackedValue.pieceByteCount * pieces.count
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(value)
    appendPlace(to: &bytes)
  }

  /// Appends what stands behind the value's id.
  func appendPlace(to bytes: inout [UInt8]) {
    bytes.append(device)
    bytes.append(integer: UInt16(pieces.count))
    for piece in pieces {
      bytes.append(contentsOf: piece.hash)
      bytes.append(integer: piece.length)
    }
  }
}

/// Says where a row of an item stands in an opened pack, and what of it stands in front.
public struct PackedRow: Equatable, Sendable {
  static let leastByteCount = 8 + 1 + 1 + 4 + 1 + 4

  /// Of a revision that was made in format 1 its number, which it is named by; else 0.
  public let number: UInt64
  /// How the value is kept.
  public let protection: ProtectionClass
  /// What the item is.
  public let kind: ItemKind
  let meta: Range<Int>
  let body: Range<Int>

  init(_ reader: inout ByteReader) throws(FormatError) {
    number = try reader.integer()
    guard let protection = ProtectionClass(rawValue: try reader.integer()),
      let kind = ItemKind(rawValue: try reader.integer())
    else { throw .damaged }
    (self.protection, self.kind) = (protection, kind)
    let head = try PackedRow.part(&reader)
    (meta, body) = (head.range, try PackedRow.part(&reader).range)
    let hasNumber = head.first == MetaView.layout
    guard hasNumber || head.first == MetaView.layoutWithTrail, hasNumber == (number > 0),
      number <= RevisionEntry.counters.upperBound
    else { throw .damaged }
  }

  private static func part(
    _ reader: inout ByteReader
  ) throws(FormatError) -> (range: Range<Int>, first: UInt8?) {
    let count = Int(try reader.integer(UInt32.self))
    let start = reader.offset
    let part = try reader.take(count)
    return (start..<(start + count), part.isEmpty ? nil : part[0])
  }
}

/// Holds what a pack has of one item, one setting or the slots.
public enum PackRecord: Equatable, Sendable {
  /// Rows of an item, and what was purged of it.
  case item(ItemID, purged: RevisionVector, rows: [PackedRow])
  /// The changes of a setting that nothing followed.
  case setting(SettingSides)
  /// Those of the slot table.
  case slots([SlotTableSide])
  /// What is noted of slots of that table.
  case notes(SlotNotes)

  init(_ reader: inout ByteReader) throws(FormatError) {
    switch try reader.integer(UInt8.self) {
    case 1:
      let (id, purged): (ItemID, RevisionVector) = (
        try reader.identifier(), try RevisionVector(&reader)
      )
      let rows = try reader.list(most: Int(UInt16.max), byteCount: PackedRow.leastByteCount) {
        reader throws(FormatError) in try PackedRow(&reader)
      }
      guard !rows.isEmpty else { throw .damaged }
      self = .item(id, purged: purged, rows: rows)
    case 2:
      let sides = try SettingSides(&reader)
      guard !SettingSides.stays(sides.key) else { throw .damaged }
      self = .setting(sides)
    case 3: self = .slots(try SlotTableSide.list(&reader))
    case 4:
      let notes = try SlotNotes(&reader, atLeast: 1)
      guard notes.all.allSatisfy(\.place.isEmpty) else { throw .damaged }
      self = .notes(notes)
    default: throw .damaged
    }
  }

  /// Whether it stands before another one.
  static func < (left: PackRecord, right: PackRecord) -> Bool {
    if case .item(let left, _, _) = left, case .item(let right, _, _) = right {
      return left < right
    }
    if case .setting(let left) = left, case .setting(let right) = right {
      return left.key < right.key
    }
    return left.rank < right.rank
  }

  private var rank: Int {
    switch self {
    case .item: 1
    case .setting: 2
    case .slots: 3
    case .notes: 4
    }
  }
}

extension SettingSides {
  /// Whether a setting is each machine's own.
  public static func stays(_ key: UInt8) -> Bool { (6...8).contains(key) }
}

extension SlotTableSide {
  fileprivate static func list(_ reader: inout ByteReader) throws(FormatError) -> [SlotTableSide] {
    let count = Int(try reader.integer(UInt8.self))
    guard count >= 1 else { throw .damaged }
    var sides: [SlotTableSide] = []
    for _ in 0..<count {
      let side = try SlotTableSide(&reader)
      if let last = sides.last, last.lineage.stamp.id >= side.lineage.stamp.id { throw .damaged }
      sides.append(side)
    }
    return sides
  }
}
