// SPDX-License-Identifier: MIT

public import SecureMemory

/// Replies, as the agent writes them.
extension SecretBuffer {
  /// Begins an ok reply; the verb's fields follow, then ``closeFrame(_:)``.
  public mutating func openReply() throws(ProtocolError) -> OpenFrame {
    let frame = try openFrame(.reply)
    try put(UInt16(0))
    return frame
  }

  /// Writes an ok reply without fields: `lock`, `remove`, `agentStop`, `wait`, `confirm`, and the
  /// go-ahead of an upload.
  public mutating func putReply() throws(ProtocolError) { try putReply(DoneReply()) }

  /// Writes an ok reply.
  public mutating func putReply<Fields: Message & ~Escapable>(
    _ fields: Fields
  ) throws(ProtocolError) {
    let frame = try openReply()
    var fields = fields
    try fields.code(&self)
    try closeFrame(frame)
  }

  /// Answers `get` with the value inside, or, with nil, announces the data frames that follow.
  public mutating func putGetReply(
    name: Span<UInt8>, facts: ItemFacts, value: Span<UInt8>?
  ) throws(ProtocolError) {
    let frame = try openReply()
    try putEntry(name: name, facts: facts)
    try closeGetReply(frame, value: value)
  }

  /// Ends the reply to `get` after its entry: the value, or nil where it follows in data frames.
  public mutating func closeGetReply(
    _ frame: OpenFrame, value: Span<UInt8>?
  ) throws(ProtocolError) {
    if let value {
      try put(UInt8(0))
      try put32(value, limit: ProtocolLimit.inlineValue)
    } else {
      try put(UInt8(1))
    }
    try closeFrame(frame)
  }

  /// Ends the reply to `show` after its entry: the kept revisions, ascending.
  public mutating func closeShowReply(
    _ frame: OpenFrame, revisions: Span<UInt64>
  ) throws(ProtocolError) {
    let place = try openCount()
    for index in revisions.indices { try put(revisions[index]) }
    try closeCount(place, revisions.count)
    try closeFrame(frame)
  }
}

/// A data frame of counted entries or findings that is being written.
public struct OpenBatch: Sendable {
  let frame: OpenFrame
  let place: OpenCount
}

// MARK: - Streams

extension SecretBuffer {
  /// Ends a stream that went well: a value, a list or a check.
  public mutating func putEnd() throws(ProtocolError) {
    let frame = try openFrame(.end)
    try put(UInt16(0))
    try closeFrame(frame)
  }

  /// Begins a data frame of entries or findings.
  public mutating func openBatch() throws(ProtocolError) -> OpenBatch {
    let frame = try openFrame(.data)
    return OpenBatch(frame: frame, place: try openCount())
  }

  /// Ends a data frame of entries or findings.
  public mutating func closeBatch(_ batch: OpenBatch, count: Int) throws(ProtocolError) {
    try closeCount(batch.place, count)
    try closeFrame(batch.frame)
  }

  /// Writes one finding of `verify` into a batch.
  ///
  /// - Parameter place: An item's name, or which part of the vault it is.
  public mutating func putFinding(
    _ finding: FindingKind, at place: Span<UInt8>
  ) throws(ProtocolError) {
    try put(finding.rawValue)
    try put16(place.extracting(first: ProtocolLimit.path))
  }

  /// Says how far long work has come.
  public mutating func putProgress(done: UInt64, total: UInt64) throws(ProtocolError) {
    let frame = try openFrame(.progress)
    try put(done)
    try put(total)
    try closeFrame(frame)
  }
}
