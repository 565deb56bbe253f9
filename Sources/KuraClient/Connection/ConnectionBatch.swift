// SPDX-License-Identifier: MIT

public import KuraProtocol
internal import SecureMemory

/// Gathers items that are to be stored together: what one request holds.
public struct ItemBatch: ~Copyable {
  /// What a request takes, but for its head.
  private static let limit = ProtocolLimit.frame - 16

  private(set) var items: SecretBuffer
  /// How many there are.
  public private(set) var count = 0

  /// A batch without items.
  public init() throws(ClientError) {
    items = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 65_536) }
  }

  /// The bytes they take.
  public var byteCount: Int { items.count }

  /// Adds an item.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - flags: How it is stored.
  ///   - value: At most `ProtocolLimit.inlineValue` bytes.
  ///   - attributes: As `SecretBuffer.putPair(key:value:)` writes them.
  ///   - attributeCount: How many there are.
  ///   - secrets: Those that are to be as secret as the value, in a vault of format 2.
  ///   - times: When it was made and changed; nil: now.
  /// - Returns: Whether there was room; where the batch has no item, there always is.
  /// - Throws: ``ClientError/tooLong(limit:)`` for an item that no request can hold.
  public mutating func add(
    name: Span<UInt8>, flags: BatchItem.Flags, value: Span<UInt8>, attributes: Span<UInt8>,
    attributeCount: Int, secrets: AttributeFields = AttributeFields(),
    times: ItemTimes? = nil
  ) throws(ClientError) -> Bool {
    let before = items.count
    let fields = name.count + attributes.count + secrets.byteCount + value.count
    let needed = 9 + (times == nil ? 0 : 16) + fields
    guard before + needed <= Self.limit, count < ProtocolLimit.batch else {
      if count == 0 { throw .tooLong(limit: Self.limit) }
      return false
    }
    do throws(ProtocolError) {
      try items.putItem(
        BatchItem(
          name: name, flags: flags,
          attributes: AttributeFields(attributes, count: attributeCount),
          secrets: secrets, value: value, times: times))
    } catch {
      items.removeLast(items.count - before)
      throw ClientError(writing: error)
    }
    count += 1
    return true
  }

  /// Goes on with the value of the item that was added last, in this batch or the one before it that belongs to it.
  ///
  /// - Parameter value: At most `ProtocolLimit.inlineValue` bytes.
  /// - Returns: Whether there was room.
  public mutating func add(more value: Span<UInt8>) throws(ClientError) -> Bool {
    guard items.count + 9 + value.count <= Self.limit, count < ProtocolLimit.batch else {
      return false
    }
    do throws(ProtocolError) {
      try items.putItem(BatchItem(name: Span(), flags: .goesOn, value: value))
    } catch { throw ClientError(writing: error) }
    count += 1
    return true
  }

  /// Wipes and forgets all items.
  public mutating func removeAll() {
    items.removeAll()
    count = 0
  }
}

extension Connection {
  /// Sends a batch; ``batchAnswer(_:)`` tells what became of it, and comes before any other request.
  public mutating func send(
    _ batch: borrowing ItemBatch, flags: PutBatchRequest.Flags
  ) throws(ClientError) {
    try send(
      .putBatch(PutBatchRequest(flags: flags, items: batch.items.bytes, count: batch.count)))
  }

  /// Waits until a batch is stored.
  ///
  /// - Parameter stored: Gets the number of its items that are stored for good: all, or those before
  ///   the one that is refused.
  /// - Throws: ``ClientError/refused(_:)`` when not all are.
  public mutating func batchAnswer(_ stored: inout Int) throws(ClientError) {
    var place = 0
    try batchAnswer(&stored, refusedAt: &place)
  }

  /// The same for a batch that is stored as a whole.
  ///
  /// - Parameters:
  ///   - stored: Gets the number of its items that are stored: all or none.
  ///   - place: Gets the place of the item that is refused, from 0; only where it throws.
  public mutating func batchAnswer(
    _ stored: inout Int, refusedAt place: inout Int
  ) throws(ClientError) {
    stored = 0
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .progress else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      let report = try reading { () throws(ProtocolError) in try ProgressReport(payload) }
      stored = Int(clamping: report.done)
      place = Int(clamping: report.total)
    }
  }
}
