// SPDX-License-Identifier: MIT

public import SecureMemory

/// Store many values at once.
public struct PutBatchRequest: Message, ~Escapable {
  /// Says when the values are stored.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Items of those names may exist; their values go to the history.
    public static let replace = Flags(rawValue: 1)
    /// Values may be empty.
    public static let allowEmpty = Flags(rawValue: 2)
    /// All items are stored, or none; with ``allowEmpty``.
    public static let whole = Flags(rawValue: 4)
    /// Nothing is stored yet: the items of the next request belong to these; with ``whole``.
    public static let more = Flags(rawValue: 8)
    /// The items are looked at as those that are to be stored, and none is; with ``whole``.
    public static let trial = Flags(rawValue: 16)
    static let all: Flags = [.replace, .allowEmpty, .whole, .more, .trial]
  }

  /// When the values are stored.
  public private(set) var flags: Flags
  /// How many items there are.
  public private(set) var count: Int
  /// The items, one behind the other.
  public private(set) var items: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(items: Span(), count: 0) }

  /// Items to be stored.
  ///
  /// - Parameters:
  ///   - items: What `SecretBuffer.putItem(_:)` wrote.
  ///   - count: How many there are.
  @_lifetime(copy items)
  public init(flags: Flags = [], items: Span<UInt8>, count: Int) {
    self.flags = flags
    self.count = count
    self.items = Field(items)
  }

  /// Whether it begins with what is no item, but goes on with one of a request before.
  public var beginsWithPiece: Bool {
    guard count > 0 else { return false }
    var offset = 0
    return BatchItem(in: items.bytes, at: &offset).flags.contains(.goesOn)
  }

  /// Goes over `flags u8, count u16, items…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    try coder.count(&count, limit: ProtocolLimit.batch)
    try coder.list(&items, of: count) { reader throws(ProtocolError) in
      let _: BatchItem = try reader.message()
    }
  }
}

/// One of many values that are to be stored at once.
public struct BatchItem: Message, ~Escapable {
  /// Says as what the value is stored.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An item of that name may exist, or stand before it in the batch; its value goes to the history.
    public static let replace = Flags(rawValue: 1)
    /// ``BatchItem/secrets`` stand there.
    public static let secrets = Flags(rawValue: 2)
    /// It is no item: its value goes on with that of the one before it. It has nothing else.
    public static let goesOn = Flags(rawValue: 4)
    /// Reading it shall take a fresh passcode.
    public static let protect = Flags(rawValue: 8)
    /// The attributes take the place of all the item has; else they are added to them.
    public static let replaceAttributes = Flags(rawValue: 16)
    /// The value is an otpauth URI; the item gives one-time codes.
    public static let otp = Flags(rawValue: 32)
    /// The item is deleted, where there is one; there is no value.
    public static let delete = Flags(rawValue: 64)
    /// Its times are those of ``BatchItem/times``; else the agent's clock says them.
    public static let dated = Flags(rawValue: 128)
    static let all: Flags = [
      .replace, .secrets, .goesOn, .protect, .replaceAttributes, .otp, .delete, .dated,
    ]
  }

  /// As what the value is stored.
  public private(set) var flags: Flags
  /// When it was made and changed, with ``Flags/dated`` only.
  public private(set) var times: ItemTimes
  /// The name as it was given, UTF-8.
  public private(set) var name: Field
  /// Attributes to be set; others of the item stay.
  public private(set) var attributes: AttributeFields
  /// Those that are to be as secret as the value, with ``Flags/secrets`` only.
  public private(set) var secrets: AttributeFields
  /// At most 65,536 bytes.
  public private(set) var value: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    flags = []
    times = ItemTimes(created: 0, modified: 0)
    (name, value) = (Field(), Field())
    (attributes, secrets) = (AttributeFields(), AttributeFields())
  }

  /// A value to be stored.
  ///
  /// - Parameters:
  ///   - name: As it was given, UTF-8.
  ///   - flags: Those of ``secrets`` and ``times`` are set or not as these are there.
  ///   - attributes: To be set.
  ///   - secrets: To be set beside the value.
  ///   - value: At most 65,536 bytes.
  ///   - times: nil for now.
  @_lifetime(copy name, copy attributes, copy secrets, copy value)
  public init(
    name: Span<UInt8>, flags: Flags = [], attributes: AttributeFields = AttributeFields(),
    secrets: AttributeFields = AttributeFields(), value: Span<UInt8>, times: ItemTimes? = nil
  ) {
    var flags = flags.subtracting([.dated, .secrets])
    if times != nil { flags.insert(.dated) }
    if secrets.count > 0 { flags.insert(.secrets) }
    self.flags = flags
    self.secrets = secrets
    self.times = times ?? ItemTimes(created: 0, modified: 0)
    self.name = Field(name)
    self.attributes = attributes
    self.value = Field(value)
  }

  /// Reads an item.
  ///
  /// - Parameters:
  ///   - items: Those of a ``PutBatchRequest``, or a copy of them.
  ///   - offset: Zero for the first item; moves on to the next.
  @_lifetime(copy items)
  public init(in items: Span<UInt8>, at offset: inout Int) {
    var reader = FieldReader(items, from: offset)
    guard let item: BatchItem = try? reader.message() else {
      preconditionFailure("another request's bytes")
    }
    offset = reader.offset
    self = item
  }

  /// Goes over `flags u8`, with ``Flags/dated`` `created u64, modified u64`, and `name b16, attributes`, with
  /// ``Flags/secrets`` more `attributes`, and `value b32`; what is deleted has neither value nor these, and makes no codes.
  /// What goes on has a value alone.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    if flags.contains(.dated) { try times.code(&coder) }
    try coder.field16(&name)
    try attributes.code(&coder)
    if flags.contains(.secrets) { try secrets.code(&coder) }
    try coder.field32(&value, limit: ProtocolLimit.inlineValue)
    if flags.contains(.goesOn) {
      guard flags == .goesOn, name.bytes.isEmpty, attributes.count == 0 else { throw .fieldValue }
    }
    guard flags.contains(.delete) else { return }
    if !flags.isDisjoint(with: [.otp, .secrets]) || !value.bytes.isEmpty { throw .fieldValue }
  }
}

extension ItemTimes {
  /// Goes over `created u64, modified u64`; neither is beyond ``latest``.
  mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&created)
    try coder.number(&modified)
    guard max(created, modified) <= ItemTimes.latest else { throw .fieldValue }
  }
}

extension SecretBuffer {
  /// Writes an item of a batch.
  public mutating func putItem(_ item: BatchItem) throws(ProtocolError) {
    var item = item
    try item.code(&self)
  }
}
