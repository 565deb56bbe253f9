// SPDX-License-Identifier: MIT

public import SecureMemory

/// Tells what protects an engine's memory on this machine, as it finds it in itself.
public struct AgentFacts: Equatable, Sendable {
  /// A limit that is none.
  public static let unlimited = UInt64.max

  /// How much memory it may lock, in bytes.
  public var lockLimit: UInt64 = 0
  /// How far it may raise that limit itself, in bytes.
  public var hardLockLimit: UInt64 = 0
  /// Guarded memory that is locked, in bytes.
  public var lockedBytes: UInt64 = 0
  /// Guarded memory that could not be locked, in bytes.
  public var unlockedBytes: UInt64 = 0
  /// How large a core file it may leave, in bytes.
  public var coreLimit: UInt64 = 0
  /// Whether others of its user may trace it, and a crash may leave a core file.
  public var isDumpable = false
  /// Its clock that counts sleep, in ms since the machine's start.
  public var bootTime: UInt64 = 0
  /// Its clock that leaves sleep out, in ms since the machine's start.
  public var monotonicTime: UInt64 = 0
  /// What memory and control group leave for a key derivation, in bytes; 0 when not known.
  public var availableMemory: UInt64 = 0
  /// Whether it can write to its state directory.
  public var keepsState = false
  /// Whether it can gain no privileges and start no program.
  public var isConfined = false

  /// Facts to be filled in.
  public init() {}

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    lockLimit = try reader.number()
    hardLockLimit = try reader.number()
    lockedBytes = try reader.number()
    unlockedBytes = try reader.number()
    coreLimit = try reader.number()
    bootTime = try reader.number()
    monotonicTime = try reader.number()
    availableMemory = try reader.number()
    let raw: UInt8 = try reader.number()
    guard raw & ~11 == 0 else { throw .fieldValue }
    isDumpable = raw & 1 != 0
    keepsState = raw & 2 != 0
    isConfined = raw & 8 != 0
    try reader.finish()
  }
}

extension SecretBuffer {
  /// Writes the reply.
  public mutating func putAgentFactsReply(_ facts: AgentFacts) throws(ProtocolError) {
    let frame = try openReply()
    for number in [
      facts.lockLimit, facts.hardLockLimit, facts.lockedBytes, facts.unlockedBytes,
      facts.coreLimit, facts.bootTime, facts.monotonicTime, facts.availableMemory,
    ] {
      try put(number)
    }
    let flags: UInt8 = (facts.isDumpable ? 1 : 0) | (facts.keepsState ? 2 : 0)
    try put(flags | (facts.isConfined ? 8 : 0))
    try closeFrame(frame)
  }
}
