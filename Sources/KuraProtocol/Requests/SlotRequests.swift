// SPDX-License-Identifier: MIT

/// Add a way to open the vault; the session stays as it is.
///
/// The reply to a recovery key gives its text, and the slot is there only after `confirm`.
public struct SlotAddRequest: Message, ~Escapable {
  /// Says what the slot may be, and is to be good for.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// End the recovery key that is there.
    public static let replace = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    /// The slot is to open protected values, too; passcodes and recovery keys always do.
    public static let withProtected = Flags(rawValue: 4)
    /// This machine is to try the key file by itself, where it stands.
    public static let tried = Flags(rawValue: 8)
    /// Prompts of this machine are to send the code at its last character.
    public static let submitted = Flags(rawValue: 16)
    static let all: Flags = [.replace, .weakKDF, .withProtected, .tried, .submitted]
  }

  /// What opens the vault now.
  public private(set) var authority: SlotAuthority
  /// What kind of slot it is to be.
  public private(set) var kind: Credential
  /// What is to open it; empty for a recovery key, which the agent makes.
  public private(set) var secret: Field
  /// What its owner calls it, as typed.
  public private(set) var label: Field
  /// The absolute path of a key file, to tell later whether it is there; empty when not known.
  public private(set) var place: Field
  /// What a guess at the secret is to cost; zeros leave it to the agent.
  public private(set) var cost: KDFParameters
  /// What the slot may be, and is to be good for.
  public private(set) var flags: Flags

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    authority = SlotAuthority()
    (kind, cost, flags) = (.passcode, .calibrated, [])
    secret = Field()
    (label, place) = (Field(), Field())
  }

  /// A slot to be added.
  ///
  /// - Parameters:
  ///   - authority: A passcode or the recovery key that opens the vault now.
  ///   - order: Kind, cost and flags; label and place stand in fields of their own.
  ///   - secret: What is to open the slot; without bytes for a recovery key.
  @_lifetime(copy authority, copy secret, copy label, copy place)
  public init(
    _ authority: SlotAuthority, _ order: SlotOrder, secret: Span<UInt8>, label: Span<UInt8>,
    place: Span<UInt8>
  ) {
    self.authority = authority
    kind = order.kind
    self.secret = Field(secret)
    self.label = Field(label)
    self.place = Field(place)
    cost = order.cost
    flags = order.flags
  }

  /// Goes over `authority, kind u8, secret b16, label b16, place b16, cost u64 u32, flags u8`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try authority.code(&coder)
    try coder.choice(&kind)
    try coder.field16(&secret)
    try coder.field16(&label)
    try coder.field16(&place, limit: ProtocolLimit.path)
    try coder.cost(&cost)
    try coder.flags(&flags, allowed: .all)
  }
}

extension SlotAddRequest {
  /// What slot it is to be, without label and place.
  public var order: SlotOrder {
    var order = SlotOrder(kind)
    order.cost = cost
    order.flags = flags
    return order
  }
}

/// Remove a way to open the vault (`slot-remove`), or try a secret without unlocking it (`slot-test`).
public struct SlotRequest: Message, ~Escapable {
  /// In place of a number: any slot of the kind.
  public static let anySlot: UInt8 = 255

  /// What opens the vault, or the secret that is tried.
  public private(set) var authority: SlotAuthority
  /// Where the slot stands, or ``anySlot``.
  public private(set) var number: UInt8

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    authority = SlotAuthority()
    number = 0
  }

  /// A request about a slot; without a number about any of the secret's kind.
  @_lifetime(copy authority)
  public init(_ authority: SlotAuthority, number: UInt8?) {
    self.authority = authority
    self.number = number ?? Self.anySlot
  }

  /// Goes over `authority, number u8`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try authority.code(&coder)
    try coder.number(&number)
  }
}

/// Carries a secret that opens a slot now.
public struct SlotAuthority: Message, ~Escapable {
  /// How long `authorize` serves the connection it was made on, in ms on the clock that counts sleep.
  public static let lifetime: UInt64 = 60_000

  /// What the secret is.
  public private(set) var credential: Credential
  /// As typed, or the bytes of a key file.
  public private(set) var secret: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(.passcode, secret: Span()) }

  /// A secret, as typed, or the bytes of a key file.
  @_lifetime(copy secret)
  public init(_ credential: Credential, secret: Span<UInt8>) {
    self.credential = credential
    self.secret = Field(secret)
  }

  /// Goes over `credential u8, secret b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&credential)
    try coder.field16(&secret)
  }
}

/// A slot to be added, as a client asks for it.
public struct SlotOrder: Equatable, Sendable {
  /// What is to open it.
  public var kind: Credential
  /// No secret.
  public var label = ""
  /// The absolute path of a key file; empty when not known.
  public var place = ""
  /// What a guess at its secret is to cost; zeros leave it to the agent.
  public var cost = KDFParameters.calibrated
  /// What it may be, and is to be good for.
  public var flags: SlotAddRequest.Flags = []

  /// A slot of a kind, without a label, at the cost the agent chooses.
  public init(_ kind: Credential) { self.kind = kind }
}
