// SPDX-License-Identifier: MIT

public import KuraProtocol

/// Holds an entry of the access log.
public struct LogEntry: Sendable {
  /// Which one it is, from 1.
  public let number: UInt64
  /// Whether the vault was locked then, so that nothing but its place vouches for the entry.
  public let wasLocked: Bool
  /// What it says.
  public let facts: LogFacts
  /// The item's name, empty for none.
  public let name: String
  /// Another name that it is about: an item's new one, or an attribute's key.
  public let other: String
}

/// Hands on what the agent tells of an access log, in order.
public enum LogLine: Sendable {
  case entry(LogEntry)
  /// Number: the entry at that place. Count: entries, or bytes.
  case finding(LogFlaw, number: UInt64, count: UInt64)
  /// How many entries were dropped in front of those that follow.
  case dropped(UInt64)
}

extension Connection {
  /// Reads the access log that this machine keeps of the vault, oldest entry first.
  public mutating func log(each: (LogLine) throws(ClientError) -> Void) throws(ClientError) {
    try send(.log)
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .data else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      let batch = try reading { () throws(ProtocolError) in try LogBatch(payload) }
      for part in batch.parts { try each(LogLine(part, in: payload)) }
    }
  }
}

extension LogLine {
  fileprivate init(_ part: LogPart, in payload: Span<UInt8>) {
    switch part {
    case .entry(let facts, let number, let wasLocked, let name, let other):
      self = .entry(
        LogEntry(
          number: number, wasLocked: wasLocked, facts: facts,
          name: String(repairing: payload.extracting(name)),
          other: String(repairing: payload.extracting(other))))
    case .finding(let flaw, let number, let count):
      self = .finding(flaw, number: number, count: count)
    case .dropped(let count): self = .dropped(count)
    }
  }
}
