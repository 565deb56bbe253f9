// SPDX-License-Identifier: MIT

public import SecureMemory

/// One slot in the answer to `slots`.
///
/// While the vault is locked nothing of it is authentic, and what only the sealed ring knows is
/// zero or empty.
public struct SlotFacts: Equatable, Sendable {
  /// Says what the slot is good for.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know mean nothing to it.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The agent takes it; one that is neither enabled nor disabled is refused until a passcode has worked.
    public static let enabled = Flags(rawValue: 1)
    /// It opened the vault this time.
    public static let opened = Flags(rawValue: 2)
    /// It opens protected values, too.
    public static let withProtected = Flags(rawValue: 4)
    /// A guess at it costs less than policy asks for.
    public static let weak = Flags(rawValue: 8)
    /// That was asked for when it was made.
    public static let weakMeant = Flags(rawValue: 16)
    /// Its owner put it out of use.
    public static let disabled = Flags(rawValue: 32)
    /// This machine tries its key file by itself.
    public static let tried = Flags(rawValue: 64)
    /// That waits for a person: somebody locked the vault, and the file has not been away since.
    public static let held = Flags(rawValue: 128)
  }

  /// Where it stands, 0 to 15.
  public var number: UInt8
  /// What opens it.
  public var kind: SlotKind
  /// What the slot is good for.
  public var flags: Flags
  /// Whether this machine has what opening it takes.
  public var availability: SlotAvailability
  /// What a guess costs; zeros where nothing is derived.
  public var cost: KDFParameters
  /// In ms of Unix time; zero when not known.
  public var created: UInt64
  /// How many bytes a key file has that is tried by itself; at how many characters a code is sent; of a security key 1
  /// where it makes sure who uses it; else 0.
  public var size: UInt64
  /// Whether it is of a security key that makes sure who uses it.
  public var isVerified: Bool { kind == .fido2 && size == 1 }
  /// What its owner calls it: where it stands in the payload.
  public let label: Range<Int>
  /// Where a key file stood: where that stands in the payload.
  public let place: Range<Int>

  /// Facts to be written; label and place go beside them.
  public init(
    number: UInt8, kind: SlotKind, flags: Flags, availability: SlotAvailability,
    cost: KDFParameters,
    created: UInt64, size: UInt64 = 0
  ) {
    self.number = number
    self.kind = kind
    self.flags = flags
    self.availability = availability
    self.cost = cost
    self.created = created
    self.size = size
    label = 0..<0
    place = 0..<0
  }

  fileprivate init(_ reader: inout FieldReader) throws(ProtocolError) {
    number = try reader.number()
    guard let kind = SlotKind(rawValue: try reader.number()) else { throw .fieldValue }
    self.kind = kind
    flags = Flags(rawValue: try reader.number())
    guard let availability = SlotAvailability(rawValue: try reader.number()) else {
      throw .fieldValue
    }
    self.availability = availability
    cost = try KDFParameters(&reader)
    created = try reader.number()
    size = try reader.number()
    label = try reader.field16()
    place = try reader.field16()
  }
}

/// The answer to `slots`.
public struct SlotList: Equatable, Sendable {
  /// Whether the vault is unlocked, so that the list is authentic.
  public let isAuthentic: Bool
  /// By number.
  public let slots: [SlotFacts]

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    let authentic: UInt8 = try reader.number()
    guard authentic <= 1 else { throw .fieldValue }
    isAuthentic = authentic == 1
    let count = Int(try reader.number(UInt16.self))
    var slots: [SlotFacts] = []
    for _ in 0..<count { slots.append(try SlotFacts(&reader)) }
    try reader.finish()
    self.slots = slots
  }
}

/// The answers to `slot-add` and `slot-test`.
public struct SlotReply: Message, Equatable, Sendable {
  /// The slot that was added, or that opened.
  public private(set) var number: UInt8
  /// What opens that slot.
  public private(set) var kind: SlotKind

  /// Without fields yet: they are read into it.
  public init() { self.init(number: 0, kind: .passcode) }

  /// That slot.
  public init(number: UInt8, kind: SlotKind) {
    self.number = number
    self.kind = kind
  }

  /// Goes over `number u8, kind u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&number)
    try coder.choice(&kind)
  }
}

// MARK: - Writing

/// The answer to `slots` that is being written.
public struct OpenSlotList: Sendable {
  let frame: OpenFrame
  let place: OpenCount
}

extension SecretBuffer {
  /// Begins the answer to `slots`.
  public mutating func openSlotList(isAuthentic: Bool) throws(ProtocolError) -> OpenSlotList {
    let frame = try openReply()
    try put(UInt8(isAuthentic ? 1 : 0))
    return OpenSlotList(frame: frame, place: try openCount())
  }

  /// Writes one slot of it.
  public mutating func putSlot(
    _ facts: SlotFacts, label: Span<UInt8>, place: Span<UInt8>
  ) throws(ProtocolError) {
    try put(facts.number)
    try put(facts.kind.rawValue)
    try put(facts.flags.rawValue)
    try put(facts.availability.rawValue)
    try put(facts.cost.memory)
    try put(facts.cost.passes)
    try put(facts.created)
    try put(facts.size)
    try put16(label)
    try put16(place)
  }

  /// Ends it.
  public mutating func closeSlotList(
    _ list: OpenSlotList, count: Int
  ) throws(ProtocolError) {
    try closeCount(list.place, count)
    try closeFrame(list.frame)
  }
}
