// SPDX-License-Identifier: MIT

/// Bring another copy of the vault and this one together.
public struct MergeRequest: Message, ~Escapable {
  /// Whether only to tell what would be changed.
  public private(set) var isTrial: Bool
  /// Where the other copy stands; absolute.
  public private(set) var path: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(path: Span()) }

  /// A copy to be read.
  @_lifetime(copy path)
  public init(path: Span<UInt8>, isTrial: Bool = false) {
    self.isTrial = isTrial
    self.path = Field(path)
  }

  /// Goes over `trial u8, path b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flag(&isTrial)
    try coder.field16(&path, limit: ProtocolLimit.path)
  }
}

/// The answer to `merge`: what came of it, by counts.
public struct MergeReply: Message, ~Escapable {
  /// Items that were not here.
  public var added: UInt64 = 0
  /// Items of which the copy had something that was not here.
  public var changed: UInt64 = 0
  /// Items that are gone, since they were purged there.
  public var purged: UInt64 = 0
  /// Items with a conflict now.
  public var conflicting: UInt64 = 0
  /// Items that got another name, or got theirs back.
  public var renamed: UInt64 = 0
  /// Settings that are stricter now.
  public var settings: UInt64 = 0
  /// Ways to open the vault that came from there, or ended there.
  public var slots: UInt64 = 0
  /// The path of the copy of a vault that was taken over for it, UTF-8; empty where it had the format already.
  public private(set) var copy: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(copy: Span()) }

  /// Nothing yet.
  @_lifetime(copy copy)
  public init(copy: Span<UInt8>) { self.copy = Field(copy) }

  /// Goes over `added u64, changed u64, purged u64, conflicting u64, renamed u64, settings u64, slots u64,
  /// copy b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&added)
    try coder.number(&changed)
    try coder.number(&purged)
    try coder.number(&conflicting)
    try coder.number(&renamed)
    try coder.number(&settings)
    try coder.number(&slots)
    try coder.field16(&copy)
  }
}

/// List what copies do not agree on, some items at a time.
public struct ConflictsRequest: Message, ~Escapable {
  /// Where the answer before ended; empty to begin with.
  public private(set) var from: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(from: Span()) }

  /// The next part.
  @_lifetime(copy from)
  public init(from: Span<UInt8>) { self.from = Field(from) }

  /// Goes over `from b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&from, limit: 16)
  }
}

/// The answer to `conflicts`: the next conflicts, in no order that a person would see.
public struct ConflictsReply: Message, ~Escapable {
  /// Holds one of them.
  public struct Conflict: ~Escapable {
    /// What copies do not agree on; none of ``ConflictPart`` is passed over.
    public let part: UInt8
    /// The revision here that has the other content; 0 for none.
    public let revision: UInt64
    /// The item's name, UTF-8.
    public let name: Span<UInt8>
    /// The attribute's key, or the name that the item would have; empty for all else.
    public let text: Span<UInt8>

    @_lifetime(copy name, copy text)
    init(_ part: UInt8, _ revision: UInt64, _ name: Span<UInt8>, _ text: Span<UInt8>) {
      self.part = part
      self.revision = revision
      self.name = name
      self.text = text
    }
  }

  /// How many there are.
  public private(set) var count: Int
  private var list: Field
  /// Where to go on; empty at the end.
  public private(set) var next: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0, next: Span()) }

  /// Conflicts to be written.
  ///
  /// - Parameters:
  ///   - list: `u8 part, u64 revision, b16 name, b16 text` for each.
  ///   - count: How many there are.
  ///   - next: Where to go on; empty at the end.
  @_lifetime(copy list, copy next)
  public init(_ list: Span<UInt8>, count: Int, next: Span<UInt8>) {
    self.count = count
    self.list = Field(list)
    self.next = Field(next)
  }

  /// Goes over `count u16 (part u8, revision u64, name b16, text b16)…, next b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: ProtocolLimit.conflicts)
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      _ = try reader.number(UInt8.self)
      _ = try reader.number(UInt64.self)
      _ = try reader.field16()
      _ = try reader.field16()
    }
    try coder.field16(&next, limit: 16)
  }

  /// Calls `body` with each.
  public func forEach<Failure: Error>(
    _ body: (Conflict) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      guard let part = try? reader.number(UInt8.self),
        let revision = try? reader.number(UInt64.self), let name = try? reader.field16(),
        let text = try? reader.field16()
      else { preconditionFailure("a list that was not read") }
      try body(
        Conflict(part, revision, list.bytes.extracting(name), list.bytes.extracting(text)))
    }
  }
}
