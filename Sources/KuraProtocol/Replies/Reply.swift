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
public struct GetReply: Message, ~Escapable {
  /// The item, without its attributes unless they were asked for.
  public private(set) var entry: Entry
  /// Whether the value follows in data frames, then an end.
  public private(set) var isStream: Bool
  /// The value, where it does not.
  public private(set) var value: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    entry = Entry()
    isStream = false
    value = Field()
  }

  /// Goes over `entry, isStream u8`, and `value b32` where it is no stream.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try entry.code(&coder)
    try coder.flag(&isStream)
    if !isStream { try coder.field32(&value, limit: ProtocolLimit.inlineValue) }
  }
}

/// The answer to `show`.
public struct ShowReply: Message, ~Escapable {
  /// The item, with its attributes.
  public private(set) var entry: Entry
  /// How many earlier revisions are kept.
  public private(set) var revisionCount: Int
  private var revisions: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    entry = Entry()
    revisionCount = 0
    revisions = Field()
  }

  /// Goes over `entry, revisionCount u16, revisions…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try entry.code(&coder)
    try coder.count(&revisionCount, limit: Int(UInt16.max))
    try coder.list(&revisions, of: revisionCount) { reader throws(ProtocolError) in
      _ = try reader.number(UInt64.self)
    }
  }

  /// The kept revisions, in the order of the message: ascending.
  public var revisionNumbers: [UInt64] {
    var reader = FieldReader(revisions.bytes)
    var numbers: [UInt64] = []
    numbers.reserveCapacity(revisionCount)
    while let number = try? reader.number(UInt64.self) { numbers.append(number) }
    return numbers
  }
}

/// The answer to `put` and `move`.
public struct PutReply: Message, Equatable, Sendable {
  /// The item's revision now.
  public private(set) var revision: UInt64
  /// The revision it replaced; 0 = the item is new.
  public private(set) var replaced: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(revision: 0, replaced: 0) }

  /// What became of a value.
  public init(revision: UInt64, replaced: UInt64) {
    self.revision = revision
    self.replaced = replaced
  }

  /// Goes over `revision u64, replaced u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.number(&replaced)
  }
}

/// The answer to what changes an item, but not its value: `attributes`, `protect`, `unprotect`, `restore`.
public struct RevisionReply: Message, Equatable, Sendable {
  /// The item's revision now.
  public private(set) var revision: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(0) }

  /// That revision.
  public init(_ revision: UInt64) { self.revision = revision }

  /// Goes over `revision u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
  }
}

/// The answer to `unlock` and `authorize`.
public struct UnlockReply: Message, Equatable, Sendable {
  /// What a person should be told.
  public private(set) var notices: Notice

  /// Without fields yet: they are read into it.
  public init() { self.init([]) }

  /// Those notices.
  public init(_ notices: Notice) { self.notices = notices }

  /// Goes over `notices u32`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    var raw = notices.rawValue
    try coder.number(&raw)
    notices = Notice(rawValue: raw)
  }
}

/// The answer to what may make a recovery key: `create`, `passcode`, `slot-add`, `rekey`.
public struct RecoveryKeyReply: Message, ~Escapable {
  /// The new key, for a person to write down; empty for none.
  public private(set) var text: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span()) }

  /// That key.
  @_lifetime(copy text)
  public init(_ text: Span<UInt8>) { self.text = Field(text) }

  /// Goes over `text b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&text)
  }
}

/// The answer to `get-attribute`.
public struct AttributeReply: Message, ~Escapable {
  /// The attribute's value; at most a frame long.
  public private(set) var value: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span()) }

  /// That value.
  @_lifetime(copy value)
  public init(_ value: Span<UInt8>) { self.value = Field(value) }

  /// Goes over `value b32`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field32(&value, limit: ProtocolLimit.frame)
  }
}

/// The answer that says no more than that it was done, and the go-ahead of an upload.
public struct DoneReply: Message, Equatable, Sendable {
  /// Without fields yet: they are read into it.
  public init() {}

  /// Goes over nothing.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {}
}

extension Message where Self: ~Escapable {
  /// Reads a reply's payload that ``Reply`` found to be ok; every byte of it must have its place.
  @_lifetime(copy payload)
  public init(reply payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    self.init()
    try code(&reader)
    try reader.finish()
  }

  /// Reads the payload of a frame of type ``FrameType/data``; every byte of it must have its place.
  @_lifetime(copy payload)
  public init(data payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    self.init()
    try code(&reader)
    try reader.finish()
  }
}
