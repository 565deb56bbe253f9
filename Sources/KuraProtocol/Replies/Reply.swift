// SPDX-License-Identifier: MIT

/// Tells by the head of a reply or of an agent's end whether it was done, and why not.
public enum Reply: Equatable, Sendable {
  /// Done; where the verb's fields stand in the payload.
  case ok(fields: Range<Int>)
  /// Not done, and nothing changed unless the refusal says so.
  case refused(Refusal)

  /// Reads the payload of a frame of type ``FrameType/reply`` or ``FrameType/end``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let code: UInt16 = try reader.number()
    self = code == 0 ? .ok(fields: reader.rest()) : .refused(try Refusal(code: code, &reader))
  }
}

/// The answer to `get`.
public struct GetReply: Equatable, Sendable {
  /// Says how the value travels.
  public enum Source: Equatable, Sendable {
    /// In the reply: where it stands in the payload.
    case inline(Range<Int>)
    /// In data frames that follow, then an end.
    case stream
  }

  /// The item, without its attributes unless they were asked for.
  public let entry: Entry
  public let source: Source

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    entry = try Entry(&reader)
    switch try reader.number(UInt8.self) {
    case 0: source = .inline(try reader.field32(limit: ProtocolLimit.inlineValue))
    case 1: source = .stream
    default: throw .fieldValue
    }
    try reader.finish()
  }
}

/// The answer to `show`.
public struct ShowReply: Equatable, Sendable {
  public let entry: Entry
  /// How many earlier revisions are kept.
  public let revisionCount: Int
  let revisions: Range<Int>

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    entry = try Entry(&reader)
    revisionCount = Int(try reader.number(UInt16.self))
    revisions = try reader.field(8 * revisionCount)
    try reader.finish()
  }

  /// The kept revisions, in the order of the message: ascending.
  public func revisionNumbers(in payload: Span<UInt8>) -> [UInt64] {
    var numbers: [UInt64] = []
    numbers.reserveCapacity(revisionCount)
    for start in stride(from: revisions.lowerBound, to: revisions.upperBound, by: 8) {
      var number: UInt64 = 0
      for index in 0..<8 { number |= UInt64(payload[start + index]) << UInt64(8 * index) }
      numbers.append(number)
    }
    return numbers
  }
}

/// The answer to `put`.
public struct PutReply: Equatable, Sendable {
  /// The item's revision now.
  public let revision: UInt64
  /// The revision it replaced; 0 = the item is new.
  public let replaced: UInt64

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    revision = try reader.number()
    replaced = try reader.number()
    try reader.finish()
  }
}

/// Reads the replies that have one field, or none.
public enum FieldReply {
  /// The answers to `create` and `passcode`: the recovery key's text, empty for none.
  public static func recoveryKey(_ payload: Span<UInt8>) throws(ProtocolError) -> Range<Int> {
    var reader = FieldReader(payload, from: 2)
    let field = try reader.field16()
    try reader.finish()
    return field
  }

  /// The answer to `get-attribute`: the value.
  public static func attribute(_ payload: Span<UInt8>) throws(ProtocolError) -> Range<Int> {
    var reader = FieldReader(payload, from: 2)
    let field = try reader.field32()
    try reader.finish()
    return field
  }

  /// The answer to `unlock`.
  public static func notices(_ payload: Span<UInt8>) throws(ProtocolError) -> Notice {
    var reader = FieldReader(payload, from: 2)
    let notices = Notice(rawValue: try reader.number())
    try reader.finish()
    return notices
  }

  /// The answer to `attributes`.
  public static func revision(_ payload: Span<UInt8>) throws(ProtocolError) -> UInt64 {
    var reader = FieldReader(payload, from: 2)
    let revision: UInt64 = try reader.number()
    try reader.finish()
    return revision
  }

  /// The answers that say no more than that it was done, and the go-ahead of an upload.
  public static func done(_ payload: Span<UInt8>) throws(ProtocolError) {
    try FieldReader(payload, from: 2).finish()
  }
}
