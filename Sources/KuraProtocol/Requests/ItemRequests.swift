// SPDX-License-Identifier: MIT

/// Says what a client wants a value for. Nothing depends on it: the access log repeats it.
public enum ReadPurpose: UInt8, Sendable, CaseIterable {
  /// To be handed out as it is.
  case get = 0
  /// For a clipboard.
  case copy = 1
  /// For a command that is given it.
  case run = 2
  /// For a text that it is filled into.
  case inject = 3
  /// For another program that asks by a protocol of its own.
  case helper = 4
  /// For an editor.
  case edit = 5
}

/// Read an item's value.
public struct GetRequest: Message, ~Escapable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The reply has the attributes of that revision.
    public static let attributes = Flags(rawValue: 1)
    static let all: Flags = [.attributes]
  }

  /// The revision wanted; 0 = the current one.
  public private(set) var revision: UInt64
  public private(set) var flags: Flags
  public private(set) var purpose: ReadPurpose
  public private(set) var name: Field

  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// A value to be read; revision 0 = the current one.
  @_lifetime(copy name)
  public init(
    name: Span<UInt8>, revision: UInt64 = 0, flags: Flags = [], for purpose: ReadPurpose = .get
  ) {
    self.name = Field(name)
    self.revision = revision
    self.flags = flags
    self.purpose = purpose
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.flags(&flags, allowed: .all)
    try coder.choice(&purpose)
    try coder.field16(&name)
  }

  /// What the access log keeps of it: the revision, and the purpose in the highest byte.
  public var logDetail: UInt64 {
    revision & ReadPurpose.revisions | UInt64(purpose.rawValue) << 56
  }
}

extension ReadPurpose {
  /// The part of a log entry's detail that is the revision.
  public static let revisions: UInt64 = (1 << 56) - 1

  /// What a log entry says a value was for; one of a later release counts as the plain one.
  public init(logDetail: UInt64) {
    self = ReadPurpose(rawValue: UInt8(truncatingIfNeeded: logDetail >> 56)) ?? .get
  }
}

/// Ask for what takes an item's name and nothing else.
public struct NameRequest: Message, ~Escapable {
  public private(set) var name: Field

  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// A request about that item.
  @_lifetime(copy name)
  public init(name: Span<UInt8>) { self.name = Field(name) }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
  }
}

/// Ask for what takes an item's name, and the owner's word where it was given: `unprotect`.
public struct OwnedNameRequest: Message, ~Escapable {
  public private(set) var name: Field
  public private(set) var word: OwnerWord

  @_lifetime(immortal)
  public init() {
    name = Field()
    word = OwnerWord()
  }

  /// A request about that item.
  @_lifetime(copy name, copy word)
  public init(name: Span<UInt8>, word: OwnerWord = OwnerWord()) {
    self.name = Field(name)
    self.word = word
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
    try word.code(&coder)
  }
}

/// Read one attribute.
public struct GetAttributeRequest: Message, ~Escapable {
  public private(set) var name: Field
  public private(set) var key: Field

  @_lifetime(immortal)
  public init() { self.init(name: Span(), key: Span()) }

  /// An attribute to be read.
  @_lifetime(copy name, copy key)
  public init(name: Span<UInt8>, key: Span<UInt8>) {
    self.name = Field(name)
    self.key = Field(key)
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
    try coder.field16(&key)
  }
}

/// Store a value.
public struct PutRequest: Message, ~Escapable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An item of that name may exist; its value goes to the history.
    public static let replace = Flags(rawValue: 1)
    /// The value may be empty.
    public static let allowEmpty = Flags(rawValue: 2)
    /// The item must have ``PutRequest/revision``; 0 = it must not exist.
    public static let ifRevision = Flags(rawValue: 4)
    /// Reading it shall take a fresh passcode.
    public static let protect = Flags(rawValue: 8)
    /// The attributes take the place of all the item has; else they are added to them.
    public static let replaceAttributes = Flags(rawValue: 16)
    /// The value is an otpauth URI, in the request; the item gives one-time codes.
    public static let otp = Flags(rawValue: 32)
    static let all: Flags = [
      .replace, .allowEmpty, .ifRevision, .protect, .replaceAttributes, .otp,
    ]
  }

  public private(set) var flags: Flags
  /// Looked at with ``Flags/ifRevision`` only.
  public private(set) var revision: UInt64
  public private(set) var name: Field
  public private(set) var attributes: AttributeFields
  /// At most 65,536 bytes; none where ``isStream`` says so.
  public private(set) var value: Field
  /// Whether the value travels in data frames, after the agent's go-ahead.
  public private(set) var isStream: Bool

  @_lifetime(immortal)
  public init() {
    (flags, revision, isStream) = ([], 0, false)
    (name, value) = (Field(), Field())
    attributes = AttributeFields()
  }

  /// A value to be stored.
  ///
  /// - Parameters:
  ///   - revision: Zero without ``Flags/ifRevision``.
  ///   - value: nil where it follows in data frames.
  @_lifetime(copy name, copy attributes, copy value)
  public init(
    name: Span<UInt8>, flags: Flags = [], revision: UInt64 = 0,
    attributes: AttributeFields = AttributeFields(), value: Span<UInt8>?
  ) {
    self.flags = flags
    self.revision = revision
    self.name = Field(name)
    self.attributes = attributes
    isStream = value == nil
    self.value = if let value { Field(value) } else { Field() }
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    try coder.number(&revision)
    try coder.field16(&name)
    try attributes.code(&coder)
    try coder.flag(&isStream)
    if !isStream { try coder.field32(&value, limit: ProtocolLimit.inlineValue) }
    if !flags.contains(.ifRevision), revision != 0 { throw .fieldValue }
  }
}

/// List items, in the order of the vault, which is that of no alphabet.
public struct ListRequest: Message, ~Escapable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Deleted items that can still be restored, in place of those there are.
    public static let deleted = Flags(rawValue: 1)
    /// Each entry with its attributes.
    public static let attributes = Flags(rawValue: 2)
    static let all: Flags = [.deleted, .attributes]
  }

  public private(set) var flags: Flags
  /// Only names that begin so; empty = all.
  public private(set) var prefix: Field
  /// Only items with that attribute; empty = all.
  public private(set) var filterKey: Field
  /// The value the attribute must have; looked at when there is a key.
  public private(set) var filterValue: Field
  /// Only items with that text in their name or an attribute; empty = all. At most 1,024 bytes: each
  /// may be compared with each byte of each item.
  public private(set) var text: Field

  @_lifetime(immortal)
  public init() {
    flags = []
    (prefix, filterKey) = (Field(), Field())
    (filterValue, text) = (Field(), Field())
  }

  /// Items to be listed; empty fields ask for nothing.
  @_lifetime(copy prefix, copy filterKey, copy filterValue, copy text)
  public init(
    flags: Flags = [], prefix: Span<UInt8>, filterKey: Span<UInt8>, filterValue: Span<UInt8>,
    text: Span<UInt8>
  ) {
    self.flags = flags
    self.prefix = Field(prefix)
    self.filterKey = Field(filterKey)
    self.filterValue = Field(filterValue)
    self.text = Field(text)
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    try coder.field16(&prefix)
    try coder.field16(&filterKey)
    try coder.field16(&filterValue)
    try coder.field16(&text, limit: ProtocolLimit.searchText)
  }
}

/// Change an item's attributes.
public struct AttributesRequest: Message, ~Escapable {
  /// The revision the item must have; 0 = any.
  public private(set) var ifRevision: UInt64
  public private(set) var name: Field
  /// To be set.
  public private(set) var set: AttributeFields
  /// To be deleted.
  public private(set) var delete: KeyFields

  @_lifetime(immortal)
  public init() {
    ifRevision = 0
    name = Field()
    set = AttributeFields()
    delete = KeyFields()
  }

  /// Attributes to be changed; revision 0 = any.
  @_lifetime(copy name, copy set, copy delete)
  public init(
    name: Span<UInt8>, ifRevision: UInt64 = 0, set: AttributeFields, delete: KeyFields
  ) {
    self.ifRevision = ifRevision
    self.name = Field(name)
    self.set = set
    self.delete = delete
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&ifRevision)
    try coder.field16(&name)
    try set.code(&coder)
    try delete.code(&coder)
  }
}

/// Delete an item; its revisions stay in the history.
public struct RemoveRequest: Message, ~Escapable {
  /// The revision the item must have; 0 = any.
  public private(set) var ifRevision: UInt64
  public private(set) var name: Field

  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// An item to be deleted; revision 0 = any.
  @_lifetime(copy name)
  public init(name: Span<UInt8>, ifRevision: UInt64 = 0) {
    self.name = Field(name)
    self.ifRevision = ifRevision
  }

  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&ifRevision)
    try coder.field16(&name)
  }
}
