// SPDX-License-Identifier: MIT

public import SecureMemory

/// What an entry of the access log says beside the names.
public struct LogEntryFacts: Equatable, Sendable {
  /// Which one it is, from 1.
  public let number: UInt64
  /// When, in ms of Unix time.
  public let time: UInt64
  /// What was asked, as ``Verb`` numbers it; 0 for a remark of the log about itself.
  public let verb: UInt8
  /// Whether the vault was locked then, so that nothing but its place vouches for the entry.
  public var wasLocked = false
  /// 0 when it was done, else the code of the refusal.
  public var code: UInt16 = 0
  /// What more there is to say; what, the verb decides.
  public var detail: UInt64 = 0
  /// The client's process; 0 where there was none.
  public var process: UInt32 = 0
  /// The process that had started it.
  public var parent: UInt32 = 0
  /// The client's program, a path or a name.
  public var program: [UInt8] = []
  /// The program of the process that had started it.
  public var parentProgram: [UInt8] = []
  /// The client's terminal, empty for none.
  public var terminal: [UInt8] = []

  /// An entry that no client caused.
  public init(number: UInt64, time: UInt64, verb: UInt8) {
    self.number = number
    self.time = time
    self.verb = verb
  }
}

/// What is wrong with an access log.
public enum LogFlaw: UInt8, Sendable, CaseIterable {
  /// It cannot be read at all.
  case head = 1
  /// Entries were changed.
  case damaged = 2
  /// Entries are missing.
  case missing = 3
  /// Entries stand in another place than they were written at, or twice.
  case misplaced = 4
  /// The log ends before an entry that had been noted.
  case cut = 5
  /// The last write was cut off, as by a crash.
  case torn = 6

  /// Whether somebody must have been at the file.
  public var isTampering: Bool { self != .torn }
}

/// What the log says about itself: the low byte of the detail of an entry with verb 0.
public enum LogRemark: UInt8, Sendable, CaseIterable {
  /// The log begins.
  case begun = 1
  /// A write had been cut off; so many bytes of it were dropped.
  case torn = 2
  /// Entries that had been noted were missing.
  case cut = 3
  /// There was a log that could not be read; it was moved aside.
  case unreadable = 4
  /// So many entries could not be written.
  case lost = 5
  /// The vault got a new key; so many parts of the log could not be taken over.
  case rekeyed = 6
  /// The log had been switched off, which dropped so many entries; it begins anew.
  case switchedOff = 7
}

/// One part of the answer to `log`; names stand where the payload has them.
public enum LogPart: Equatable, Sendable {
  case entry(LogEntryFacts, name: Range<Int>, other: Range<Int>)
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
    var facts = LogEntryFacts(
      number: number, time: try reader.number(), verb: try reader.number())
    facts.wasLocked = wasLocked == 1
    facts.code = try reader.number()
    facts.detail = try reader.number()
    facts.process = try reader.number()
    facts.parent = try reader.number()
    let (name, other) = (try reader.field16(), try reader.field16())
    facts.program = reader.copy(try reader.field16())
    facts.parentProgram = reader.copy(try reader.field16())
    facts.terminal = reader.copy(try reader.field16())
    return .entry(facts, name: name, other: other)
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
    _ facts: LogEntryFacts, name: Span<UInt8>, other: Span<UInt8>
  ) throws(ProtocolError) {
    try put(UInt8(1))
    try put(facts.number)
    try put(UInt8(facts.wasLocked ? 1 : 0))
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
    _ flaw: UInt8, number: UInt64, count: UInt64
  ) throws(ProtocolError) {
    try put(UInt8(2))
    try put(flaw)
    try put(number)
    try put(count)
  }

  /// Writes into a batch how many entries were dropped.
  public mutating func putLogDropped(_ count: UInt64) throws(ProtocolError) {
    try put(UInt8(3))
    try put(count)
  }
}
