// SPDX-License-Identifier: MIT

extension KDFParameters {
  init(_ reader: inout FieldReader) throws(ProtocolError) {
    self.init(memory: try reader.number(), passes: try reader.number())
  }
}

/// Flags are a closed set: a bit this side does not know is refused, never skipped over.
func flags<Flags: OptionSet>(
  _ reader: inout FieldReader, allowed: Flags
) throws(ProtocolError) -> Flags where Flags.RawValue == UInt8 {
  let raw: UInt8 = try reader.number()
  guard raw & ~allowed.rawValue == 0 else { throw .fieldValue }
  return Flags(rawValue: raw)
}

func credentialKind(_ reader: inout FieldReader) throws(ProtocolError) -> Credential {
  guard let kind = Credential(rawValue: try reader.number()) else { throw .fieldValue }
  return kind
}

/// Create a vault. The reply gives the recovery key; the vault is there only after `confirm`.
public struct CreateRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a recovery key.
    public static let recoveryKey = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    /// The passcode is a code for this machine alone; takes a recovery key beside it.
    public static let localCode = Flags(rawValue: 4)
    static let all: Flags = [.recoveryKey, .weakKDF, .localCode]
  }

  public let cost: KDFParameters
  public let flags: Flags
  /// The passcode, as typed.
  public let passcode: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    cost = try KDFParameters(&reader)
    flags = try KuraProtocol.flags(&reader, allowed: .all)
    passcode = try reader.field16()
  }
}

/// Unlock the vault, or set new limits of the session when it is unlocked.
public struct UnlockRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Take the vault although it is older than one seen before.
    public static let acceptRollback = Flags(rawValue: 1)
    /// Serve as ``Request/authorize(_:)``, too, where the slot holds what that takes.
    public static let authorize = Flags(rawValue: 2)
    /// Take the vault although another one was last unlocked at its path.
    public static let acceptExchange = Flags(rawValue: 4)
    static let all: Flags = [.acceptRollback, .authorize, .acceptExchange]
  }

  public let credential: Credential
  public let secret: Range<Int>
  /// Lock after that long without use, in ms; 0 = the vault's policy.
  public let idleTimeout: UInt64
  /// Lock that long after the unlock, in ms; 0 = the vault's policy.
  public let maxSession: UInt64
  public let flags: Flags

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    credential = try credentialKind(&reader)
    secret = try reader.field16()
    idleTimeout = try reader.number()
    maxSession = try reader.number()
    flags = try KuraProtocol.flags(&reader, allowed: .all)
  }
}

/// Lock this vault or all of the agent's.
public struct LockRequest: Equatable, Sendable {
  public enum Scope: UInt8, Sendable, CaseIterable {
    case vault = 0
    case all = 1
  }

  public let reason: LockReason
  public let scope: Scope

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    guard let reason = LockReason(rawValue: try reader.number()),
      let scope = Scope(rawValue: try reader.number())
    else { throw .fieldValue }
    self.reason = reason
    self.scope = scope
  }
}

/// Change the passcode; the session stays as it is.
public struct PasscodeRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Make a new recovery key; the old one ends.
    public static let recoveryKey = Flags(rawValue: 1)
    /// A cost below the floor is meant.
    public static let weakKDF = Flags(rawValue: 2)
    static let all: Flags = [.recoveryKey, .weakKDF]
  }

  public let credential: Credential
  /// What opens the vault now.
  public let current: Range<Int>
  public let new: Range<Int>
  public let cost: KDFParameters
  public let flags: Flags

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    credential = try credentialKind(&reader)
    current = try reader.field16()
    new = try reader.field16()
    cost = try KDFParameters(&reader)
    flags = try KuraProtocol.flags(&reader, allowed: .all)
  }
}

/// Read or change a setting kept in the vault.
public struct ConfigRequest: Equatable, Sendable {
  public enum Operation: UInt8, Sendable, CaseIterable {
    /// All settings of this release. Key and value are zero.
    case list = 0
    /// One setting. The value is zero.
    case get = 1
    case set = 2
  }

  public let operation: Operation
  /// Raw, so that a newer client's key is refused with a sentence, not as a broken message.
  public let key: UInt8
  public let value: UInt64
  public let word: OwnerWord?

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    guard let operation = Operation(rawValue: try reader.number()) else { throw .fieldValue }
    self.operation = operation
    key = try reader.number()
    value = try reader.number()
    word = operation == .set ? try OwnerWord.read(&reader) : nil
    if operation == .list, key != 0 { throw .fieldValue }
    if operation != .set, value != 0 { throw .fieldValue }
  }
}
