// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraTerms
internal import SecureMemory

/// Speaks to the agent for an import: asks what the vault has, and has it store all or nothing.
struct VaultSide: ~Copyable {
  private var connection: Connection

  init(_ vault: VaultPath) throws(ImportFailure) {
    connection = try asking { () throws(ClientError) in
      try Connection.open(vault, engine: .running)
    }
  }

  /// What the vault has, but for the values.
  mutating func known() throws(ImportFailure) -> [String: KnownItem] {
    var known: [String: KnownItem] = [:]
    do throws(ClientError) {
      try connection.list(ListOrder(flags: .attributes)) { item throws(ClientError) in
        known[item.name] = KnownItem(
          attributes: item.attributes.map { .init(key: Array($0.key.utf8), value: $0.value) },
          size: item.facts.size, isProtected: item.facts.protection == .protected,
          isCode: item.facts.kind == .otp, modified: item.facts.modified)
      }
    } catch { throw ImportFailure(error) }
    return known
  }

  /// An item's value.
  ///
  /// - Parameter revision: An earlier one; 0 for the current.
  mutating func value(_ name: String, revision: UInt64 = 0) throws(ImportFailure) -> [UInt8] {
    var value: [UInt8] = []
    do throws(ClientError) {
      try connection.get(name, revision: revision) { part throws(ClientError) in
        value.reserveCapacity(value.count + part.count)
        for index in part.indices { value.append(part[index]) }
      }
    } catch { throw ImportFailure(error) }
    return value
  }

  /// An item's secret attributes.
  mutating func secrets(_ name: String) throws(ImportFailure) -> [ImportedItem.Pair] {
    var pairs: [ImportedItem.Pair] = []
    do throws(ClientError) {
      if try connection.secrets(of: name).isEmpty { return [] }
      try connection.secretAttributes(of: name) { key, value throws(ClientError) in
        pairs.append(.init(key: Self.array(key), value: Self.array(value)))
      }
    } catch { throw ImportFailure(error) }
    return pairs
  }

  /// How many earlier revisions the vault keeps of an item.
  mutating func depth() throws(ImportFailure) -> Int {
    do throws(ClientError) { return Int(try connection.setting(.historyDepth)) } catch {
      throw ImportFailure(error)
    }
  }

  /// An item's earlier values, but for those that are longer than any that is imported.
  mutating func earlier(_ name: String) throws(ImportFailure) -> [[UInt8]] {
    var revisions: [(number: UInt64, kind: ItemKind, size: UInt64)] = []
    do throws(ClientError) {
      try connection.history(name) { item throws(ClientError) in
        revisions.append((item.facts.revision, item.facts.kind, item.facts.size))
      }
    } catch { throw ImportFailure(error) }
    var values: [[UInt8]] = []
    for (number, kind, size) in revisions.dropLast()
    where (kind == .value || kind == .otp) && size <= UInt64(ImportedItem.longest) {
      values.append(try value(name, revision: number))
    }
    return values
  }

  private static func array(_ bytes: Span<UInt8>) -> [UInt8] {
    bytes.indices.map { bytes[$0] }
  }

  /// Whether rows have secret attributes and the vault, one of format 1, has no place for them.
  mutating func lacksPlace(for rows: [Row]) throws(ImportFailure) -> Bool {
    guard rows.contains(where: { !$0.secrets.isEmpty }) else { return false }
    do throws(ClientError) { return try connection.status().format == 1 } catch {
      throw ImportFailure(error)
    }
  }

  /// Has the vault taken over, which makes that place.
  ///
  /// - Returns: Where the copy of before is; nil where somebody else did it meanwhile.
  mutating func makePlace() throws(ImportFailure) -> String? {
    do throws(ClientError) { return try connection.takeOver() } catch { throw ImportFailure(error) }
  }

  /// Says which row cannot be stored, and why.
  enum Stored: Equatable {
    case all
    /// Its value makes no codes.
    case noCode(row: Int)
    case refused(row: Int, ImportFailure)
  }

  /// Stores all rows, or none.
  ///
  /// - Parameter isTrial: Whether none is stored, but each looked at as if it was to be.
  mutating func store(
    _ rows: [Row], isTrial: Bool, progress: (Int) -> Void
  ) throws(ImportFailure) -> Stored {
    var row = 0
    do throws(ClientError) {
      try send(rows, isTrial ? .trial : [], &row, progress)
      return .all
    } catch {
      guard case .refused(let refusal) = error else { throw ImportFailure(error) }
      guard rows.indices.contains(row) else {
        if case .tooLarge = refusal { throw Self.tooMuch }
        throw ImportFailure(error)
      }
      if case .otpInvalid = refusal { return .noCode(row: row) }
      return .refused(row: row, ImportFailure(error))
    }
  }

  private static let tooMuch = ImportFailure(
    .failure,
    "all of it together has more than \(ProtocolLimit.wholeBatchBytes >> 20) MiB, or \(ProtocolLimit.wholeBatch) values, which is the most that is stored at once",
    hint: "nothing was changed; leave out the largest files there, and put them by 'kura put'")

  /// - Parameters:
  ///   - end: What the last request has beside the flags of all.
  ///   - refused: Gets the row that is refused; where none is, -1.
  private mutating func send(
    _ rows: [Row], _ end: PutBatchRequest.Flags, _ refused: inout Int, _ progress: (Int) -> Void
  ) throws(ClientError) {
    let flags: PutBatchRequest.Flags = [.whole, .allowEmpty]
    var ignored = 0
    refused = -1
    let last = try Self.pack(rows) { batch, index throws(ClientError) in
      try connection.send(batch, flags: flags.union(.more))
      try connection.batchAnswer(&ignored)
      progress(index)
    }
    try connection.send(last, flags: flags.union(end))
    try connection.batchAnswer(&ignored, refusedAt: &refused)
    progress(rows.count)
  }

  /// Puts rows into batches, one after the other.
  ///
  /// - Parameter hand: Gets each that is full, and how many rows stand before its end.
  /// - Returns: The last one.
  private static func pack(
    _ rows: [Row], _ hand: (borrowing ItemBatch, Int) throws(ClientError) -> Void
  ) throws(ClientError) -> ItemBatch {
    var batch = try ItemBatch()
    for (index, row) in rows.enumerated() {
      let attributes = try Self.pairs(row.attributes)
      let secrets = try Self.pairs(row.secrets)
      if try !add(row, attributes, secrets, to: &batch) {
        try hand(batch, index)
        batch.removeAll()
        _ = try add(row, attributes, secrets, to: &batch)
      }
      for piece in rest(of: row.value) where try !batch.add(more: piece.span) {
        try hand(batch, index)
        batch.removeAll()
        _ = try batch.add(more: piece.span)
      }
    }
    return batch
  }

  /// What of a value does not stand beside its name.
  private static func rest(of value: [UInt8]) -> [ArraySlice<UInt8>] {
    stride(
      from: ProtocolLimit.inlineValue, to: value.count, by: ProtocolLimit.inlineValue
    ).map { value[$0..<min($0 + ProtocolLimit.inlineValue, value.count)] }
  }

  private static func add(
    _ row: Row, _ attributes: borrowing SecretBuffer, _ secrets: borrowing SecretBuffer,
    to batch: inout ItemBatch
  ) throws(ClientError) -> Bool {
    try batch.add(
      name: row.name.utf8.span, flags: row.flags,
      value: row.value.span.extracting(first: ProtocolLimit.inlineValue),
      attributes: attributes.bytes, attributeCount: row.attributes.count,
      secrets: AttributeFields(secrets.bytes, count: row.secrets.count), times: row.times)
  }

  private static func pairs(
    _ attributes: [ImportedItem.Pair]
  ) throws(ClientError) -> SecretBuffer {
    var pairs: SecretBuffer
    do throws(SecureMemoryError) { pairs = try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
    for pair in attributes {
      do throws(ProtocolError) {
        try pairs.putPair(key: pair.key.span, value: pair.value.span)
      } catch { throw .outOfMemory }
    }
    return pairs
  }
}

/// Does what asks the agent, with the import's failures.
func asking<Value: ~Copyable>(
  _ body: () throws(ClientError) -> Value
) throws(ImportFailure) -> Value {
  do throws(ClientError) { return try body() } catch { throw ImportFailure(error) }
}
