// SPDX-License-Identifier: MIT

public import SecureMemory

/// Put everything under a new vault key. The reply gives the recovery key; nothing is changed before
/// `confirm`, after which progress frames and an end follow.
public struct RekeyRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a recovery key.
    public static let recoveryKey = Flags(rawValue: 1)
  }

  /// What the vault is to open by; a passcode.
  public let authority: SlotAuthority
  /// A key file that opens the vault and is to go on doing so; empty for none.
  public let keyFile: Range<Int>
  public let flags: Flags

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    authority = try SlotAuthority(&reader)
    keyFile = try reader.field16()
    flags = try KuraProtocol.flags(&reader, allowed: .recoveryKey)
  }
}

extension SecretBuffer {
  /// Writes `rekey`.
  ///
  /// - Parameters:
  ///   - current: The passcode.
  ///   - keyFile: The bytes of a key file; without bytes for none.
  public mutating func putRekey(
    current: Span<UInt8>, keyFile: Span<UInt8>, flags: RekeyRequest.Flags
  ) throws(ProtocolError) {
    let frame = try openRequest(.rekey)
    try put(Credential.passcode.rawValue)
    try put16(current)
    try put16(keyFile)
    try put(flags.rawValue)
    try closeFrame(frame)
  }
}
