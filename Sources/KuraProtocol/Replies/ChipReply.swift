// SPDX-License-Identifier: MIT

public import KuraTerms

/// The answer to `chip`.
public struct ChipReply: Message, Equatable, Sendable {
  private var failures: UInt32 = 0
  private var mostFailures: UInt32 = 0
  private var interval: UInt32 = 0
  private var hasLockoutPassword: UInt8 = 0

  /// Without fields yet: they are read into it.
  public init() {}

  /// Those facts.
  public init(_ facts: ChipFacts) {
    (failures, mostFailures) = (facts.failures, facts.mostFailures)
    (interval, hasLockoutPassword) = (facts.interval, facts.hasLockoutPassword ? 1 : 0)
  }

  /// What it tells.
  public var facts: ChipFacts {
    ChipFacts(
      failures: failures, mostFailures: mostFailures, interval: interval,
      hasLockoutPassword: hasLockoutPassword != 0)
  }

  /// Goes over `failures u32, most failures u32, interval u32, lockout password u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&failures)
    try coder.number(&mostFailures)
    try coder.number(&interval)
    try coder.number(&hasLockoutPassword)
    guard hasLockoutPassword <= 1 else { throw .fieldValue }
  }
}
