// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

extension Connection {
  /// Stores a value that is in memory.
  ///
  /// - Parameters:
  ///   - order: What to store it as.
  ///   - value: Of any length; only borrowed.
  ///   - secrets: Attributes that are to be as secret as it, in a vault of format 2.
  public mutating func put(
    _ order: PutOrder, value: Span<UInt8>, secrets: AttributeFields = AttributeFields()
  ) throws(ClientError) -> PutReply {
    let isWhole = value.count <= ProtocolLimit.inlineValue
    if let reply = try offer(order, value, secrets, isWhole: isWhole) { return reply }
    try upload(all: value)
    return try endUpload()
  }

  /// Stores a value that comes in pieces. Memory does not grow with their number.
  ///
  /// - Parameters:
  ///   - order: What to store it as.
  ///   - value: The first piece.
  ///   - secrets: Attributes that are to be as secret as it, in a vault of format 2.
  ///   - next: Appends the next piece to an empty buffer; false when there is none. What it throws ends the upload:
  ///     nothing was stored then.
  public mutating func put(
    _ order: PutOrder, value: Span<UInt8>, secrets: AttributeFields = AttributeFields(),
    next: (inout SecretBuffer) throws(ClientError) -> Bool
  ) throws(ClientError) -> PutReply {
    _ = try offer(order, value, secrets, isWhole: false)
    try upload(all: value)
    var piece = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    while true {
      piece.removeAll()
      do throws(ClientError) {
        guard try next(&piece) else { break }
      } catch {
        try? channel.send { output throws(ProtocolError) in try output.putUploadEnd(.abandon) }
        throw error
      }
      try upload(all: piece.bytes)
    }
    return try endUpload()
  }

  /// Stores what a descriptor gives until its end. Memory does not grow with the value.
  ///
  /// - Parameters:
  ///   - order: What to store it as.
  ///   - source: Where it comes from.
  ///   - progress: Called with the number of bytes read, now and then, where there are many.
  /// - Throws: ``ClientError/refused(_:)``: the source can be put again unless it is spent;
  ///   ``ClientError/input(_:)`` when reading failed: nothing was stored, and the connection is
  ///   of no further use.
  public mutating func put(
    _ order: PutOrder, from source: inout ValueInput, progress: (UInt64) -> Void = { _ in }
  ) throws(ClientError) -> PutReply {
    var head = try source.takeHead()
    let isWhole = source.hasEnded && head.count <= ProtocolLimit.inlineValue
    let reply: PutReply?
    do throws(ClientError) {
      reply = try offer(order, head.bytes, AttributeFields(), isWhole: isWhole)
    } catch {
      source.giveBack(head)
      throw error
    }
    source.spend()
    if let reply { return reply }
    try upload(&head, and: &source, progress)
    return try endUpload()
  }

  /// Puts a value that is whole; else asks whether the upload may begin, and returns nil.
  private mutating func offer(
    _ order: PutOrder, _ value: Span<UInt8>, _ secrets: AttributeFields, isWhole: Bool
  ) throws(ClientError) -> PutReply? {
    let pairs = try listed { pairs throws(ProtocolError) in try pairs.put(pairs: order.attributes) }
    try send(
      .put(
        PutRequest(
          name: order.name.utf8.span, flags: order.flags, revision: order.revision,
          attributes: AttributeFields(pairs.bytes, count: order.attributes.count),
          secrets: secrets, value: isWhole ? value : nil, times: order.times)))
    if isWhole { return try reply() }
    try done()
    widen()
    return nil
  }

  private mutating func upload(
    _ part: inout SecretBuffer, and source: inout ValueInput, _ progress: (UInt64) -> Void
  ) throws(ClientError) {
    while part.count > 0 {
      let count = min(part.count, ProtocolLimit.chunk)
      try upload(part.bytes.extracting(first: count))
      part.removeFirst(count)
      progress(source.count)
      do throws(ClientError) {
        try source.fill(&part, upTo: ProtocolLimit.chunk)
      } catch {
        try? channel.send { output throws(ProtocolError) in try output.putUploadEnd(.abandon) }
        throw error
      }
    }
  }

  private mutating func upload(all value: Span<UInt8>) throws(ClientError) {
    var rest = value
    while !rest.isEmpty {
      try upload(rest.extracting(first: ProtocolLimit.chunk))
      rest = rest.extracting(droppingFirst: min(rest.count, ProtocolLimit.chunk))
    }
  }

  /// Sends one part; an agent that has had enough says so in between.
  private mutating func upload(_ part: Span<UInt8>) throws(ClientError) {
    if hasNews {
      _ = try answer()
      throw .broken(.frameType(FrameType.reply.rawValue))
    }
    try channel.send { output throws(ProtocolError) in try output.putData(part, from: .client) }
  }

  private mutating func endUpload() throws(ClientError) -> PutReply {
    try channel.send { output throws(ProtocolError) in try output.putUploadEnd(.commit) }
    return try reply(patience: patience.stream)
  }
}
