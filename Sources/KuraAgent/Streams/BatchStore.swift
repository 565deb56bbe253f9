// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves `put-batch`: stores some items a slice, then all by one commit; of a trial none. Others read the state before
/// meanwhile.
final class BatchStore: Stream {
  /// How many items are looked at in a slice, before any is written.
  private static let slice = 128

  let session: Session
  let isUse = true
  var isChange: Bool { !flags.contains(.trial) }
  private let flags: PutBatchRequest.Flags
  /// How many items there are.
  private let count: Int
  private let items: SecretBytes
  private var batch: PutBatch
  /// Where the next item stands, and how many stood before it.
  private var offset = 0
  private var taken = 0
  /// The limits and the clock of the agent.
  private let configuration: AgentConfiguration
  /// When it is tried again to get hold of a busy vault, and until when.
  private var retry: UInt64 = 0
  private var busyDeadline: UInt64?

  init(
    _ batch: consuming PutBatch, _ flags: PutBatchRequest.Flags, _ items: consuming SecretBytes,
    count: Int, to session: Session, _ configuration: AgentConfiguration
  ) {
    self.configuration = configuration
    self.batch = batch
    (self.flags, self.count) = (flags, count)
    self.items = items
    self.session = session
  }

  var due: UInt64 { retry }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    if try take(in: &vault) { return true }
    if !flags.contains(.trial), try store(in: &vault) { return true }
    session.mustTrim = true
    try write { () throws(ProtocolError) in
      try outbox.frames.putProgress(done: UInt64(batch.storedCount), total: UInt64(told))
      guard let failure else { return try outbox.frames.putEnd() }
      try outbox.frames.putRefusal(failure, as: .end)
    }
    return false
  }

  func end(in agent: Agent, for client: Connection) { agent.noteStored(self, by: client) }

  /// Stores the next items. What begins anew waits for others that write, as any request does.
  private func store(in vault: inout UnlockedVault) throws(VaultError) -> Bool {
    do throws(VaultError) {
      let hasMore = try vault.advance(batch: &batch)
      (retry, busyDeadline) = (0, nil)
      return hasMore
    } catch {
      let now = configuration.clock().monotonic
      let deadline = busyDeadline ?? now + configuration.limits.busy
      guard error == .busy, now < deadline else { throw error }
      (retry, busyDeadline) = (now + configuration.limits.retry, deadline)
      return true
    }
  }

  /// Adds the next items of the request; false when there are none.
  private func take(in vault: inout UnlockedVault) throws(VaultError) -> Bool {
    guard hasMoreToTake else { return false }
    let end = min(taken + Self.slice, count)
    while taken < end {
      guard try add(items, to: &vault) else { return false }
      taken += 1
    }
    return true
  }

  private func add(
    _ items: borrowing SecretBytes, to vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let item = BatchItem(in: items.bytes, at: &offset)
    if item.flags.contains(.goesOn) { return try vault.add(more: item.value.bytes, to: &batch) }
    let mayBeEmpty = flags.contains(.allowEmpty) || item.flags.contains(.delete)
    guard !item.value.bytes.isEmpty || mayBeEmpty else {
      hasEmptyValue = true
      return false
    }
    return try vault.add(
      item.name.bytes, value: item.value.bytes,
      attributes: item.attributes.counted(in: items.bytes),
      secrets: item.flags.contains(.secrets) ? item.secrets.counted(in: items.bytes) : Span(),
      as: BatchManner(item), to: &batch)
  }

  /// How many items there are; where all are refused for one of them, its place.
  private var told: Int {
    guard flags.contains(.whole), let failure = batch.failure else { return count }
    return failure.index
  }

  private var hasMoreToTake: Bool { taken < count && !isRefused }

  /// How many values were stored.
  var storedCount: Int { batch.storedCount }

  /// Whether the next item has no value, and that was not asked for.
  private var hasEmptyValue = false

  private var isRefused: Bool { hasEmptyValue || batch.failure != nil }

  /// Why the item behind those that are stored is not; nothing of it is named.
  private var failure: Refusal? {
    if let failure = batch.failure { return Refusal(failure.error, at: session.path) }
    return hasEmptyValue ? .valueEmpty : nil
  }
}

extension BatchManner {
  fileprivate init(_ item: borrowing BatchItem) {
    let flags = item.flags
    self.init(
      replacing: flags.contains(.replace), protecting: flags.contains(.protect),
      kind: flags.contains(.delete) ? .deleted : flags.contains(.otp) ? .otp : .value,
      replacingAttributes: flags.contains(.replaceAttributes),
      times: flags.contains(.dated) ? item.times : nil)
  }
}

extension Agent {
  /// Begins to store many values in one transaction.
  func putBatch(
    _ request: PutBatchRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let flags = request.flags
    guard flags.isDisjoint(with: [.more, .trial]) || flags.contains(.whole),
      flags.isSuperset(of: flags.contains(.whole) ? .allowEmpty : []),
      !flags.isSuperset(of: [.more, .trial])
    else { throw .malformed }
    // What goes on goes on with something.
    guard connection.gathered != nil || !request.beginsWithPiece else { throw .malformed }
    if flags.contains(.more) { return try gather(request, of: session, connection) }
    let count = request.count + (connection.gathered?.count ?? 0)
    guard count > 0 else { return try tell(0, connection) }
    // One batch after another would leave nobody else a turn.
    guard !isAwaited(before: connection) else { throw .busy }
    let batch = try work(on: session) { vault throws(VaultError) in
      try vault.beginBatch(replacing: flags.contains(.replace), whole: flags.contains(.whole))
    }
    let items: SecretBytes
    if let gathered = connection.gathered {
      connection.gathered = nil
      try gathered.add(request.items.bytes, count: request.count)
      items = try gathered.finish()
    } else {
      items = try secret(request.items.bytes)
    }
    connection.phase = .sending(
      BatchStore(batch, flags, items, count: count, to: session, configuration))
  }

  /// Keeps items until the last that belong to them have come.
  private func gather(
    _ request: PutBatchRequest, of session: Session, _ connection: Connection
  ) throws(Refusal) {
    let gathered: GatheredItems
    if let begun = connection.gathered {
      gathered = begun
    } else {
      gathered = try GatheredItems(of: session)
    }
    try gathered.add(request.items.bytes, count: request.count)
    connection.gathered = gathered
    try tell(gathered.count, connection)
  }

  /// Answers that nothing is stored, of so many.
  private func tell(_ count: Int, _ connection: Connection) throws(Refusal) {
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putProgress(done: 0, total: UInt64(count))
      try connection.outbox.frames.putEnd()
    }
  }

  /// Whether somebody has waited for the vault's writer longer than this client.
  private func isAwaited(before connection: Connection) -> Bool {
    connections.contains { other in
      guard other !== connection, let deadline = other.busyDeadline,
        other.vaultPath == connection.vaultPath
      else { return false }
      return deadline < connection.busyDeadline ?? .max
    }
  }
}
