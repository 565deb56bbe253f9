// SPDX-License-Identifier: MIT

/// Says below which process a grant serves.
public enum GrantScope: UInt8, Sendable, CaseIterable {
  /// The program that asks: the nearest process above the client that is not `kura`.
  case program = 0
  /// The process that connected.
  case client = 1
  /// The process of a number.
  case process = 2
}

/// Let the programs below a process read some protected values for a while.
public struct GrantRequest: Message, ~Escapable {
  /// In place of how often: any number of times.
  public static let anyUses: UInt32 = 0

  /// Below which process it serves.
  public private(set) var scope: GrantScope
  /// The number of that process with ``GrantScope/process``, else 0.
  public private(set) var process: UInt32
  /// For how long, in ms.
  public private(set) var lifetime: UInt64
  /// How many values it opens, or ``anyUses``.
  public private(set) var uses: UInt32
  /// Why, in its owner's words; no secret.
  public private(set) var reason: Field
  /// The names of the items, UTF-8.
  public private(set) var names: KeyFields
  /// What opens the vault now.
  public private(set) var authority: SlotAuthority

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (scope, process, lifetime, uses) = (.program, 0, ProtocolLimit.grantTime, Self.anyUses)
    reason = Field()
    names = KeyFields()
    authority = SlotAuthority()
  }

  /// A grant to be made.
  ///
  /// - Parameter process: With ``GrantScope/process`` alone.
  @_lifetime(copy authority, copy names, copy reason)
  public init(
    _ authority: SlotAuthority, _ names: KeyFields, to scope: GrantScope, process: UInt32 = 0,
    lifetime: UInt64 = ProtocolLimit.grantTime, uses: UInt32 = anyUses,
    reason: Span<UInt8> = Span()
  ) {
    (self.scope, self.process, self.lifetime, self.uses) = (scope, process, lifetime, uses)
    self.reason = Field(reason)
    self.names = names
    self.authority = authority
  }

  /// Goes over `scope u8, process u32, lifetime u64, uses u32, reason b16, names, authority`; a time and a number of
  /// names that no grant has are refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&scope)
    try coder.number(&process)
    try coder.number(&lifetime)
    try coder.number(&uses)
    try coder.field16(&reason, limit: ProtocolLimit.reason)
    try names.code(&coder)
    try authority.code(&coder)
    guard (1...ProtocolLimit.grantTime).contains(lifetime), (scope == .process) == (process > 0),
      (1...ProtocolLimit.granted).contains(names.count)
    else { throw .fieldValue }
  }
}

/// The answer to `grant`.
public struct GrantReply: Message, Equatable, Sendable {
  /// What a person should be told.
  public private(set) var notices: Notice
  /// What the grant is called; 0 where there was nothing to grant.
  public private(set) var number: UInt64
  /// How many of the items are protected: the others are read without it.
  public private(set) var granted: UInt16

  /// Without fields yet: they are read into it.
  public init() { self.init([], number: 0, granted: 0) }

  /// A grant of so many items.
  public init(_ notices: Notice, number: UInt64, granted: UInt16) {
    (self.notices, self.number, self.granted) = (notices, number, granted)
  }

  /// Goes over `notices u32, number u64, granted u16`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    var raw = notices.rawValue
    try coder.number(&raw)
    notices = Notice(rawValue: raw)
    try coder.number(&number)
    try coder.number(&granted)
  }
}

/// Tells of a grant that stands.
public struct GrantEntry: Message, ~Escapable {
  /// In place of how often: any number of times.
  public static let anyUses = UInt32.max

  /// What it is called.
  public var number: UInt64 = 0
  /// The process below which it serves.
  public var process: UInt32 = 0
  /// How long it still lasts, in ms.
  public var left: UInt64 = 0
  /// How many values it may yet open, or ``anyUses``.
  public var uses = Self.anyUses
  /// The program of that process.
  public private(set) var program: Field
  /// Why it was given.
  public private(set) var reason: Field
  /// Of which items.
  public private(set) var names: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (program, reason) = (Field(), Field())
    names = KeyFields()
  }

  /// A grant that stands, without its numbers.
  @_lifetime(copy names, copy program, copy reason)
  public init(_ names: KeyFields, program: Span<UInt8>, reason: Span<UInt8>) {
    (self.program, self.reason) = (Field(program), Field(reason))
    self.names = names
  }

  /// Goes over `number u64, process u32, left u64, uses u32, program b16, reason b16, names`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
    try coder.number(&process)
    try coder.number(&left)
    try coder.number(&uses)
    try coder.field16(&program)
    try coder.field16(&reason, limit: ProtocolLimit.reason)
    try names.code(&coder)
  }
}

/// The answer to `grants`: what stands, the oldest first.
public struct GrantsReply: Message, ~Escapable {
  /// How many there are.
  public private(set) var count: Int
  private var list: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Grants to be told of.
  ///
  /// - Parameters:
  ///   - list: Each as ``GrantEntry/code(_:)`` writes it.
  ///   - count: How many there are.
  @_lifetime(copy list)
  public init(_ list: Span<UInt8>, count: Int) {
    self.count = count
    self.list = Field(list)
  }

  /// Goes over `count u16 (GrantEntry)…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: Int(UInt16.max))
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      let _: GrantEntry = try reader.message()
    }
  }

  /// Calls `body` with each.
  public func forEach<Failure: Error>(
    _ body: (borrowing GrantEntry) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      var entry = GrantEntry()
      guard (try? entry.code(&reader)) != nil else {
        preconditionFailure("a list that was not read")
      }
      try body(entry)
    }
  }
}

/// End a grant before its time.
public struct GrantRevokeRequest: Message, Equatable, Sendable {
  /// In place of a number: all of the vault's.
  public static let all: UInt64 = 0

  /// What it is called, or ``all``.
  public private(set) var number: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(Self.all) }

  /// The grant of that number.
  public init(_ number: UInt64) { self.number = number }

  /// Goes over `number u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
  }
}

/// The answer to `grant-revoke`.
public struct GrantRevokeReply: Message, Equatable, Sendable {
  /// How many ended.
  public private(set) var count: UInt16

  /// Without fields yet: they are read into it.
  public init() { self.init(0) }

  /// So many.
  public init(_ count: UInt16) { self.count = count }

  /// Goes over `count u16`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&count)
  }
}
