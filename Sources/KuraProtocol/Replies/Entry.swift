// SPDX-License-Identifier: MIT

public import SecureMemory

/// Tells of an item what is known beside its name, attributes and value.
public struct ItemFacts: Equatable, Sendable {
  /// 1 at first, one more at each change.
  public var revision: UInt64
  /// The value's length, in bytes.
  public var size: UInt64
  /// When the item was made, in ms of Unix time.
  public var created: UInt64
  /// When it was changed last, in ms of Unix time.
  public var modified: UInt64
  /// Whether reading the value takes a fresh passcode.
  public var protection: ProtectionClass
  /// What the value is; of a deleted item, that it is deleted.
  public var kind: ItemKind

  /// All of an item's facts.
  public init(
    revision: UInt64, size: UInt64, created: UInt64, modified: UInt64,
    protection: ProtectionClass, kind: ItemKind
  ) {
    self.revision = revision
    self.size = size
    self.created = created
    self.modified = modified
    self.protection = protection
    self.kind = kind
  }
}

/// Tells of an item in a reply: all but its value.
public struct Entry: Message, ~Escapable {
  /// The item's name, UTF-8 as it was normalised.
  public private(set) var name: Field
  /// Revision, size, times, class and kind.
  public private(set) var facts: ItemFacts
  /// Its attributes; none where they were not asked for.
  public private(set) var attributes: AttributeFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    name = Field()
    facts = ItemFacts(
      revision: 0, size: 0, created: 0, modified: 0, protection: .standard, kind: .value)
    attributes = AttributeFields()
  }

  /// Goes over `name b16, revision u64, size u64, created u64, modified u64, protection u8, kind
  /// u8, attributes`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
    try coder.number(&facts.revision)
    try coder.number(&facts.size)
    try coder.number(&facts.created)
    try coder.number(&facts.modified)
    try coder.choice(&facts.protection)
    try coder.choice(&facts.kind)
    try attributes.code(&coder)
  }
}

/// The entries of one data frame of a list, checked to be whole.
public struct EntryBatch: ~Escapable {
  /// How many there are.
  public let count: Int
  private let payload: Span<UInt8>

  /// Checks a data frame's payload from its first byte to its last.
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    count = Int(try reader.number(UInt16.self))
    for _ in 0..<count { let _: Entry = try reader.message() }
    try reader.finish()
    self.payload = payload
  }

  /// Calls `body` with each entry, in the order of the message.
  public func forEach<Failure: Error>(
    _ body: (borrowing Entry) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(payload, from: 2)
    for _ in 0..<count {
      guard let entry: Entry = try? reader.message() else {
        preconditionFailure("another batch's bytes")
      }
      try body(entry)
    }
  }
}

/// Reads the entries of one data frame of a list, each as it is checked.
public struct EntryReader: ~Escapable {
  private var reader: FieldReader
  private var left: Int

  /// Begins to read a data frame's payload.
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    left = Int(try reader.number(UInt16.self))
    self.reader = reader
  }

  /// The next entry; nil behind the last one, which ends the payload.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func next() throws(ProtocolError) -> Entry? {
    guard left > 0 else {
      try reader.finish()
      return nil
    }
    left -= 1
    return try reader.message()
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes an entry without attributes.
  public mutating func putEntry(
    name: Span<UInt8>, facts: ItemFacts
  ) throws(ProtocolError) {
    _ = try openEntry(name: name, facts: facts)
  }

  /// Writes an entry up to its attributes.
  ///
  /// ``putPair(key:value:)`` follows for each, then ``closeCount(_:_:)`` with their number.
  public mutating func openEntry(
    name: Span<UInt8>, facts: ItemFacts
  ) throws(ProtocolError) -> OpenCount {
    try put16(name)
    try put(facts.revision)
    try put(facts.size)
    try put(facts.created)
    try put(facts.modified)
    try put(facts.protection.rawValue)
    try put(facts.kind.rawValue)
    return try openCount()
  }
}
