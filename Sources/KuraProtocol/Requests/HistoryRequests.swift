// SPDX-License-Identifier: MIT

/// Give an item another name; revision and history stay.
public struct MoveRequest: Message, ~Escapable {
  /// Says whether the new name may be taken.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A value may stand under the new name; it is deleted into its history, under the old name.
    public static let replace = Flags(rawValue: 1)
  }

  /// Whether the new name may be taken.
  public private(set) var flags: Flags
  /// The name that the item has.
  public private(set) var name: Field
  /// The one that it is to have.
  public private(set) var new: Field
  /// The owner's, where a protected item is in question; else empty.
  public private(set) var word: OwnerWord
  /// The names of the items that go with it.
  public private(set) var files: KeyFields
  /// Those that they are to have, in the same order; as many.
  public private(set) var newFiles: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    flags = []
    (name, new) = (Field(), Field())
    word = OwnerWord()
    (files, newFiles) = (KeyFields(), KeyFields())
  }

  /// An item to be renamed, and those that go with it.
  @_lifetime(copy name, copy new, copy word, copy files, copy newFiles)
  public init(
    name: Span<UInt8>, to new: Span<UInt8>, flags: Flags = [], word: OwnerWord = OwnerWord(),
    files: KeyFields = KeyFields(), newFiles: KeyFields = KeyFields()
  ) {
    self.flags = flags
    self.name = Field(name)
    self.new = Field(new)
    self.word = word
    self.files = files
    self.newFiles = newFiles
  }

  /// Goes over `flags u8, name b16, new b16, files, newFiles, word`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .replace)
    try coder.field16(&name)
    try coder.field16(&new)
    try files.code(&coder)
    try newFiles.code(&coder)
    try word.code(&coder)
    guard files.count == newFiles.count else { throw .fieldValue }
  }

  /// Calls `body` with the name of each item that goes with it, and the one that it is to have.
  public func eachFile<Failure: Error>(
    _ body: (borrowing Field, borrowing Field) throws(Failure) -> Void
  ) throws(Failure) {
    try files.forEach(with: newFiles, body)
  }
}

/// Bring an earlier revision back as the next one.
public struct RestoreRequest: Message, ~Escapable {
  /// The revision to bring back; 0 = the newest value of a deleted item.
  public private(set) var revision: UInt64
  /// The revision the item must have, deleted or not; 0 = any.
  public private(set) var ifRevision: UInt64
  /// The item's name, deleted or not.
  public private(set) var name: Field
  /// The names of deleted items that come back with it.
  public private(set) var files: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (revision, ifRevision) = (0, 0)
    name = Field()
    files = KeyFields()
  }

  /// A revision to be brought back; 0 = the newest value of a deleted item, ifRevision 0 = any.
  @_lifetime(copy name, copy files)
  public init(
    name: Span<UInt8>, revision: UInt64 = 0, ifRevision: UInt64 = 0,
    files: KeyFields = KeyFields()
  ) {
    self.name = Field(name)
    self.revision = revision
    self.ifRevision = ifRevision
    self.files = files
  }

  /// Goes over `revision u64, ifRevision u64, name b16, files`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.number(&ifRevision)
    try coder.field16(&name)
    try files.code(&coder)
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

  /// What of the item goes.
  public private(set) var scope: Scope
  /// Which one; 0 for every other scope.
  public private(set) var revision: UInt64
  /// The item's name, deleted or not.
  public private(set) var name: Field
  /// The owner's, where a protected item is in question; else empty.
  public private(set) var word: OwnerWord

  /// Without fields yet: they are read into it.
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

  /// Goes over `scope u8, revision u64, name b16, word`; a revision is refused where it is not the
  /// scope, and none where it is.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&scope)
    try coder.number(&revision)
    try coder.field16(&name)
    try word.code(&coder)
    guard (scope == .revision) == (revision != 0) else { throw .fieldValue }
  }
}
