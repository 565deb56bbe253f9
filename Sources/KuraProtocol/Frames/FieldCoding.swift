// SPDX-License-Identifier: MIT

public import SecureMemory

/// Points at a name, value or secret in a message: where it was read, or where it is written from. It is
/// never copied out of guarded memory.
public struct Field: ~Escapable {
  /// What it holds.
  public let bytes: Span<UInt8>
  /// Where it stands in the payload that it was read from.
  public let place: Range<Int>

  /// A field that is to be written.
  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>) { self.init(bytes, at: 0) }

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, at offset: Int) {
    self.bytes = bytes
    place = offset..<(offset + bytes.count)
  }

  /// A field without bytes.
  @_lifetime(immortal)
  public init() { self.init(Span()) }
}

/// Goes over a message's fields in the order in which they stand on the wire: a ``FieldReader`` fills them
/// in, a `SecretBuffer` writes them down. So a layout is said once, for both directions.
public protocol FieldCoder: ~Copyable, ~Escapable {
  @_lifetime(self: copy self)
  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ number: inout Number
  ) throws(ProtocolError)

  /// A `b16`.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  mutating func field16(_ field: inout Field, limit: Int) throws(ProtocolError)

  /// A `b32`.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  mutating func field32(_ field: inout Field, limit: Int) throws(ProtocolError)

  /// That many elements of a list, one behind the other.
  ///
  /// - Parameter element: Reads one, to prove it whole.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  mutating func list(
    _ field: inout Field, of count: Int,
    _ element: (inout FieldReader) throws(ProtocolError) -> Void
  ) throws(ProtocolError)
}

/// Says in which order a message's fields stand.
public protocol Message: ~Escapable {
  /// A message whose fields are still to be read.
  @_lifetime(immortal)
  init()

  /// Goes over the fields; refuses values that no message may have.
  @_lifetime(self: copy self, copy coder)
  mutating func code(_ coder: inout some Coding) throws(ProtocolError)
}

/// A ``FieldCoder`` of either kind.
public typealias Coding = FieldCoder & ~Copyable & ~Escapable

extension FieldCoder where Self: ~Copyable & ~Escapable {
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  mutating func field16(_ field: inout Field) throws(ProtocolError) {
    try field16(&field, limit: Int(UInt16.max))
  }

  /// One of a closed set.
  @_lifetime(self: copy self)
  mutating func choice<Choice: RawRepresentable>(
    _ choice: inout Choice
  ) throws(ProtocolError) where Choice.RawValue: FixedWidthInteger & UnsignedInteger {
    var raw = choice.rawValue
    try number(&raw)
    guard let known = Choice(rawValue: raw) else { throw .fieldValue }
    choice = known
  }

  /// Flags are a closed set: a bit this side does not know is refused, never skipped over.
  @_lifetime(self: copy self)
  mutating func flags<Flags: OptionSet>(
    _ flags: inout Flags, allowed: Flags
  ) throws(ProtocolError) where Flags.RawValue == UInt8 {
    var raw = flags.rawValue
    try number(&raw)
    guard raw & ~allowed.rawValue == 0 else { throw .fieldValue }
    flags = Flags(rawValue: raw)
  }

  @_lifetime(self: copy self)
  mutating func flag(_ flag: inout Bool) throws(ProtocolError) {
    var raw: UInt8 = flag ? 1 : 0
    try number(&raw)
    guard raw <= 1 else { throw .fieldValue }
    flag = raw == 1
  }

  /// How many elements of a list follow, as two bytes.
  @_lifetime(self: copy self)
  mutating func count(_ count: inout Int, limit: Int) throws(ProtocolError) {
    guard count <= limit, var number = UInt16(exactly: count) else {
      throw .fieldTooLong(limit: limit)
    }
    try self.number(&number)
    count = Int(number)
    guard count <= limit else { throw .fieldValue }
  }

  @_lifetime(self: copy self)
  mutating func cost(_ cost: inout KDFParameters) throws(ProtocolError) {
    var (memory, passes) = (cost.memory, cost.passes)
    try number(&memory)
    try number(&passes)
    cost = KDFParameters(memory: memory, passes: passes)
  }
}

// MARK: - Reading

extension FieldReader: FieldCoder {
  /// Reads a number, little-endian.
  @_lifetime(self: copy self)
  public mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ number: inout Number
  ) throws(ProtocolError) { number = try self.number() }

  /// Reads a `b16` of at most `limit` bytes, where it stands.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  public mutating func field16(_ field: inout Field, limit: Int) throws(ProtocolError) {
    field = self.field(at: try field16(limit: limit))
  }

  /// Reads a `b32` of at most `limit` bytes, where it stands.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  public mutating func field32(_ field: inout Field, limit: Int) throws(ProtocolError) {
    field = self.field(at: try field32(limit: limit))
  }

  /// Reads `count` elements, and keeps where they stand.
  @_lifetime(self: copy self)
  @_lifetime(field: copy field, copy self)
  public mutating func list(
    _ field: inout Field, of count: Int,
    _ element: (inout FieldReader) throws(ProtocolError) -> Void
  ) throws(ProtocolError) {
    let start = offset
    for _ in 0..<count { try element(&self) }
    field = self.field(at: start..<offset)
  }

  /// Reads a message, or a part of one.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func message<Read: Message & ~Escapable>() throws(ProtocolError) -> Read {
    var message = Read()
    try message.code(&self)
    return message
  }
}

// MARK: - Writing

extension SecretBuffer: FieldCoder {
  /// Writes a number, little-endian.
  public mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ number: inout Number
  ) throws(ProtocolError) { try put(number) }

  /// Writes a `b16` of at most `limit` bytes.
  @_lifetime(field: copy field)
  public mutating func field16(_ field: inout Field, limit: Int) throws(ProtocolError) {
    try put16(field.bytes, limit: limit)
  }

  /// Writes a `b32` of at most `limit` bytes.
  @_lifetime(field: copy field)
  public mutating func field32(_ field: inout Field, limit: Int) throws(ProtocolError) {
    try put32(field.bytes, limit: limit)
  }

  /// Writes the elements as they stand in the field; their count goes before.
  @_lifetime(field: copy field)
  public mutating func list(
    _ field: inout Field, of count: Int,
    _ element: (inout FieldReader) throws(ProtocolError) -> Void
  ) throws(ProtocolError) { try put(field.bytes) }
}
