// SPDX-License-Identifier: MIT

public import SecureMemory

/// Store many values at once.
public struct PutBatchRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Items of those names may exist; their values go to the history.
    public static let replace = Flags(rawValue: 1)
    /// Values may be empty.
    public static let allowEmpty = Flags(rawValue: 2)
    static let all: Flags = [.replace, .allowEmpty]
  }

  public let flags: Flags
  /// How many items there are.
  public let count: Int
  /// Where the first item stands in the payload.
  public let start: Int

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    count = Int(try reader.number(UInt16.self))
    guard count <= ProtocolLimit.batch else { throw .fieldValue }
    start = reader.offset
    for _ in 0..<count { _ = try BatchItem(&reader) }
  }

  /// Reads an item.
  ///
  /// - Parameters:
  ///   - payload: The bytes that the request was read from.
  ///   - offset: ``start`` for the first item; moves on to the next.
  public static func item(in payload: Span<UInt8>, at offset: inout Int) -> BatchItem {
    var reader = FieldReader(payload, from: offset)
    guard let item = try? BatchItem(&reader) else { preconditionFailure("another request's bytes") }
    offset = reader.offset
    return item
  }
}

/// One of many values that are to be stored at once.
public struct BatchItem: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading it shall take a fresh passcode.
    public static let protect = Flags(rawValue: 8)
    static let all: Flags = [.protect]
  }

  public let flags: Flags
  public let name: Range<Int>
  /// The counted list of attributes, its count included.
  public let attributes: Range<Int>
  public let value: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    name = try reader.field16()
    let start = reader.offset
    _ = try AttributeFields(&reader)
    attributes = start..<reader.offset
    value = try reader.field32(limit: ProtocolLimit.inlineValue)
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes an item of a batch.
  ///
  /// - Parameters:
  ///   - attributes: Pairs as ``putPair(key:value:)`` writes them.
  ///   - attributeCount: How many there are.
  public mutating func putBatchItem(
    name: Span<UInt8>, flags: BatchItem.Flags, value: Span<UInt8>, attributes: Span<UInt8>,
    attributeCount: Int
  ) throws(ProtocolError) {
    guard attributeCount <= ProtocolLimit.attributes else {
      throw .fieldTooLong(limit: ProtocolLimit.attributes)
    }
    try put(flags.rawValue)
    try put16(name)
    try put(UInt16(attributeCount))
    try put(attributes)
    try put32(value, limit: ProtocolLimit.inlineValue)
  }

  /// Writes `put-batch`.
  ///
  /// - Parameters:
  ///   - items: What ``putBatchItem(name:flags:value:attributes:attributeCount:)`` wrote.
  ///   - count: How many there are.
  public mutating func putPutBatch(
    flags: PutBatchRequest.Flags, items: Span<UInt8>, count: Int
  ) throws(ProtocolError) {
    let frame = try openRequest(.putBatch)
    try put(flags.rawValue)
    try put(UInt16(count))
    try put(items)
    try closeFrame(frame)
  }
}
