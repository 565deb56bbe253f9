// SPDX-License-Identifier: MIT

/// Set an attribute whose value is as secret as the item's.
public struct SetSecretRequest: Message, ~Escapable {
  /// The revision the item must have; 0 = any.
  public private(set) var ifRevision: UInt64
  /// The item's name, UTF-8.
  public private(set) var name: Field
  /// The attribute's key, UTF-8.
  public private(set) var key: Field
  /// Its value, UTF-8.
  public private(set) var value: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(name: Span(), key: Span(), value: Span()) }

  /// An attribute to be set; revision 0 = any.
  @_lifetime(copy name, copy key, copy value)
  public init(name: Span<UInt8>, ifRevision: UInt64 = 0, key: Span<UInt8>, value: Span<UInt8>) {
    self.ifRevision = ifRevision
    self.name = Field(name)
    self.key = Field(key)
    self.value = Field(value)
  }

  /// Goes over `ifRevision u64, name b16, key b16, value b32`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&ifRevision)
    try coder.field16(&name)
    try coder.field16(&key)
    try coder.field32(&value, limit: ProtocolLimit.frame)
  }
}

/// The answer to `set-secret`: the item's revision, and where the copy is of a vault that was taken over for it.
public struct SetSecretReply: Message, ~Escapable {
  /// The item's revision now.
  public private(set) var revision: UInt64
  /// The path of the copy, UTF-8; empty where the vault had the format already.
  public private(set) var copy: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(0, copy: Span()) }

  /// What came of it.
  @_lifetime(copy copy)
  public init(_ revision: UInt64, copy: Span<UInt8>) {
    self.revision = revision
    self.copy = Field(copy)
  }

  /// Goes over `revision u64, copy b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.field16(&copy)
  }
}

/// Read all attributes of an item that are as secret as its value.
public struct GetSecretsRequest: Message, ~Escapable {
  /// Which revision; 0 = the current one.
  public private(set) var revision: UInt64
  /// The item's name, UTF-8.
  public private(set) var name: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(name: Span()) }

  /// Attributes to be read; revision 0 = the current one.
  @_lifetime(copy name)
  public init(name: Span<UInt8>, revision: UInt64 = 0) {
    self.revision = revision
    self.name = Field(name)
  }

  /// Goes over `revision u64, name b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try coder.field16(&name)
  }
}

/// The answer to `get-secrets`: keys and values.
public struct GetSecretsReply: Message, ~Escapable {
  /// Ascending by key.
  public private(set) var attributes: AttributeFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(AttributeFields()) }

  /// Attributes to be written.
  @_lifetime(copy attributes)
  public init(_ attributes: AttributeFields) { self.attributes = attributes }

  /// Goes over `attributes`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try attributes.code(&coder)
  }
}

/// The answer to `take-over`: where the copy of the vault that was taken over is.
public struct TakeOverReply: Message, ~Escapable {
  /// Its path, UTF-8; empty where the vault had the format already.
  public private(set) var copy: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(copy: Span()) }

  /// What came of it.
  @_lifetime(copy copy)
  public init(copy: Span<UInt8>) { self.copy = Field(copy) }

  /// Goes over `copy b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&copy)
  }
}

/// The answer to `secrets`: the keys of an item's secret attributes, and how long their values are.
public struct SecretsReply: Message, ~Escapable {
  /// How many there are.
  public private(set) var count: Int
  private var list: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Keys and sizes to be written.
  ///
  /// - Parameters:
  ///   - list: `b16 key, u32 size` for each.
  ///   - count: How many there are.
  @_lifetime(copy list)
  public init(_ list: Span<UInt8>, count: Int) {
    self.count = count
    self.list = Field(list)
  }

  /// Goes over `count u16 (key b16, size u32)…`; more than ``ProtocolLimit/attributes`` are refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: ProtocolLimit.attributes)
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      _ = try reader.field16()
      _ = try reader.number(UInt32.self)
    }
  }

  /// Calls `body` with each key, and how many bytes its value has.
  public func forEach<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ size: UInt32) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      guard let key = try? reader.field16(), let size = try? reader.number(UInt32.self) else {
        preconditionFailure("a list that was not read")
      }
      try body(list.bytes.extracting(key), size)
    }
  }
}
