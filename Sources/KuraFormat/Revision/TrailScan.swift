// SPDX-License-Identifier: MIT

/// Proves, in place and without any memory, what a meta of layout 2 has behind its attributes, and remembers where
/// its parts stand: listing a vault does this for each item.
struct TrailScan: Sendable {
  /// The most stamps beside the revision's own.
  static let mostStamps = 1024
  /// The most contents of a field: as many as its count can say.
  static let mostContents = 255
  /// The most attributes that are remembered as deleted.
  static let mostDeleted = 256
  /// The most sides beside the row.
  static let mostSides = 255

  private static let stampByteCount = 2 + 8 + 8 + identifierByteCount

  /// Where the secret attributes' keys begin.
  let secrets: Int
  /// Where the lineage begins.
  private(set) var lineage = 0
  /// Where the stamps begin.
  private(set) var stamps = 0
  /// How many there are.
  private(set) var stampCount = 0
  /// Where the fields of value, name and attributes begin.
  private(set) var fields = 0
  /// Where the deleted attributes begin.
  private(set) var deleted = 0
  /// How many attributes there are whose values the body has.
  private(set) var secretCount = 0
  /// Whether the value has a content, here or elsewhere.
  private(set) var hasValue = false
  /// The highest of the other sides; 0 where there are none.
  private(set) var lastSide: UInt64 = 0
  /// Whether some part has more than one content.
  private(set) var isOpen = false

  /// - Parameters:
  ///   - bytes: The whole meta.
  ///   - start: Where the attributes end.
  ///   - attributes: Those.
  ///   - isPurged: Whether it is the meta of a purged item, which has no name.
  /// - Throws: ``FormatError/damaged``.
  init(
    _ bytes: Span<UInt8>, from start: Int, _ attributes: AttributeList, isPurged: Bool
  ) throws(FormatError) {
    secrets = start
    var used = UsedStamps()
    var reader = ByteReader(bytes)
    _ = try reader.take(start)
    secretCount = try TrailScan.secrets(&reader, bytes)
    guard attributes.count + secretCount <= AttributeList.mostAttributes else { throw .damaged }
    lineage = reader.offset
    let vector = try TrailScan.vector(&reader, bytes)
    stamps = reader.offset
    try scanStamps(&reader, bytes, vector)
    fields = reader.offset
    let values = try field(&reader, &used, atLeast: 0)
    let names = try field(&reader, &used, atLeast: isPurged ? 0 : 1)
    for _ in 0..<(attributes.count + secretCount) { _ = try field(&reader, &used, atLeast: 1) }
    deleted = reader.offset
    let deletedCount = try deletedFields(&reader, bytes, &used)
    // What nothing refers to could be anything.
    guard used.count == stampCount else { throw .damaged }
    lastSide = try TrailScan.sides(&reader)
    try reader.finish()
    hasValue = values > 0
    let isEmpty = attributes.count + secretCount + deletedCount + values + names == 0
    guard !isPurged || isEmpty && lastSide == 0 else { throw .damaged }
    try checkKeys(bytes, attributes, deletedCount)
  }

  /// Where a key stands that breaks no rule.
  private static func key(
    _ reader: inout ByteReader, _ bytes: Span<UInt8>
  ) throws(FormatError) -> Range<Int> {
    let count = try reader.counted16(limit: AttributeList.longestKey).count
    let range = (reader.offset - count)..<reader.offset
    let key = bytes.extracting(range)
    guard Attributes.brokenRule(key: key) == nil,
      Text.isCanonical(key, limit: AttributeList.longestKey)
    else { throw .damaged }
    return range
  }

  private static func secrets(
    _ reader: inout ByteReader, _ bytes: Span<UInt8>
  ) throws(FormatError) -> Int {
    let count = Int(try reader.integer(UInt16.self))
    guard count <= AttributeList.mostAttributes else { throw .damaged }
    var last: Range<Int>?
    for _ in 0..<count {
      let key = try self.key(&reader, bytes)
      if let last, !isAscending(bytes.extracting(last), bytes.extracting(key)) { throw .damaged }
      last = key
      let size = try reader.integer(UInt32.self)
      guard size <= SecretAttributes.longest else { throw .damaged }
    }
    return count
  }

  private static func integer(at start: Int, in bytes: Span<UInt8>) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return value
  }

  private static func identifier(at start: Int, in bytes: Span<UInt8>) -> RevisionID {
    RevisionID(bytes.extracting(start..<(start + identifierByteCount)))
  }

  /// Walks over a lineage.
  ///
  /// - Returns: Where the vector's entries are.
  private static func vector(
    _ reader: inout ByteReader, _ bytes: Span<UInt8>
  ) throws(FormatError) -> Range<Int> {
    _ = try reader.take(identifierByteCount)
    let depth = try reader.integer(UInt64.self)
    let count = Int(try reader.integer(UInt16.self))
    guard RevisionStamp.depths.contains(depth), (1...RevisionVector.mostEntries).contains(count)
    else { throw .damaged }
    _ = try reader.take(count * RevisionEntry.byteCount)
    let range = (reader.offset - count * RevisionEntry.byteCount)..<reader.offset
    var last: RevisionID?
    for start in stride(from: range.lowerBound, to: range.upperBound, by: RevisionEntry.byteCount) {
      let device = identifier(at: start, in: bytes)
      let counter = integer(at: start + identifierByteCount, in: bytes)
      guard RevisionEntry.counters.contains(counter), last.map({ $0 < device }) ?? true else {
        throw .damaged
      }
      last = device
    }
    guard Int(try reader.integer(UInt16.self)) < count else { throw .damaged }
    return range
  }

  /// Walks over the stamps.
  private mutating func scanStamps(
    _ reader: inout ByteReader, _ bytes: Span<UInt8>, _ vector: Range<Int>
  ) throws(FormatError) {
    stampCount = Int(try reader.integer(UInt16.self))
    guard stampCount <= TrailScan.mostStamps else { throw .damaged }
    let own = TrailScan.identifier(at: lineage, in: bytes)
    let depth = TrailScan.integer(at: lineage + identifierByteCount, in: bytes)
    let devices = vector.count / RevisionEntry.byteCount
    var last = (depth: UInt64(0), id: RevisionID.zero)
    for _ in 0..<stampCount {
      let device = Int(try reader.integer(UInt16.self))
      let (counter, level) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
      let id: RevisionID = try reader.identifier()
      guard device < devices, (1..<depth).contains(level), id != own, (level, id) > last else {
        throw .damaged
      }
      let place = vector.lowerBound + device * RevisionEntry.byteCount + identifierByteCount
      guard (1...TrailScan.integer(at: place, in: bytes)).contains(counter) else { throw .damaged }
      last = (level, id)
    }
  }

  /// Walks over a field.
  ///
  /// - Returns: How many contents it has.
  private mutating func field(
    _ reader: inout ByteReader, _ used: inout UsedStamps, atLeast least: Int
  ) throws(FormatError) -> Int {
    let count = Int(try reader.integer(UInt8.self))
    guard count >= least else { throw .damaged }
    if count > 1 { isOpen = true }
    var (first, last) = (-1, -1)
    for index in 0..<count {
      let stamp = Int(try reader.integer(UInt16.self))
      guard stamp <= stampCount, stamp > last, stamp != first else { throw .damaged }
      if index == 0 { first = stamp } else { last = stamp }
      used.note(stamp)
    }
    return count
  }

  private mutating func deletedFields(
    _ reader: inout ByteReader, _ bytes: Span<UInt8>, _ used: inout UsedStamps
  ) throws(FormatError) -> Int {
    let count = Int(try reader.integer(UInt16.self))
    guard count <= TrailScan.mostDeleted else { throw .damaged }
    var last: Range<Int>?
    for _ in 0..<count {
      let key = try TrailScan.key(&reader, bytes)
      if let last, !isAscending(bytes.extracting(last), bytes.extracting(key)) { throw .damaged }
      last = key
      _ = try field(&reader, &used, atLeast: 1)
    }
    return count
  }

  private static func sides(_ reader: inout ByteReader) throws(FormatError) -> UInt64 {
    let count = Int(try reader.integer(UInt16.self))
    guard count <= mostSides else { throw .damaged }
    var last: UInt64 = 0
    for _ in 0..<count {
      let side = try reader.integer(UInt64.self)
      guard side > last else { throw .damaged }
      last = side
    }
    return last
  }

  /// Refuses a key that stands in two of the lists; most metas have one list.
  private func checkKeys(
    _ bytes: Span<UInt8>, _ attributes: AttributeList, _ deletedCount: Int
  ) throws(FormatError) {
    var hidden = TrailKeys(bytes, from: secrets, of: .secret)
    while hidden.advance() {
      guard attributes.value(of: hidden.key) == nil else { throw .damaged }
    }
    var gone = TrailKeys(bytes, from: deleted, of: .deleted)
    while gone.advance() {
      guard attributes.value(of: gone.key) == nil else { throw .damaged }
      var hidden = TrailKeys(bytes, from: secrets, of: .secret)
      while hidden.advance() {
        if isEqual(hidden.key, gone.key) { throw .damaged }
      }
    }
  }
}
