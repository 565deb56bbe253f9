// SPDX-License-Identifier: MIT

public import KuraTerms

/// Ask what a security key asks for.
public struct SecurityKeyRequest: Message, ~Escapable {
  private var flag: UInt8 = 0

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {}

  /// - Parameter isNew: Whether it is meant for a new slot, and not to open one.
  @_lifetime(immortal)
  public init(forNew isNew: Bool) { flag = isNew ? 1 : 0 }

  /// Whether it is meant for a new slot.
  public var isNew: Bool { flag != 0 }

  /// Goes over `new u8`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&flag)
    guard flag <= 1 else { throw .fieldValue }
  }
}

/// The answer to `security-key`.
public struct SecurityKeyReply: Message, Equatable, Sendable {
  private var flags: UInt8 = 0
  private var pinTries: UInt8 = 0

  /// Without fields yet: they are read into it.
  public init() {}

  /// Those facts.
  public init(_ facts: SecurityKeyFacts) {
    flags = (facts.takesPIN ? 1 : 0) | (facts.verifies ? 2 : 0)
    pinTries = facts.pinTries
  }

  /// What it tells.
  public var facts: SecurityKeyFacts {
    SecurityKeyFacts(takesPIN: flags & 1 != 0, verifies: flags & 2 != 0, pinTries: pinTries)
  }

  /// Goes over `flags u8, PIN tries u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&flags)
    try coder.number(&pinTries)
    guard flags <= 3 else { throw .fieldValue }
  }
}
