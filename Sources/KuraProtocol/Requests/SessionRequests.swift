// SPDX-License-Identifier: MIT

/// Create a vault. The reply gives the recovery key; the vault is there only after `confirm`.
public struct CreateRequest: Message, ~Escapable {
  /// Says what beside a vault is wanted.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a recovery key.
    public static let recoveryKey = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    /// The passcode is a code for this machine alone; takes a recovery key beside it.
    public static let localCode = Flags(rawValue: 4)
    static let all: Flags = [.recoveryKey, .weakKDF, .localCode]
  }

  /// What a guess at the passcode is to cost; zeros leave it to the agent.
  public private(set) var cost: KDFParameters
  /// What beside a vault is wanted.
  public private(set) var flags: Flags
  /// The passcode, as typed.
  public private(set) var passcode: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(passcode: Span(), cost: .calibrated, flags: []) }

  /// A vault that is to be made.
  @_lifetime(copy passcode)
  public init(passcode: Span<UInt8>, cost: KDFParameters, flags: Flags) {
    self.cost = cost
    self.flags = flags
    self.passcode = Field(passcode)
  }

  /// Goes over `cost u64 u32, flags u8, passcode b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.cost(&cost)
    try coder.flags(&flags, allowed: .all)
    try coder.field16(&passcode)
  }
}

/// Unlock the vault, or set new limits of the session when it is unlocked.
public struct UnlockRequest: Message, ~Escapable {
  /// Says what the unlock puts up with, and serves as beside.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Take the vault although it is older than one seen before.
    public static let acceptRollback = Flags(rawValue: 1)
    /// Serve as ``Request/authorize(_:)``, too, where the slot holds what that takes.
    public static let authorize = Flags(rawValue: 2)
    /// Take the vault although another one was last unlocked at its path.
    public static let acceptExchange = Flags(rawValue: 4)
    static let all: Flags = [.acceptRollback, .authorize, .acceptExchange]
  }

  /// What the secret is.
  public private(set) var credential: Credential
  /// As typed, or the bytes of a key file; without bytes for new limits alone.
  public private(set) var secret: Field
  /// Lock after that long without use, in ms; 0 = the vault's policy.
  public private(set) var idleTimeout: UInt64
  /// Lock that long after the unlock, in ms; 0 = the vault's policy.
  public private(set) var maxSession: UInt64
  /// What the unlock puts up with, and serves as beside.
  public private(set) var flags: Flags
  /// With ``Flags/authorize``, which values it opens.
  public private(set) var scope: ProofScope

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    (credential, idleTimeout, maxSession, flags) = (.passcode, 0, 0, [])
    (secret, scope) = (Field(), ProofScope())
  }

  /// A vault that is to be unlocked; times in ms, 0 = the vault's policy.
  @_lifetime(copy secret, copy scope)
  public init(
    _ credential: Credential, secret: Span<UInt8>, idleTimeout: UInt64 = 0,
    maxSession: UInt64 = 0, flags: Flags = [], scope: ProofScope = ProofScope()
  ) {
    self.credential = credential
    self.secret = Field(secret)
    self.idleTimeout = idleTimeout
    self.maxSession = maxSession
    self.flags = flags
    self.scope = scope
  }

  /// Goes over `credential u8, secret b16, idleTimeout u64, maxSession u64, flags u8`, and the scope where it serves
  /// as beside.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&credential)
    try coder.field16(&secret)
    try coder.number(&idleTimeout)
    try coder.number(&maxSession)
    try coder.flags(&flags, allowed: .all)
    if flags.contains(.authorize) { try scope.code(&coder) }
  }
}

/// Lock this vault or all of the agent's.
public struct LockRequest: Message, Equatable, Sendable {
  /// Says which vaults are locked.
  public enum Scope: UInt8, Sendable, CaseIterable {
    case vault = 0
    case all = 1
  }

  /// Why, to be told to those who find the vault locked.
  public private(set) var reason: LockReason
  /// Which vaults.
  public private(set) var scope: Scope

  /// Without fields yet: they are read into it.
  public init() { self.init(.asked, scope: .vault) }

  /// A lock, and what is to be said of it later.
  public init(_ reason: LockReason, scope: Scope) {
    self.reason = reason
    self.scope = scope
  }

  /// Goes over `reason u8, scope u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&reason)
    try coder.choice(&scope)
  }
}

/// Wait for an unlock: answered when the vault is unlocked, or refused as locked after that long.
public struct WaitRequest: Message, Equatable, Sendable {
  /// How long at most.
  public private(set) var milliseconds: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(milliseconds: 0) }

  /// A wait of at most that long.
  public init(milliseconds: UInt64) { self.milliseconds = milliseconds }

  /// Goes over `milliseconds u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&milliseconds)
  }
}

/// Change the passcode; the session stays as it is.
public struct PasscodeRequest: Message, ~Escapable {
  /// Says what beside the new passcode is wanted.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a new recovery key; the old one ends.
    public static let recoveryKey = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    static let all: Flags = [.recoveryKey, .weakKDF]
  }

  /// What opens the vault now.
  public private(set) var authority: SlotAuthority
  /// The new passcode, as typed.
  public private(set) var new: Field
  /// What a guess at it is to cost; zeros leave it to the agent.
  public private(set) var cost: KDFParameters
  /// What beside the new passcode is wanted.
  public private(set) var flags: Flags

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    authority = SlotAuthority()
    new = Field()
    cost = .calibrated
    flags = []
  }

  /// A passcode that is to take the place of what opens the vault now.
  @_lifetime(copy current, copy new)
  public init(
    _ credential: Credential, current: Span<UInt8>, new: Span<UInt8>, cost: KDFParameters,
    flags: Flags
  ) {
    authority = SlotAuthority(credential, secret: current)
    self.new = Field(new)
    self.cost = cost
    self.flags = flags
  }

  /// Goes over `authority, new b16, cost u64 u32, flags u8`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try authority.code(&coder)
    try coder.field16(&new)
    try coder.cost(&cost)
    try coder.flags(&flags, allowed: .all)
  }
}

/// Read or change a setting kept in the vault.
public struct ConfigRequest: Message, ~Escapable {
  /// Says what is done with settings.
  public enum Operation: UInt8, Sendable, CaseIterable {
    /// All settings of this release. Key and value are zero.
    case list = 0
    /// One setting. The value is zero.
    case get = 1
    case set = 2
  }

  /// Whether settings are read or one is changed.
  public private(set) var operation: Operation
  /// Raw, so that a newer client's key is refused with a sentence, not as a broken message.
  public private(set) var key: UInt8
  /// In the unit of the setting; zero but for a `set`.
  public private(set) var value: UInt64
  /// Stands in a `set` alone.
  public private(set) var word: OwnerWord

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    operation = .list
    (key, value) = (0, 0)
    word = OwnerWord()
  }

  /// A look at settings, or a change; only a `set` has a value and may carry the owner's word.
  @_lifetime(copy word)
  public init(
    _ operation: Operation, key: Setting?, value: UInt64 = 0, word: OwnerWord = OwnerWord()
  ) {
    self.operation = operation
    self.key = key?.rawValue ?? 0
    self.value = value
    self.word = word
  }

  /// Goes over `operation u8, key u8, value u64`, and the word of a `set`; a key in a `list`, and a value in
  /// what is no `set`, are refused.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&operation)
    try coder.number(&key)
    try coder.number(&value)
    if operation == .set { try word.code(&coder) }
    if operation == .list, key != 0 { throw .fieldValue }
    if operation != .set, value != 0 { throw .fieldValue }
  }
}
