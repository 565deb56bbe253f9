// SPDX-License-Identifier: MIT

public import SecureMemory

/// Add a way to open the vault; the session stays as it is.
///
/// The reply to a recovery key gives its text, and the slot is there only after `confirm`.
public struct SlotAddRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// End the recovery key that is there.
    public static let replace = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    /// The slot is to open protected values, too; passcodes and recovery keys always do.
    public static let withProtected = Flags(rawValue: 4)
    static let all: Flags = [.replace, .weakKDF, .withProtected]
  }

  public let authority: SlotAuthority
  /// What kind of slot it is to be.
  public let kind: Credential
  /// What is to open it; empty for a recovery key, which the agent makes.
  public let secret: Range<Int>
  /// What its owner calls it, as typed.
  public let label: Range<Int>
  /// The absolute path of a key file, to tell later whether it is there; empty when not known.
  public let place: Range<Int>
  public let cost: KDFParameters
  public let flags: Flags

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    authority = try SlotAuthority(&reader)
    kind = try credentialKind(&reader)
    secret = try reader.field16()
    label = try reader.field16()
    place = try reader.field16(limit: ProtocolLimit.path)
    cost = try KDFParameters(&reader)
    flags = try KuraProtocol.flags(&reader, allowed: .all)
  }
}

/// Remove a way to open the vault.
public struct SlotRemoveRequest: Equatable, Sendable {
  public let authority: SlotAuthority
  /// Where the slot stands.
  public let number: UInt8

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    authority = try SlotAuthority(&reader)
    number = try reader.number()
  }
}

/// Try a secret without unlocking the vault.
public struct SlotTestRequest: Equatable, Sendable {
  /// In place of a number: any slot of the kind.
  public static let anySlot: UInt8 = 255

  public let authority: SlotAuthority
  /// The only slot to try, or ``anySlot``.
  public let number: UInt8

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    authority = try SlotAuthority(&reader)
    number = try reader.number()
  }
}

/// A secret that opens a slot now.
public struct SlotAuthority: Equatable, Sendable {
  public let credential: Credential
  public let secret: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    credential = try credentialKind(&reader)
    secret = try reader.field16()
  }
}

// MARK: - Writing

/// A slot to be added, as a client asks for it.
public struct SlotOrder: Equatable, Sendable {
  public var kind: Credential
  /// No secret.
  public var label = ""
  /// The absolute path of a key file; empty when not known.
  public var place = ""
  public var cost = KDFParameters.calibrated
  public var flags: SlotAddRequest.Flags = []

  /// A slot of a kind, without a label, at the cost the agent chooses.
  public init(_ kind: Credential) { self.kind = kind }
}

extension SecretBuffer {
  /// Writes `slot-add`.
  ///
  /// - Parameters:
  ///   - current: A passcode or the recovery key that opens the vault now.
  ///   - secret: What is to open the slot; without bytes for a recovery key.
  public mutating func putSlotAdd(
    _ credential: Credential, current: Span<UInt8>, _ order: SlotOrder, secret: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openRequest(.slotAdd)
    try put(credential.rawValue)
    try put16(current)
    try put(order.kind.rawValue)
    try put16(secret)
    try put16(text: order.label)
    try put16(text: order.place, limit: ProtocolLimit.path)
    try put(order.cost.memory)
    try put(order.cost.passes)
    try put(order.flags.rawValue)
    try closeFrame(frame)
  }

  /// Writes `slot-remove`.
  public mutating func putSlotRemove(
    _ credential: Credential, current: Span<UInt8>, number: UInt8
  ) throws(ProtocolError) {
    try putSlot(.slotRemove, credential, current, number)
  }

  /// Writes `slot-test`; without a number any slot of the kind counts.
  public mutating func putSlotTest(
    _ credential: Credential, secret: Span<UInt8>, number: UInt8?
  ) throws(ProtocolError) {
    try putSlot(.slotTest, credential, secret, number ?? SlotTestRequest.anySlot)
  }

  private mutating func putSlot(
    _ verb: Verb, _ credential: Credential, _ secret: Span<UInt8>, _ number: UInt8
  ) throws(ProtocolError) {
    let frame = try openRequest(verb)
    try put(credential.rawValue)
    try put16(secret)
    try put(number)
    try closeFrame(frame)
  }
}
