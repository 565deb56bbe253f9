// SPDX-License-Identifier: MIT

/// Holds attributes inside a message: checked to be whole, not copied.
public struct AttributeFields: Message, ~Escapable {
  /// How many there are.
  public private(set) var count: Int
  /// Keys and values, one behind the other.
  private var list: Field

  /// No attributes.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Attributes to be written.
  ///
  /// - Parameters:
  ///   - pairs: As `SecretBuffer.putPair(key:value:)` writes them.
  ///   - count: How many there are.
  @_lifetime(copy pairs)
  public init(_ pairs: Span<UInt8>, count: Int) {
    self.count = count
    list = Field(pairs)
  }

  /// The bytes that they take in a message, with their count.
  public var byteCount: Int { 2 + list.bytes.count }

  /// Goes over `count u16 (key b16, value b32)…`; more than ``ProtocolLimit/attributes`` are
  /// refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: ProtocolLimit.attributes)
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      _ = try reader.field16()
      _ = try reader.field32()
    }
  }

  /// Count and pairs, as they stand in the payload that they were read from.
  @_lifetime(copy payload)
  public func counted(in payload: Span<UInt8>) -> Span<UInt8> {
    payload.extracting((list.place.lowerBound - 2)..<list.place.upperBound)
  }

  /// Calls `body` with each key and value, in the order of the message.
  public func forEach<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      guard let key = try? reader.field16(), let value = try? reader.field32() else {
        preconditionFailure("a list that was not read")
      }
      try body(list.bytes.extracting(key), list.bytes.extracting(value))
    }
  }
}

/// Holds attribute keys, or names of items, inside a message: checked to be whole, not copied.
public struct KeyFields: Message, ~Escapable {
  /// How many there are.
  public private(set) var count: Int
  private var list: Field

  /// No keys.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Keys to be written.
  ///
  /// - Parameters:
  ///   - keys: As `SecretBuffer.put16(text:limit:)` writes them.
  ///   - count: How many there are.
  @_lifetime(copy keys)
  public init(_ keys: Span<UInt8>, count: Int) {
    self.count = count
    list = Field(keys)
  }

  /// The keys as they stand in the message, without their count.
  public var encoded: Span<UInt8> { @_lifetime(copy self) get { list.bytes } }

  /// Goes over `count u16 (key b16)…`; more than ``ProtocolLimit/attributes`` are refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: ProtocolLimit.attributes)
    try coder.list(&list, of: count) { reader throws(ProtocolError) in _ = try reader.field16() }
  }

  /// Calls `body` with each key, in the order of the message.
  public func forEach<Failure: Error>(
    _ body: (borrowing Field) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count { try body(next(&reader)) }
  }

  /// Calls `body` with each key and the one in its place in another list, which is as long.
  public func forEach<Failure: Error>(
    with other: KeyFields, _ body: (borrowing Field, borrowing Field) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    var second = FieldReader(other.list.bytes)
    for _ in 0..<count { try body(next(&reader), other.next(&second)) }
  }

  @_lifetime(copy self)
  private func next(_ reader: inout FieldReader) -> Field {
    guard let key = try? reader.field16() else { preconditionFailure("a list that was not read") }
    return Field(list.bytes.extracting(key), at: list.place.lowerBound + key.lowerBound)
  }
}
