// SPDX-License-Identifier: MIT

public import SecureMemory

/// Bring another copy of the vault and this one together. Progress frames follow, then a data frame with a
/// ``MergeReply``, and an end.
public struct MergeRequest: Message, ~Escapable {
  /// Whether only to tell what would be changed.
  public private(set) var isTrial: Bool
  /// Where the other copy stands; absolute.
  public private(set) var path: Field
  /// What opens the copy where it stands under another vault key; none otherwise.
  public private(set) var key: OwnerWord

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    isTrial = false
    path = Field()
    key = OwnerWord()
  }

  /// A copy to be read.
  @_lifetime(copy path, copy key)
  public init(path: Span<UInt8>, isTrial: Bool = false, by key: OwnerWord = OwnerWord()) {
    self.isTrial = isTrial
    self.path = Field(path)
    self.key = key
  }

  /// Goes over `trial u8, path b16, key`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flag(&isTrial)
    try coder.field16(&path, limit: ProtocolLimit.path)
    try key.codeElsewhere(&coder)
  }
}

/// Tells what came of a merge, by counts.
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
  /// Settings that were made looser there, and are so here from the owner's next unlock on.
  public var looserSettings: UInt64 = 0
  /// Ways to open the vault that came from there, or ended there.
  public var slots: UInt64 = 0
  /// Ways to open the vault that came from there, and find no room here.
  public var waitingSlots: UInt64 = 0
  /// Whether each passcode and recovery key was ended by one copy or the other, so that all of them stand.
  public var keptSlots = false
  /// The path of the copy of a vault that was taken over for it, UTF-8; empty where it had the format already.
  public private(set) var copy: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(copy: Span()) }

  /// Nothing yet.
  @_lifetime(copy copy)
  public init(copy: Span<UInt8>) { self.copy = Field(copy) }

  /// Goes over `added u64, changed u64, purged u64, conflicting u64, renamed u64, settings u64, looser u64,
  /// slots u64, waiting u64, kept u8, copy b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&added)
    try coder.number(&changed)
    try coder.number(&purged)
    try coder.number(&conflicting)
    try coder.number(&renamed)
    try coder.number(&settings)
    try coder.number(&looserSettings)
    try coder.number(&slots)
    try coder.number(&waitingSlots)
    try coder.flag(&keptSlots)
    try coder.field16(&copy)
  }
}

/// List what copies do not agree on. Data frames with a ``ConflictBatch`` each follow, then an end.
public struct ConflictsRequest: Message, ~Escapable {
  /// Of which item; empty for all.
  public private(set) var name: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// Those of an item, or all.
  @_lifetime(copy name)
  public init(name: Span<UInt8>) { self.name = Field(name) }

  /// Goes over `name b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
  }
}

/// The conflicts of one data frame, checked to be whole; in no order that a person would see.
public struct ConflictBatch: Equatable, Sendable {
  /// Holds one of them, whose texts stand in the frame's payload.
  public struct Conflict: Equatable, Sendable {
    /// What copies do not agree on; none of ``ConflictPart`` is passed over.
    public let part: UInt8
    /// The revision here that has the other content; 0 for none.
    public let revision: UInt64
    /// Where the item's name stands, UTF-8.
    public let name: Range<Int>
    /// Where the attribute's key stands, or the name that the item would have; empty for all else.
    public let text: Range<Int>

    fileprivate init(_ reader: inout FieldReader) throws(ProtocolError) {
      part = try reader.number()
      revision = try reader.number()
      name = try reader.field16()
      text = try reader.field16()
    }
  }

  /// How many there are.
  public let count: Int

  /// Checks a data frame's payload from its first byte to its last.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    count = Int(try reader.number(UInt16.self))
    for _ in 0..<count { _ = try Conflict(&reader) }
    try reader.finish()
  }

  /// Calls `body` with each, in the order of the message.
  ///
  /// - Parameter payload: The bytes that the batch was read from.
  public func forEach<Failure: Error>(
    in payload: Span<UInt8>, _ body: (Conflict) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(payload, from: 2)
    for _ in 0..<count {
      guard let conflict = try? Conflict(&reader) else {
        preconditionFailure("another batch's bytes")
      }
      try body(conflict)
    }
  }
}

extension SecretBuffer {
  /// Writes one conflict into a batch.
  public mutating func putConflict(
    _ part: ConflictPart, revision: UInt64, name: Span<UInt8>, text: Span<UInt8>
  ) throws(ProtocolError) {
    try put(part.rawValue)
    try put(revision)
    try put16(name)
    try put16(text)
  }

  /// Says what came of a merge.
  public mutating func putMerge(_ reply: MergeReply) throws(ProtocolError) {
    let frame = try openFrame(.data)
    var reply = reply
    try reply.code(&self)
    try closeFrame(frame)
  }
}
