// SPDX-License-Identifier: MIT

public import SecureMemory

/// Ask the owner, wherever somebody waits to be asked, to let a program read protected values.
public struct WishRequest: Message, ~Escapable {
  /// Says what is waited for.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Only where somebody waits to be asked at present.
    public static let ifAwaited = Flags(rawValue: 1)
    /// At the client's own terminal, by one of those who ask there.
    public static let here = Flags(rawValue: 2)
    static let all: Flags = [.ifAwaited, .here]
  }

  /// In place of a time and uses: the owner chooses.
  public static let ownersChoice: UInt64 = 0

  /// What is waited for.
  public private(set) var flags: Flags
  /// For how long the owner's answer is waited for, in ms.
  public private(set) var patience: UInt64
  /// Below which process it is to serve.
  public private(set) var scope: GrantScope
  /// The number of that process with ``GrantScope/process``, else 0.
  public private(set) var process: UInt32
  /// For how long, in ms, or ``ownersChoice``.
  public private(set) var lifetime: UInt64
  /// How many values it opens, or `GrantRequest.anyUses`.
  public private(set) var uses: UInt32
  /// Why, in the words of who asks; no secret.
  public private(set) var reason: Field
  /// The names of the items, UTF-8.
  public private(set) var names: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (flags, patience) = ([], 0)
    (scope, process, lifetime) = (.program, 0, Self.ownersChoice)
    uses = GrantRequest.anyUses
    reason = Field()
    names = KeyFields()
  }

  /// A wish.
  @_lifetime(copy names, copy reason)
  public init(
    _ names: KeyFields, flags: Flags = [], patience: UInt64, to scope: GrantScope = .program,
    process: UInt32 = 0, lifetime: UInt64 = ownersChoice, uses: UInt32 = GrantRequest.anyUses,
    reason: Span<UInt8> = Span()
  ) {
    (self.flags, self.patience) = (flags, patience)
    (self.scope, self.process, self.lifetime, self.uses) = (scope, process, lifetime, uses)
    self.reason = Field(reason)
    self.names = names
  }

  /// Goes over `flags u8, patience u64, scope u8, process u32, lifetime u64, uses u32, reason b16, names`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    try coder.number(&patience)
    try coder.choice(&scope)
    try coder.number(&process)
    try coder.number(&lifetime)
    try coder.number(&uses)
    try coder.field16(&reason, limit: ProtocolLimit.reason)
    try names.code(&coder)
    // What the owner chooses may be for the one who asks alone, and who names another process may be any.
    guard lifetime <= ProtocolLimit.grantTime, (scope == .process) == (process > 0),
      scope != .process || lifetime != Self.ownersChoice,
      !flags.contains(.here)
        || flags == .here && scope == .program && lifetime == Self.ownersChoice,
      (1...ProtocolLimit.asked).contains(names.count)
    else { throw .fieldValue }
  }
}

/// Say what the owner is asked for, as soon as that is something else.
public struct WishesRequest: Message, Equatable, Sendable {
  /// Says which of it.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What this client's process has asked at its own terminal, and nothing else.
    public static let own = Flags(rawValue: 1)
    /// Nobody joins that any more.
    public static let closing = Flags(rawValue: 2)
    static let all: Flags = [.own, .closing]
  }

  /// In place of a state: none was seen yet.
  public static let none: UInt64 = 0

  /// Which of it.
  public private(set) var flags: Flags
  /// The state that was told last.
  public private(set) var seen: UInt64
  /// For how long another one is waited for, in ms.
  public private(set) var patience: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(seen: Self.none, patience: 0) }

  /// What has come since that state.
  public init(_ flags: Flags = [], seen: UInt64, patience: UInt64) {
    (self.flags, self.seen, self.patience) = (flags, seen, patience)
  }

  /// Goes over `flags u8, seen u64, patience u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .all)
    try coder.number(&seen)
    try coder.number(&patience)
    guard flags != .closing else { throw .fieldValue }
  }
}

/// Lists who asks the owner for something: each with the programs above it, and why.
public struct WishAskers: Message, ~Escapable {
  /// How many there are.
  public private(set) var count: Int
  private var list: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Those who ask.
  ///
  /// - Parameters:
  ///   - list: Each as ``put(chain:reason:into:)`` writes it.
  ///   - count: How many there are.
  @_lifetime(copy list)
  public init(_ list: Span<UInt8>, count: Int) {
    self.count = count
    self.list = Field(list)
  }

  /// Writes one.
  ///
  /// - Parameters:
  ///   - chain: The programs from it up, each with its number; what is left out is marked.
  ///   - reason: Why, in its own words.
  public static func put(
    chain: Span<UInt8>, reason: Span<UInt8>, into buffer: inout SecretBuffer
  ) throws(ProtocolError) {
    try buffer.put16(chain)
    try buffer.put16(reason, limit: ProtocolLimit.reason)
  }

  /// Goes over `count u16 (chain b16, reason b16)…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.count(&count, limit: ProtocolLimit.askers)
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      _ = try reader.field16()
      _ = try reader.field16(limit: ProtocolLimit.reason)
    }
  }

  /// Calls `body` with each one's programs and reason, in the order in which they came.
  public func forEach<Failure: Error>(
    _ body: (_ chain: Span<UInt8>, _ reason: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      guard let chain = try? reader.field16(), let reason = try? reader.field16() else {
        preconditionFailure("a list that was not read")
      }
      try body(list.bytes.extracting(chain), list.bytes.extracting(reason))
    }
  }
}

/// Tells what a program asks the owner for; its bytes are what an approval is bound to.
public struct WishEntry: Message, ~Escapable {
  /// What it is called.
  public var number: UInt64 = 0
  /// The process below which it is to serve.
  public var process: UInt32 = 0
  /// When that process was started, Unix time in ms.
  public var started: UInt64 = 0
  /// Whether it may last; else it can be for this once alone.
  public var mayLast = false
  /// For how long, in ms, or `WishRequest.ownersChoice`.
  public var lifetime = WishRequest.ownersChoice
  /// How many values it opens, or `GrantRequest.anyUses`.
  public var uses = GrantRequest.anyUses
  /// The program of that process.
  public private(set) var program: Field
  /// Who asks: one who comes or goes makes it another question.
  public private(set) var askers: WishAskers
  /// The names of the items.
  public private(set) var names: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    program = Field()
    askers = WishAskers()
    names = KeyFields()
  }

  /// A wish, without its numbers.
  @_lifetime(copy names, copy program, copy askers)
  public init(_ names: KeyFields, program: Span<UInt8>, askers: WishAskers) {
    self.program = Field(program)
    self.askers = askers
    self.names = names
  }

  /// Goes over `number u64, process u32, started u64, mayLast u8, lifetime u64, uses u32, program b16, askers, names`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
    try coder.number(&process)
    try coder.number(&started)
    try coder.flag(&mayLast)
    try coder.number(&lifetime)
    try coder.number(&uses)
    try coder.field16(&program)
    try askers.code(&coder)
    try names.code(&coder)
  }
}

/// The answer to `wishes`: what the owner is asked for, the oldest first.
public struct WishesReply: Message, ~Escapable {
  /// Which state that is.
  public private(set) var state: UInt64
  /// How many more there are that this client does not answer: they are of programs that it is one of, or that have
  /// its terminal.
  public private(set) var untold: UInt16
  /// How many there are.
  public private(set) var count: Int
  private var list: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0, untold: 0, state: 0) }

  /// Wishes to be told of.
  ///
  /// - Parameters:
  ///   - list: Each a ``WishEntry``, as a `b32`.
  ///   - count: How many there are.
  ///   - untold: How many more there are.
  ///   - state: Which state that is.
  @_lifetime(copy list)
  public init(_ list: Span<UInt8>, count: Int, untold: UInt16, state: UInt64) {
    (self.state, self.untold, self.count) = (state, untold, count)
    self.list = Field(list)
  }

  /// Goes over `state u64, untold u16, count u16 (entry b32)…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&state)
    try coder.number(&untold)
    try coder.count(&count, limit: Int(UInt16.max))
    try coder.list(&list, of: count) { reader throws(ProtocolError) in
      var field = Field()
      try reader.field32(&field, limit: ProtocolLimit.frame)
      _ = try Self.entry(field.bytes)
    }
  }

  /// Calls `body` with each, and with the bytes that it is told in.
  public func forEach<Failure: Error>(
    _ body: (borrowing WishEntry, Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      var field = Field()
      guard (try? reader.field32(&field, limit: ProtocolLimit.frame)) != nil,
        let entry = try? Self.entry(field.bytes)
      else { preconditionFailure("a list that was not read") }
      try body(entry, field.bytes)
    }
  }

  @_lifetime(copy bytes)
  private static func entry(_ bytes: Span<UInt8>) throws(ProtocolError) -> WishEntry {
    var reader = FieldReader(bytes)
    var entry = WishEntry()
    try entry.code(&reader)
    try reader.finish()
    return entry
  }
}

/// Says how far an approval goes.
public enum ApprovedTerm: UInt8, Sendable, CaseIterable {
  /// Those who ask now get it once, each for its connection.
  case once = 0
  /// The programs below the process read it for a quarter of an hour.
  case quarter = 1
  /// They read it until the vault is locked.
  case untilLock = 2
  /// As was asked for, where the owner does not choose.
  case asked = 3

  /// A quarter of an hour, in ms.
  public static let quarterTime: UInt64 = 900_000

  /// For how long programs read it, in ms; nil where it does not last, or another says for how long.
  public var lifetime: UInt64? {
    switch self {
    case .once, .asked: nil
    case .quarter: Self.quarterTime
    case .untilLock: ProtocolLimit.grantTime
    }
  }
}

/// Give what was asked for.
public struct ApproveRequest: Message, ~Escapable {
  /// How far it goes.
  public private(set) var term: ApprovedTerm
  /// The ``WishEntry`` as it was told and shown: anything else is not approved.
  public private(set) var shown: Field
  /// What opens the vault now.
  public private(set) var authority: SlotAuthority

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    term = .once
    shown = Field()
    authority = SlotAuthority()
  }

  /// An approval of exactly what was shown.
  @_lifetime(copy authority, copy shown)
  public init(_ authority: SlotAuthority, of shown: Span<UInt8>, _ term: ApprovedTerm) {
    self.term = term
    self.shown = Field(shown)
    self.authority = authority
  }

  /// Goes over `term u8, shown b32, authority`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&term)
    try coder.field32(&shown, limit: ProtocolLimit.frame)
    try authority.code(&coder)
  }
}

/// Refuse what was asked for.
public struct DeclineRequest: Message, Equatable, Sendable {
  /// What the wish is called.
  public private(set) var number: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(0) }

  /// The wish of that number.
  public init(_ number: UInt64) { self.number = number }

  /// Goes over `number u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
  }
}
