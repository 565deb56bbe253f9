// SPDX-License-Identifier: MIT

public import SecureMemory

/// Tells who masks what programs write of a value that one of them is about to be handed; the payload of a data frame
/// of the answer to `mask`.
public struct Needle: Message, ~Escapable {
  /// Names what of an item it is.
  public enum Part: UInt8, Sendable, CaseIterable {
    /// Its value, or an earlier one.
    case value = 1
    /// An attribute, of the key that stands beside.
    case attribute = 2
    /// A one-time code.
    case code = 3
  }

  /// Values of fewer bytes are told of and not sent: too much that is no secret would look like them.
  public static let shortest = 6
  /// Values of more bytes are told of and not sent.
  public static let longest = ProtocolLimit.inlineValue

  /// Which one, for the ``NeedleWord``.
  public private(set) var number: UInt64
  /// What of an item it is.
  public private(set) var part: Part
  /// How many bytes the value has.
  public private(set) var size: UInt64
  /// The item's name.
  public private(set) var name: Field
  /// The attribute's key; empty where it is none.
  public private(set) var key: Field
  /// The value; empty where it is too short or too long.
  public private(set) var value: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (number, part, size) = (0, .value, 0)
    (name, key, value) = (Field(), Field(), Field())
  }

  /// News of a value.
  ///
  /// - Parameters:
  ///   - size: Its length, where the value is not at hand because it is too long.
  ///   - value: It is sent only where it is neither too short nor too long.
  @_lifetime(copy name, copy key, copy value)
  public init(
    _ number: UInt64, _ part: Part, name: Span<UInt8>, key: Span<UInt8>, size: UInt64,
    value: Span<UInt8>
  ) {
    self.number = number
    self.part = part
    self.size = size
    self.name = Field(name)
    self.key = Field(key)
    let isSent = value.count >= Needle.shortest && value.count <= Needle.longest
    self.value = Field(isSent ? value : value.extracting(first: 0))
  }

  /// Reads the payload of a frame of type ``FrameType/data``.
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    self = try reader.message()
    try reader.finish()
  }

  /// Goes over `number u64, part u8, size u64, name b16, key b16, value b32`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
    try coder.choice(&part)
    try coder.number(&size)
    try coder.field16(&name)
    try coder.field16(&key)
    try coder.field32(&value, limit: Needle.longest)
    guard value.bytes.isEmpty || UInt64(value.bytes.count) == size else { throw .fieldValue }
  }
}

/// Tells the agent whether a value will be found; the payload of a frame of type ``FrameType/clientData``.
public struct NeedleWord: Equatable, Sendable {
  /// Which ``Needle`` it answers.
  public let number: UInt64
  /// Whether who was to be handed the value may have it.
  public let isTaken: Bool

  /// A word about a needle.
  public init(_ number: UInt64, isTaken: Bool) {
    self.number = number
    self.isTaken = isTaken
  }

  /// Reads `number u64, taken u8`.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    number = try reader.number()
    let taken: UInt8 = try reader.number()
    try reader.finish()
    guard taken <= 1 else { throw .fieldValue }
    isTaken = taken == 1
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Tells of a value.
  public mutating func putNeedle(_ needle: borrowing Needle) throws(ProtocolError) {
    var needle = copy needle
    let frame = try openFrame(.data)
    try needle.code(&self)
    try closeFrame(frame)
  }

  /// Writes a word about a value.
  public mutating func putNeedleWord(_ word: NeedleWord) throws(ProtocolError) {
    let frame = try openFrame(.clientData)
    try put(word.number)
    try put(UInt8(word.isTaken ? 1 : 0))
    try closeFrame(frame)
  }
}
