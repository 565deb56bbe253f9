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
  /// Says what is read beside the value.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The reply has the attributes of that revision.
    public static let attributes = Flags(rawValue: 1)
    static let all: Flags = [.attributes]
  }

  /// The revision wanted; 0 = the current one.
  public private(set) var revision: UInt64
  /// What is read beside the value.
  public private(set) var flags: Flags
  /// For the access log alone.
  public private(set) var purpose: ReadPurpose
  /// The item's name, UTF-8.
  public private(set) var name: Field

  /// Without fields yet: they are read into it.
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

  /// Goes over `revision u64, flags u8, purpose u8, name b16`.
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
  public static let revisions: UInt64 = (1 << 40) - 1
  /// The part below the highest byte.
  public static let rest: UInt64 = (1 << 56) - 1

  /// What a log entry says a value was for; one of a later release counts as the plain one.
  public init(logDetail: UInt64) {
    self = ReadPurpose(rawValue: UInt8(truncatingIfNeeded: logDetail >> 56)) ?? .get
  }
}

/// Ask for what takes an item's name and nothing else.
public struct NameRequest: Message, ~Escapable {
  /// The item's name, UTF-8.
  public private(set) var name: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// A request about that item.
  @_lifetime(copy name)
  public init(name: Span<UInt8>) { self.name = Field(name) }

  /// Goes over `name b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
  }
}

/// Ask for what takes an item's name, and the owner's word where it was given: `unprotect`.
public struct OwnedNameRequest: Message, ~Escapable {
  /// The item's name, UTF-8.
  public private(set) var name: Field
  /// The owner's; empty where none was given.
  public private(set) var word: OwnerWord

  /// Without fields yet: they are read into it.
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

  /// Goes over `name b16, word`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
    try word.code(&coder)
  }
}

/// Read one attribute.
public struct GetAttributeRequest: Message, ~Escapable {
  /// The item's name, UTF-8.
  public private(set) var name: Field
  /// The attribute's key, UTF-8.
  public private(set) var key: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(name: Span(), key: Span()) }

  /// An attribute to be read.
  @_lifetime(copy name, copy key)
  public init(name: Span<UInt8>, key: Span<UInt8>) {
    self.name = Field(name)
    self.key = Field(key)
  }

  /// Goes over `name b16, key b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&name)
    try coder.field16(&key)
  }
}

/// Store a value.
public struct PutRequest: Message, ~Escapable {
  /// Says when the value is stored, and as what.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
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
    /// ``PutRequest/secrets`` stand there.
    public static let secrets = Flags(rawValue: 64)
    /// Its times are those of ``PutRequest/times``; else the agent's clock says them.
    public static let dated = Flags(rawValue: 128)
    static let all: Flags = [
      .replace, .allowEmpty, .ifRevision, .protect, .replaceAttributes, .otp, .secrets, .dated,
    ]
  }

  /// When the value is stored, and as what.
  public private(set) var flags: Flags
  /// When the item was made and changed, with ``Flags/dated`` only.
  public private(set) var times: ItemTimes
  /// Looked at with ``Flags/ifRevision`` only.
  public private(set) var revision: UInt64
  /// The item's name as it was given, UTF-8.
  public private(set) var name: Field
  /// Attributes to be set with the value.
  public private(set) var attributes: AttributeFields
  /// Those that are to be as secret as the value, with ``Flags/secrets`` only.
  public private(set) var secrets: AttributeFields
  /// At most 65,536 bytes; none where ``isStream`` says so.
  public private(set) var value: Field
  /// Whether the value travels in data frames, after the agent's go-ahead.
  public private(set) var isStream: Bool

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (flags, revision, isStream) = ([], 0, false)
    times = ItemTimes(created: 0, modified: 0)
    (name, value) = (Field(), Field())
    (attributes, secrets) = (AttributeFields(), AttributeFields())
  }

  /// A value to be stored.
  ///
  /// - Parameters:
  ///   - name: As it was given, UTF-8.
  ///   - flags: Those of ``secrets`` and ``times`` are set or not as these are there.
  ///   - revision: Zero without ``Flags/ifRevision``.
  ///   - attributes: To be set.
  ///   - secrets: To be set beside the value.
  ///   - value: nil where it follows in data frames.
  ///   - times: nil for now.
  @_lifetime(copy name, copy attributes, copy secrets, copy value)
  public init(
    name: Span<UInt8>, flags: Flags = [], revision: UInt64 = 0,
    attributes: AttributeFields = AttributeFields(), secrets: AttributeFields = AttributeFields(),
    value: Span<UInt8>?, times: ItemTimes? = nil
  ) {
    var flags = flags.subtracting([.dated, .secrets])
    if times != nil { flags.insert(.dated) }
    if secrets.count > 0 { flags.insert(.secrets) }
    self.flags = flags
    self.secrets = secrets
    self.times = times ?? ItemTimes(created: 0, modified: 0)
    self.revision = revision
    self.name = Field(name)
    self.attributes = attributes
    isStream = value == nil
    self.value = if let value { Field(value) } else { Field() }
  }

  /// Goes over `flags u8`, with ``Flags/dated`` `created u64, modified u64`, and `revision u64, name b16, attributes`,
  /// with ``Flags/secrets`` more `attributes`, `isStream u8`, and `value b32` where it is no stream; a revision without its flag is refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    if flags.contains(.dated) { try times.code(&coder) }
    try coder.number(&revision)
    try coder.field16(&name)
    try attributes.code(&coder)
    if flags.contains(.secrets) { try secrets.code(&coder) }
    try coder.flag(&isStream)
    if !isStream { try coder.field32(&value, limit: ProtocolLimit.inlineValue) }
    if !flags.contains(.ifRevision), revision != 0 { throw .fieldValue }
  }
}

/// List items, in the order of the vault, which is that of no alphabet.
public struct ListRequest: Message, ~Escapable {
  /// Says which items, and what of them.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Deleted items that can still be restored, in place of those there are.
    public static let deleted = Flags(rawValue: 1)
    /// Each entry with its attributes.
    public static let attributes = Flags(rawValue: 2)
    static let all: Flags = [.deleted, .attributes]
  }

  /// Which items, and what of them.
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

  /// Without fields yet: they are read into it.
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

  /// Goes over `flags u8, prefix b16, filterKey b16, filterValue b16, text b16`.
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
  /// The item's name, UTF-8.
  public private(set) var name: Field
  /// To be set.
  public private(set) var set: AttributeFields
  /// To be deleted.
  public private(set) var delete: KeyFields

  /// Without fields yet: they are read into it.
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

  /// Goes over `ifRevision u64, name b16, set, delete`.
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
  /// The item's name, UTF-8.
  public private(set) var name: Field
  /// The names of the items that go with it.
  public private(set) var files: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    ifRevision = 0
    name = Field()
    files = KeyFields()
  }

  /// An item to be deleted; revision 0 = any.
  @_lifetime(copy name, copy files)
  public init(name: Span<UInt8>, ifRevision: UInt64 = 0, files: KeyFields = KeyFields()) {
    self.name = Field(name)
    self.ifRevision = ifRevision
    self.files = files
  }

  /// Goes over `ifRevision u64, name b16, files`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&ifRevision)
    try coder.field16(&name)
    try files.code(&coder)
  }
}
