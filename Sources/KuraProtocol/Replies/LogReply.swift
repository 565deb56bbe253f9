// SPDX-License-Identifier: MIT

public import SecureMemory

/// One part of the answer to `log`; names stand where the payload has them.
public enum LogPart: Equatable, Sendable {
  /// Number: which one it is, from 1. Where the vault was locked then, nothing but its place vouches for it.
  case entry(
    LogFacts, number: UInt64, wasLocked: Bool, name: Range<Int>, other: Range<Int>)
  /// Number: the entry at that place. Count: entries, or bytes.
  case finding(LogFlaw, number: UInt64, count: UInt64)
  /// How many entries were dropped in front of those that follow.
  case dropped(UInt64)

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    switch try reader.number(UInt8.self) {
    case 1: self = try Self.entry(&reader)
    case 2:
      guard let flaw = LogFlaw(rawValue: try reader.number()) else { throw .fieldValue }
      self = .finding(flaw, number: try reader.number(), count: try reader.number())
    case 3: self = .dropped(try reader.number())
    default: throw .fieldValue
    }
  }

  private static func entry(_ reader: inout FieldReader) throws(ProtocolError) -> LogPart {
    let number: UInt64 = try reader.number()
    let wasLocked: UInt8 = try reader.number()
    guard wasLocked <= 1 else { throw .fieldValue }
    var facts = LogFacts(time: try reader.number(), verb: try reader.number())
    facts.code = try reader.number()
    facts.detail = try reader.number()
    facts.process = try reader.number()
    facts.parent = try reader.number()
    let (name, other) = (try reader.field16(), try reader.field16())
    facts.program = reader.copy(try reader.field16())
    facts.parentProgram = reader.copy(try reader.field16())
    facts.terminal = reader.copy(try reader.field16())
    return .entry(
      facts, number: number, wasLocked: wasLocked == 1, name: name, other: other)
  }
}

/// A data frame of the answer to `log`.
public struct LogBatch: Sendable {
  /// The parts, in order.
  public let parts: [LogPart]

  /// Reads a data frame's payload.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let count: UInt16 = try reader.number()
    var parts: [LogPart] = []
    for _ in 0..<count { parts.append(try LogPart(&reader)) }
    try reader.finish()
    self.parts = parts
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes an entry into a batch.
  public mutating func putLogEntry(
    _ facts: LogFacts, number: UInt64, wasLocked: Bool, name: Span<UInt8>, other: Span<UInt8>
  ) throws(ProtocolError) {
    try put(UInt8(1))
    try put(number)
    try put(UInt8(wasLocked ? 1 : 0))
    try put(facts.time)
    try put(facts.verb)
    try put(facts.code)
    try put(facts.detail)
    try put(facts.process)
    try put(facts.parent)
    try put16(name)
    try put16(other)
    try put16(facts.program.span)
    try put16(facts.parentProgram.span)
    try put16(facts.terminal.span)
  }

  /// Writes into a batch what is wrong with the log.
  public mutating func putLogFinding(
    _ flaw: LogFlaw, number: UInt64, count: UInt64
  ) throws(ProtocolError) {
    try put(UInt8(2))
    try put(flaw.rawValue)
    try put(number)
    try put(count)
  }

  /// Writes into a batch how many entries were dropped.
  public mutating func putLogDropped(_ count: UInt64) throws(ProtocolError) {
    try put(UInt8(3))
    try put(count)
  }
}
