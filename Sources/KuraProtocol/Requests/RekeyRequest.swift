// SPDX-License-Identifier: MIT

/// Put everything under a new vault key. The reply gives the recovery key; nothing is changed before
/// `confirm`, after which progress frames and an end follow.
public struct RekeyRequest: Message, ~Escapable {
  /// Says what beside the new key is wanted.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a recovery key.
    public static let recoveryKey = Flags(rawValue: 1)
    /// A device shares the vault no longer.
    public static let removal = Flags(rawValue: 2)
    /// A slot of this machine's TPM goes over.
    public static let chip = Flags(rawValue: 4)
    /// A slot of a security key goes over.
    public static let securityKey = Flags(rawValue: 8)
  }

  /// What the vault is to open by; a passcode.
  public private(set) var authority: SlotAuthority
  /// A key file that opens the vault and is to go on doing so; empty for none.
  public private(set) var keyFile: Field
  /// What beside the new key is wanted.
  public private(set) var flags: Flags
  /// With ``Flags/removal``: the device's id.
  public private(set) var device: Field
  /// With ``Flags/chip``: the code for this machine's TPM; empty for a slot that takes none.
  public private(set) var code: Field
  /// With ``Flags/securityKey``: the slot.
  public private(set) var keySlot: UInt8 = 0
  /// With ``Flags/securityKey``: the key's PIN; empty where it takes none.
  public private(set) var pin: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(current: Span(), keyFile: Span(), flags: []) }

  /// A new vault key.
  ///
  /// - Parameters:
  ///   - current: The passcode.
  ///   - keyFile: The bytes of a key file; without bytes for none.
  @_lifetime(copy current, copy keyFile)
  public init(current: Span<UInt8>, keyFile: Span<UInt8>, flags: Flags) {
    authority = SlotAuthority(.passcode, secret: current)
    self.keyFile = Field(keyFile)
    self.flags = flags
    (device, code, pin) = (Field(), Field(), Field())
  }

  /// The same, and a device shares the vault no longer.
  ///
  /// - Parameters:
  ///   - code: With ``Flags/chip``: the code for the TPM.
  ///   - keySlot: With ``Flags/securityKey``: the slot.
  ///   - pin: With ``Flags/securityKey``: the key's PIN.
  ///   - device: The device's id; without bytes for none.
  @_lifetime(copy current, copy keyFile, copy code, copy pin, copy device)
  public init(
    current: Span<UInt8>, keyFile: Span<UInt8>, code: Span<UInt8> = Span(), keySlot: UInt8 = 0,
    pin: Span<UInt8> = Span(), flags: Flags, removing device: Span<UInt8>
  ) {
    (self.code, self.keySlot, self.pin) = (Field(code), keySlot, Field(pin))
    authority = SlotAuthority(.passcode, secret: current)
    self.keyFile = Field(keyFile)
    self.flags = device.isEmpty ? flags : flags.union(.removal)
    self.device = Field(device)
  }

  /// Goes over `authority, keyFile b16, flags u8`, with a device `device b16`, for a TPM `code b16`, and for a
  /// security key `slot u8, pin b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try authority.code(&coder)
    try coder.field16(&keyFile)
    try coder.flags(&flags, allowed: [.recoveryKey, .removal, .chip, .securityKey])
    if flags.contains(.removal) {
      try coder.field16(&device, limit: StorePlace.identifierByteCount)
      guard device.bytes.count == StorePlace.identifierByteCount else { throw .fieldValue }
    }
    if flags.contains(.chip) { try coder.field16(&code) }
    if flags.contains(.securityKey) {
      try coder.number(&keySlot)
      try coder.field16(&pin)
    }
  }
}
