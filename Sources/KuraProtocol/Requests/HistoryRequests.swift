// SPDX-License-Identifier: MIT

/// Give an item another name; revision and history stay.
public struct MoveRequest: Message, ~Escapable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A value may stand under the new name; it is deleted into its history, under the old name.
    public static let replace = Flags(rawValue: 1)
  }

  public private(set) var flags: Flags
  public private(set) var name: Field
  public private(set) var new: Field
  public private(set) var word: OwnerWord

  @_lifetime(immortal)
  public init() {
    flags = []
    (name, new) = (Field(), Field())
    word = OwnerWord()
  }

  /// An item to be renamed.
  @_lifetime(copy name, copy new, copy word)
  public init(
    name: Span<UInt8>, to new: Span<UInt8>, flags: Flags = [], word: OwnerWord = OwnerWord()
  ) {
    self.flags = flags
    self.name = Field(name)
    self.new = Field(new)
    self.word = word
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .replace)
    try coder.field16(&name)
    try coder.field16(&new)
    try word.code(&coder)
  }
}

/// Bring an earlier revision back as the next one.
public struct RestoreRequest: Message, ~Escapable {
  /// The revision to bring back; 0 = the newest value of a deleted item.
  public private(set) var revision: UInt64
  /// The revision the item must have, deleted or not; 0 = any.
  public private(set) var ifRevision: UInt64
  public private(set) var name: Field

  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// A revision to be brought back; 0 = the newest value of a deleted item, ifRevision 0 = any.
  @_lifetime(copy name)
  public init(name: Span<UInt8>, revision: UInt64 = 0, ifRevision: UInt64 = 0) {
    self.name = Field(name)
    self.revision = revision
    self.ifRevision = ifRevision
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.number(&ifRevision)
    try coder.field16(&name)
  }
}

/// Take an item, or earlier revisions of it, out of the vault for good.
public struct PurgeRequest: Message, ~Escapable {
  /// Says what goes.
  public enum Scope: UInt8, Sendable, CaseIterable {
    /// All of the item, deleted or not.
    case item = 0
    /// All its earlier revisions.
    case history = 1
    /// One of them.
    case revision = 2
  }

  public private(set) var scope: Scope
  /// Which one; 0 for every other scope.
  public private(set) var revision: UInt64
  public private(set) var name: Field
  public private(set) var word: OwnerWord

  @_lifetime(immortal)
  public init() {
    (scope, revision) = (.item, 0)
    name = Field()
    word = OwnerWord()
  }

  /// What is to go; a revision only where one is meant.
  @_lifetime(copy name, copy word)
  public init(
    name: Span<UInt8>, _ scope: Scope, revision: UInt64 = 0, word: OwnerWord = OwnerWord()
  ) {
    self.scope = scope
    self.revision = revision
    self.name = Field(name)
    self.word = word
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&scope)
    try coder.number(&revision)
    try coder.field16(&name)
    try word.code(&coder)
    guard (scope == .revision) == (revision != 0) else { throw .fieldValue }
  }
}
