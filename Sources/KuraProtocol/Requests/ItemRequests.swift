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
public struct GetRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The reply has the attributes of that revision.
    public static let attributes = Flags(rawValue: 1)
    static let all: Flags = [.attributes]
  }

  /// The revision wanted; 0 = the current one.
  public let revision: UInt64
  public let flags: Flags
  public let purpose: ReadPurpose
  public let name: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    revision = try reader.number()
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    guard let purpose = ReadPurpose(rawValue: try reader.number()) else { throw .fieldValue }
    self.purpose = purpose
    name = try reader.field16()
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

/// Read one attribute.
public struct GetAttributeRequest: Equatable, Sendable {
  public let name: Range<Int>
  public let key: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    name = try reader.field16()
    key = try reader.field16()
  }
}

/// Store a value.
public struct PutRequest: Equatable, Sendable {
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

  /// Says how the value travels.
  public enum Source: Equatable, Sendable {
    /// In the request: at most 65,536 bytes.
    case inline(Range<Int>)
    /// In data frames, after the agent's go-ahead.
    case stream
  }

  public let flags: Flags
  /// Looked at with ``Flags/ifRevision`` only.
  public let revision: UInt64
  public let name: Range<Int>
  public let attributes: AttributeFields
  public let source: Source

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    revision = try reader.number()
    name = try reader.field16()
    attributes = try AttributeFields(&reader)
    switch try reader.number(UInt8.self) {
    case 0: source = .inline(try reader.field32(limit: ProtocolLimit.inlineValue))
    case 1: source = .stream
    default: throw .fieldValue
    }
    if !flags.contains(.ifRevision), revision != 0 { throw .fieldValue }
  }
}

/// List items, in the order of the vault, which is that of no alphabet.
public struct ListRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Deleted items that can still be restored, in place of those there are.
    public static let deleted = Flags(rawValue: 1)
    /// Each entry with its attributes.
    public static let attributes = Flags(rawValue: 2)
    static let all: Flags = [.deleted, .attributes]
  }

  public let flags: Flags
  /// Only names that begin so; empty = all.
  public let prefix: Range<Int>
  /// Only items with that attribute; empty = all.
  public let filterKey: Range<Int>
  /// The value the attribute must have; looked at when there is a key.
  public let filterValue: Range<Int>
  /// Only items with that text in their name or an attribute; empty = all. At most 1,024 bytes: each
  /// may be compared with each byte of each item.
  public let text: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    prefix = try reader.field16()
    filterKey = try reader.field16()
    filterValue = try reader.field16()
    text = try reader.field16(limit: ProtocolLimit.searchText)
  }
}

/// Change an item's attributes.
public struct AttributesRequest: Equatable, Sendable {
  /// The revision the item must have; 0 = any.
  public let ifRevision: UInt64
  public let name: Range<Int>
  /// To be set.
  public let set: AttributeFields
  /// To be deleted.
  public let delete: KeyFields

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    ifRevision = try reader.number()
    name = try reader.field16()
    set = try AttributeFields(&reader)
    delete = try KeyFields(&reader)
  }
}

/// Delete an item; its revisions stay in the history.
public struct RemoveRequest: Equatable, Sendable {
  /// The revision the item must have; 0 = any.
  public let ifRevision: UInt64
  public let name: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    ifRevision = try reader.number()
    name = try reader.field16()
  }
}
