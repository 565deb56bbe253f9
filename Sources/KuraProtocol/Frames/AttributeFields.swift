// SPDX-License-Identifier: MIT

/// Attributes inside a message: checked to be whole, not copied.
public struct AttributeFields: Equatable, Sendable {
  /// How many there are.
  public let count: Int

  /// Where they stand in the payload.
  let field: Range<Int>

  /// Reads and checks a counted list.
  init(_ reader: inout FieldReader) throws(ProtocolError) {
    count = Int(try reader.number(UInt16.self))
    guard count <= ProtocolLimit.attributes else { throw .fieldValue }
    let start = reader.offset
    for _ in 0..<count {
      _ = try reader.field16()
      _ = try reader.field32()
    }
    field = start..<reader.offset
  }

  /// Calls `body` with each key and value, in the order of the message.
  ///
  /// - Parameter payload: The bytes that the message was read from.
  public func forEach<Failure: Error>(
    in payload: Span<UInt8>,
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var offset = field.lowerBound
    for _ in 0..<count {
      let key = Self.field(in: payload, at: offset, width: 2)
      let value = Self.field(in: payload, at: key.upperBound, width: 4)
      try body(payload.extracting(key), payload.extracting(value))
      offset = value.upperBound
    }
  }

  private static func field(in payload: Span<UInt8>, at offset: Int, width: Int) -> Range<Int> {
    var length = 0
    for index in 0..<width { length |= Int(payload[offset + index]) << (8 * index) }
    return (offset + width)..<(offset + width + length)
  }
}

/// Attribute keys inside a message: checked to be whole, not copied.
public struct KeyFields: Equatable, Sendable {
  /// How many there are.
  public let count: Int

  let field: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    count = Int(try reader.number(UInt16.self))
    guard count <= ProtocolLimit.attributes else { throw .fieldValue }
    let start = reader.offset
    for _ in 0..<count { _ = try reader.field16() }
    field = start..<reader.offset
  }

  /// Calls `body` with each key, in the order of the message.
  public func forEach<Failure: Error>(
    in payload: Span<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    try forEachField(in: payload) { key throws(Failure) in try body(payload.extracting(key)) }
  }

  /// Calls `body` with the place of each key in the payload, in the order of the message.
  public func forEachField<Failure: Error>(
    in payload: Span<UInt8>, _ body: (Range<Int>) throws(Failure) -> Void
  ) throws(Failure) {
    var offset = field.lowerBound
    for _ in 0..<count {
      let length = Int(payload[offset]) | Int(payload[offset + 1]) << 8
      try body((offset + 2)..<(offset + 2 + length))
      offset += 2 + length
    }
  }
}
