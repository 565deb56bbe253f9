// SPDX-License-Identifier: MIT

public import KuraProtocol
internal import SecureMemory

// MARK: - Names and earlier revisions

extension Connection {
  /// Gives an item another name; revision and history stay.
  ///
  /// - Parameters:
  ///   - name: The name it has.
  ///   - new: The name it is to have.
  ///   - replacing: Whether a value may stand under the new name: it is deleted into its history,
  ///     which the old name has then.
  ///   - files: The items that go with it, each with the name that it is to have, 1,024 at most: all are renamed in
  ///     one transaction, or none.
  ///   - word: The owner's word, which it takes where something protected stands under any of the names.
  /// - Returns: Whether it had that name already, so that nothing was changed.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.ownerNeeded`, among others.
  public mutating func move(
    _ name: String, to new: String, replacing: Bool = false,
    files: [(name: String, new: String)] = [],
    by word: borrowing Word? = nil
  ) throws(ClientError) -> Bool {
    let olds = try written(files.map { $0.name })
    let others = try written(files.map { $0.new })
    let reply: PutReply = try ask(
      .move(
        MoveRequest(
          name: name.utf8.span, to: new.utf8.span, flags: replacing ? .replace : [],
          word: OwnerWord(word), files: KeyFields(olds.bytes, count: files.count),
          newFiles: KeyFields(others.bytes, count: files.count))), patience: patience(by: word))
    return reply.replaced != 0
  }

  /// Names of items, as a request has them.
  func written(_ names: [String]) throws(ClientError) -> SecretBuffer {
    try listed { list throws(ProtocolError) in
      for name in names { try list.put16(text: name, limit: ProtocolLimit.name) }
    }
  }

  /// Lists the revisions of an item, deleted or not, in order: the current one is the last.
  public mutating func history(
    _ name: String, each: (Item) throws(ClientError) -> Void
  ) throws(ClientError) {
    try send(.history(NameRequest(name: name.utf8.span)))
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .data else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      let batch: EntryBatch
      do throws(ProtocolError) { batch = try EntryBatch(payload) } catch { throw .broken(error) }
      try batch.forEach { entry throws(ClientError) in try each(Item(entry)) }
    }
  }

  /// Brings an earlier revision back as the next one.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - revision: The one to bring back; 0 = the newest value of a deleted item.
  ///   - ifRevision: The revision the item must have, deleted or not; 0 = any.
  ///   - files: Deleted items that come back with it, 1,024 at most: all in one transaction, or none.
  /// - Returns: The item's new revision.
  public mutating func restore(
    _ name: String, revision: UInt64 = 0, ifRevision: UInt64 = 0, files: [String] = []
  ) throws(ClientError) -> UInt64 {
    let names = try written(files)
    let reply: RevisionReply = try ask(
      .restore(
        RestoreRequest(
          name: name.utf8.span, revision: revision, ifRevision: ifRevision,
          files: KeyFields(names.bytes, count: files.count))))
    return reply.revision
  }

  /// Takes an item, or earlier revisions of it, out of the vault for good.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - scope: What is to go.
  ///   - revision: Which one; 0 for every other scope.
  ///   - word: The owner's word, which a protected item takes.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.walKept` when all is gone but for what the
  ///   WAL keeps until another reader ends, with `Failure.ownerNeeded`, among others.
  /// - Returns: How many of the revisions that went were damaged, and how many went; nil for none that was. And
  ///   how much of the file is free; nil where it is little.
  @discardableResult
  public mutating func purge(
    _ name: String, _ scope: PurgeRequest.Scope, revision: UInt64 = 0,
    by word: borrowing Word? = nil
  ) throws(ClientError) -> (damage: ProgressReport?, free: SpaceReport?) {
    var (damage, free): (ProgressReport?, SpaceReport?) = (nil, nil)
    try send(
      .purge(
        PurgeRequest(
          name: name.utf8.span, scope, revision: revision, word: OwnerWord(word))))
    while true {
      let frame = try channel.next(patience: max(patience.stream, patience(by: word)))
      let payload = received.extracting(frame.payload)
      switch frame.type {
      case .progress:
        damage = try reading { () throws(ProtocolError) in try ProgressReport(payload) }
      case .data: free = try reading { () throws(ProtocolError) in try SpaceReport(payload) }
      case .clientHello, .request, .clientData, .clientEnd, .confirm, .agentHello, .reply, .end:
        try finish(frame)
        return (damage, free)
      }
    }
  }
}
