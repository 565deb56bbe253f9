// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Says of an item's revision what it follows, and of each part of it which revision set it: what a meta of format 2
/// has beside name and attributes.
public struct MetaTrail: ~Copyable, Sendable {
  /// How many deleted attributes it knows of at most; the oldest are forgotten.
  public static let mostDeleted = TrailScan.mostDeleted

  /// Lists the contents of one part that stand: first that which stands here, then those of others beside it.
  public typealias Field = [RevisionStamp]

  /// Names a kind of keys, which are as secret as attributes are.
  enum Keys {
    /// Of attributes whose values the body has: `u16 count ‖ count × (u16 length ‖ key ‖ u32 size)`.
    case secret
    /// Of attributes that were deleted: `u16 count ‖ count × (u16 length ‖ key)`.
    case deleted
  }

  /// Who the revision is, and what it knew of.
  public let lineage: Lineage
  /// The value; empty where there is none, here or elsewhere.
  public private(set) var value: Field
  /// The name; empty for a purged item.
  public private(set) var name: Field
  /// Each public attribute, in the order of its key.
  public private(set) var attributes: [Field]
  /// The secret attributes' keys, encoded; nil for none.
  let secretKeys: SecretBytes?
  /// Each secret attribute, in the order of its key.
  public private(set) var secrets: [Field]
  /// The deleted attributes' keys, encoded; nil for none.
  let deletedKeys: SecretBytes?
  /// Each deleted attribute, in the order of its key.
  public private(set) var deleted: [Field]
  /// The other sides of the item, by their numbers here, ascending.
  public let sides: [UInt64]
}

extension MetaTrail {
  /// A revision all of whose parts were set by itself.
  ///
  /// - Parameters:
  ///   - lineage: Who it is.
  ///   - attributeCount: How many public attributes it has.
  ///   - hasValue: Whether it has a value.
  public init(_ lineage: Lineage, attributeCount: Int, hasValue: Bool = true) {
    self.init(
      lineage: lineage, value: hasValue ? [lineage.stamp] : [], name: [lineage.stamp],
      attributes: Array(repeating: [lineage.stamp], count: attributeCount), secretKeys: nil,
      secrets: [], deletedKeys: nil, deleted: [], sides: [])
  }

  /// What a row stands for whose meta was written in format 1: two copies of a vault that were taken over apart
  /// agree on it.
  ///
  /// - Parameters:
  ///   - meta: The row's.
  ///   - facts: The row's; its generation does not count.
  /// - Throws: ``FormatError/damaged`` for a revision that cannot be, ``FormatError/outOfMemory``.
  public init(old meta: MetaView, of facts: RowFacts) throws(FormatError) {
    guard RevisionEntry.counters.contains(facts.revision) else { throw .damaged }
    let lineage = Lineage(
      stamp: RevisionStamp(
        id: try OldRevision.id(of: meta, facts),
        depth: min(facts.revision, RevisionStamp.depths.upperBound),
        entry: RevisionEntry(
          device: try OldRevision.device(of: facts.id), counter: facts.revision)))
    self.init(
      lineage, attributeCount: meta.attributes.count, hasValue: facts.kind != .deleted)
  }

  /// What is left of a purged item.
  public init(purgedBy lineage: Lineage) {
    self.init(
      lineage: lineage, value: [], name: [], attributes: [], secretKeys: nil, secrets: [],
      deletedKeys: nil, deleted: [], sides: [])
  }

  /// Forgets the contents that were purged, but for those that stand first, which the row of the trail has.
  ///
  /// - Parameters:
  ///   - purged: All that was purged of the item.
  ///   - isDeletion: Whether the row has no value; where that which stood first was purged, the latest of the others does.
  public mutating func forget(_ purged: RevisionVector, isDeletion: Bool) {
    func left(_ field: Field) -> Field {
      field.prefix(1) + field.dropFirst().filter { !purged.covers($0.entry) }
    }
    (name, attributes, secrets) = (left(name), attributes.map(left), secrets.map(left))
    (value, deleted) = (left(value), deleted.map(left))
    guard isDeletion, let first = value.first, purged.covers(first.entry) else { return }
    let latest = value.dropFirst().max()
    value = (latest.map { [$0] } ?? []) + value.dropFirst().filter { $0 != latest }
  }

  var fields: [Field] { [value, name] + attributes + secrets }
}

// MARK: - Encoding

extension MetaTrail {
  /// Reads what ``TrailScan`` proved.
  init(_ bytes: Span<UInt8>, _ scan: TrailScan, attributeCount: Int) throws(FormatError) {
    var reader = ByteReader(bytes)
    _ = try reader.take(scan.lineage)
    let lineage = try Lineage(&reader)
    let stamps = try MetaTrail.stamps(&reader, lineage)
    let value = try MetaTrail.field(&reader, stamps)
    let name = try MetaTrail.field(&reader, stamps)
    let attributes = try MetaTrail.fields(&reader, stamps, count: attributeCount)
    let secrets = try MetaTrail.fields(&reader, stamps, count: scan.secretCount)
    var deleted: [Field] = []
    let deletedCount = Int(try reader.integer(UInt16.self))
    for _ in 0..<deletedCount {
      _ = try reader.counted16(limit: AttributeList.longestKey)
      deleted.append(try MetaTrail.field(&reader, stamps))
    }
    var sides: [UInt64] = []
    let sideCount = Int(try reader.integer(UInt16.self))
    for _ in 0..<sideCount { sides.append(try reader.integer()) }
    self.init(
      lineage: lineage, value: value, name: name, attributes: attributes,
      secretKeys: secrets.isEmpty
        ? nil : try .duplicate(bytes.extracting(scan.secrets..<scan.lineage)), secrets: secrets,
      deletedKeys: deleted.isEmpty ? nil : try MetaTrail.deletedKeys(bytes, scan),
      deleted: deleted, sides: sides)
  }

  private static func stamps(
    _ reader: inout ByteReader, _ lineage: Lineage
  ) throws(FormatError) -> [RevisionStamp] {
    var stamps = [lineage.stamp]
    let count = Int(try reader.integer(UInt16.self))
    for _ in 0..<count {
      let device = Int(try reader.integer(UInt16.self))
      let entry = RevisionEntry(
        device: lineage.vector.entries[device].device, counter: try reader.integer())
      let depth = try reader.integer(UInt64.self)
      stamps.append(RevisionStamp(id: try reader.identifier(), depth: depth, entry: entry))
    }
    return stamps
  }

  private static func field(
    _ reader: inout ByteReader, _ stamps: [RevisionStamp]
  ) throws(FormatError) -> Field {
    var field: Field = []
    let count = Int(try reader.integer(UInt8.self))
    for _ in 0..<count { field.append(stamps[Int(try reader.integer(UInt16.self))]) }
    return field
  }

  private static func fields(
    _ reader: inout ByteReader, _ stamps: [RevisionStamp], count: Int
  ) throws(FormatError) -> [Field] {
    var fields: [Field] = []
    for _ in 0..<count { fields.append(try field(&reader, stamps)) }
    return fields
  }

  private static func deletedKeys(
    _ bytes: Span<UInt8>, _ scan: TrailScan
  ) throws(FormatError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: 64)
      try buffer.append(bytes.extracting(scan.deleted..<(scan.deleted + 2)))
      var keys = TrailKeys(bytes, from: scan.deleted, of: .deleted)
      while keys.advance() {
        try buffer.append(integer: UInt16(keys.key.count))
        try buffer.append(keys.key)
      }
      return buffer.finish()
    } catch { throw .outOfMemory }
  }

  /// Appends the encoded trail behind a meta's attributes.
  ///
  /// - Throws: ``FormatError/tooManySides`` when it speaks of too much, ``FormatError/outOfMemory``.
  borrowing func append(to buffer: inout SecretBuffer) throws(FormatError) {
    let others = Set((fields + deleted).joined()).subtracting([lineage.stamp]).sorted()
    guard others.count <= TrailScan.mostStamps, deleted.count <= TrailScan.mostDeleted,
      sides.count <= TrailScan.mostSides, !lineage.vector.isTooLong,
      (fields + deleted).allSatisfy({ $0.count <= TrailScan.mostContents })
    else { throw .tooManySides }
    let stamps = StampTable(lineage, others)
    do {
      try MetaTrail.append(secretKeys, to: &buffer)
      let head = stamps.encoded
      try buffer.append(head.span)
      let plain = fields.flatMap(stamps.encode)
      try buffer.append(plain.span)
      try appendDeleted(stamps, to: &buffer)
      try buffer.append(integer: UInt16(sides.count))
      for side in sides { try buffer.append(integer: side) }
    } catch { throw .outOfMemory }
  }

  private static func append(
    _ keys: borrowing SecretBytes?, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    switch keys {
    case .some(let keys): try buffer.append(keys.bytes)
    case .none: try buffer.append(integer: UInt16(0))
    }
  }

  private borrowing func appendDeleted(
    _ stamps: StampTable, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try buffer.append(integer: UInt16(deleted.count))
    switch deletedKeys {
    case .some(let keys):
      var offset = 2
      for field in deleted {
        let count = Int(keys.bytes[offset]) | Int(keys.bytes[offset + 1]) << 8
        try buffer.append(keys.bytes.extracting(offset..<(offset + 2 + count)))
        offset += 2 + count
        let encoded = stamps.encode(field)
        try buffer.append(encoded.span)
      }
    case .none: break
    }
  }
}

/// Gives each stamp of a meta its number.
private struct StampTable {
  let lineage: Lineage
  /// Ascending, without the revision's own.
  let others: [RevisionStamp]
  private let numbers: [RevisionStamp: UInt16]

  init(_ lineage: Lineage, _ others: [RevisionStamp]) {
    self.lineage = lineage
    self.others = others
    var numbers = [lineage.stamp: UInt16(0)]
    for (index, stamp) in others.enumerated() { numbers[stamp] = UInt16(index + 1) }
    self.numbers = numbers
  }

  /// Lineage and stamps.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    lineage.append(to: &bytes)
    bytes.append(integer: UInt16(others.count))
    for stamp in others {
      bytes.append(integer: UInt16(lineage.vector.place(of: stamp.entry.device)))
      bytes.append(integer: stamp.entry.counter)
      bytes.append(integer: stamp.depth)
      bytes.append(stamp.id)
    }
    return bytes
  }

  /// A field: the first stamp stays in front, the others ascend.
  func encode(_ field: MetaTrail.Field) -> [UInt8] {
    var bytes = [UInt8(field.count)]
    let rest = field.dropFirst().compactMap { numbers[$0] }.sorted()
    for number in field.prefix(1).compactMap({ numbers[$0] }) + rest {
      bytes.append(integer: number)
    }
    return bytes
  }
}
