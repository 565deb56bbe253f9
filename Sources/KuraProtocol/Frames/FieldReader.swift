// SPDX-License-Identifier: MIT

/// Reads fields from bytes that a stranger may have written.
///
/// It copies nothing: texts and secrets are handed out as positions in the same bytes. Each
/// length is compared with what is left before it is used.
public struct FieldReader: ~Escapable {
  private let bytes: Span<UInt8>
  private(set) var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, from offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// The bytes not yet read.
  var remaining: Int { bytes.count - offset }

  @_lifetime(self: copy self)
  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _: Number.Type = Number.self
  ) throws(ProtocolError) -> Number {
    let width = Number.bitWidth / 8
    guard remaining >= width else { throw .truncated }
    var value: Number = 0
    for index in 0..<width { value |= Number(bytes[offset + index]) << Number(8 * index) }
    offset += width
    return value
  }

  @_lifetime(self: copy self)
  mutating func field(_ count: Int) throws(ProtocolError) -> Range<Int> {
    guard remaining >= count else { throw .truncated }
    defer { offset += count }
    return offset..<(offset + count)
  }

  /// A `b16`.
  @_lifetime(self: copy self)
  mutating func field16(limit: Int = Int(UInt16.max)) throws(ProtocolError) -> Range<Int> {
    let count = Int(try number(UInt16.self))
    guard count <= limit else { throw .fieldValue }
    return try field(count)
  }

  /// A `b32`.
  @_lifetime(self: copy self)
  mutating func field32(limit: Int = ProtocolLimit.frame) throws(ProtocolError) -> Range<Int> {
    let count = Int(try number(UInt32.self))
    guard count <= limit else { throw .fieldValue }
    return try field(count)
  }

  /// A part of the message, with its place.
  @_lifetime(copy self)
  func field(at place: Range<Int>) -> Field {
    Field(bytes.extracting(place), at: place.lowerBound)
  }

  /// Everything that is left.
  @_lifetime(self: copy self)
  mutating func rest() -> Range<Int> {
    defer { offset = bytes.count }
    return offset..<bytes.count
  }

  /// A copy of a field that is no secret.
  func copy(_ field: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(field.count)
    for index in field { copy.append(bytes[index]) }
    return copy
  }

  /// A field that is no secret, as text; what is no UTF-8 of it is replaced by U+FFFD.
  func text(_ field: Range<Int>) -> String { String(decoding: copy(field), as: UTF8.self) }

  /// A message ends where its last field does: a longer one is refused.
  func finish() throws(ProtocolError) {
    guard remaining == 0 else { throw .trailingBytes(remaining) }
  }
}

extension KDFParameters {
  init(_ reader: inout FieldReader) throws(ProtocolError) {
    self.init(memory: try reader.number(), passes: try reader.number())
  }
}
