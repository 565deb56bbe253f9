// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

// MARK: - Reading

extension Connection {
  /// Reads a value.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - revision: An earlier revision that is kept; 0 = the current one.
  ///   - purpose: What the access log says it is for.
  ///   - sink: Gets a value of at most 64 KiB in one call, a longer one in order, part by part,
  ///     each proved whole by the agent. The bytes are gone when it returns.
  /// - Throws: ``ClientError/refused(_:)``; for a long value that may come after some of it was
  ///   handed out.
  @discardableResult
  public mutating func get(
    _ name: String, revision: UInt64 = 0, for purpose: ReadPurpose = .get,
    into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) -> ItemFacts {
    try send(.get(GetRequest(name: name.utf8.span, revision: revision, for: purpose)))
    let (facts, isStream) = try hand(try answer(), to: sink) { $0.facts }
    if isStream { try stream(facts.size, into: sink) }
    return facts
  }

  /// Reads a value with all that belongs to it in that revision.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - revision: An earlier revision that is kept; 0 = the current one.
  ///   - sink: As for ``get(_:revision:for:into:)``.
  public mutating func getWhole(
    _ name: String, revision: UInt64 = 0,
    into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) -> Item {
    try send(.get(GetRequest(name: name.utf8.span, revision: revision, flags: .attributes)))
    let (item, isStream) = try hand(try answer(), to: sink) { Item($0) }
    if isStream { try stream(item.facts.size, into: sink) }
    return item
  }

  /// Hands on the value that an answer to `get` has inside.
  ///
  /// - Returns: What is made of the entry, and whether the value is still to come.
  private func hand<Told>(
    _ field: Range<Int>, to sink: (Span<UInt8>) throws(ClientError) -> Void,
    _ telling: (borrowing Entry) -> Told
  ) throws(ClientError) -> (Told, isStream: Bool) {
    let reply: GetReply = try replied(received(field))
    if !reply.isStream { try sink(reply.value.bytes) }
    return (telling(reply.entry), reply.isStream)
  }

  private mutating func stream(
    _ size: UInt64, into sink: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    var count: UInt64 = 0
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .data else {
        guard frame.type == .end else { throw .broken(.frameType(frame.type.rawValue)) }
        try accept(frame)
        guard count == size else { throw .broken(.truncated) }
        return
      }
      count += UInt64(frame.payload.count)
      try sink(received.extracting(frame.payload))
    }
  }

  /// Reads one attribute.
  public mutating func attribute(
    _ key: String, of name: String
  ) throws(ClientError) -> SecretBytes {
    try send(.getAttribute(GetAttributeRequest(name: name.utf8.span, key: key.utf8.span)))
    let reply: AttributeReply = try replied(received(try answer()))
    return try allocating { () throws(SecureMemoryError) in
      try SecretBytes(copying: reply.value.bytes)
    }
  }

  /// Lists items, in the order of the vault, which is that of no alphabet.
  ///
  /// - Parameters:
  ///   - order: Which items.
  ///   - idle: Called when all that was received is handed out, and more has to be waited for.
  ///   - each: Gets each item.
  public mutating func list(
    _ order: ListOrder = ListOrder(), idle: () throws(ClientError) -> Void = {},
    each: (Item) throws(ClientError) -> Void
  ) throws(ClientError) {
    try entries(order, idle: idle) { entry throws(ClientError) in try each(Item(entry)) }
  }

  /// Lists the names of items, as ``list(_:idle:each:)`` does.
  ///
  /// - Parameters:
  ///   - order: Which items.
  ///   - idle: As there.
  ///   - each: Gets each name, UTF-8; the bytes are gone when it returns.
  public mutating func listNames(
    _ order: ListOrder = ListOrder(), idle: () throws(ClientError) -> Void = {},
    each: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    try entries(order, idle: idle) { entry throws(ClientError) in try each(entry.name.bytes) }
  }

  private mutating func entries(
    _ order: ListOrder, idle: () throws(ClientError) -> Void,
    each: (borrowing Entry) throws(ClientError) -> Void
  ) throws(ClientError) {
    try send(
      .list(
        ListRequest(
          flags: order.flags, prefix: order.prefix.utf8.span,
          filterKey: order.filterKey.utf8.span, filterValue: order.filterValue.span,
          text: order.text.utf8.span)))
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .data else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      try Connection.read(payload, each)
      if !hasNews { try idle() }
    }
  }

  private static func read(
    _ payload: Span<UInt8>, _ each: (borrowing Entry) throws(ClientError) -> Void
  ) throws(ClientError) {
    var reader: EntryReader
    do throws(ProtocolError) { reader = try EntryReader(payload) } catch { throw .broken(error) }
    while true {
      let entry: Entry?
      do throws(ProtocolError) { entry = try reader.next() } catch { throw .broken(error) }
      guard let entry else { return }
      try each(entry)
    }
  }

  /// Tells all of an item but its value.
  public mutating func show(_ name: String) throws(ClientError) -> ShownItem {
    try send(.show(NameRequest(name: name.utf8.span)))
    let reply: ShowReply = try replied(received(try answer()))
    return ShownItem(item: Item(reply.entry), revisions: reply.revisionNumbers)
  }

  /// The end of a list or of a check; a request that is refused at once ends with a reply.
  func finish(_ frame: Frame) throws(ClientError) {
    guard frame.type == .end || frame.type == .reply else {
      throw .broken(.frameType(frame.type.rawValue))
    }
    try accept(frame)
    guard frame.type == .end else { throw .broken(.frameType(frame.type.rawValue)) }
  }

  /// A payload of the frame that was received last.
  @_lifetime(borrow self)
  func received(_ payload: Range<Int>) -> Span<UInt8> { received.extracting(payload) }
}

// MARK: - Changing

extension Connection {
  /// Sets and deletes attributes.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - set: Those that are to be there, with these values.
  ///   - delete: The keys of those that are to go.
  ///   - ifRevision: The revision the item must have; 0 = any.
  /// - Returns: The item's new revision.
  public mutating func setAttributes(
    of name: String, set: [Attribute], delete: [String], ifRevision: UInt64 = 0
  ) throws(ClientError) -> UInt64 {
    let pairs = try listed { pairs throws(ProtocolError) in try pairs.put(pairs: set) }
    let keys = try listed { keys throws(ProtocolError) in
      for key in delete { try keys.put16(text: key) }
    }
    let reply: RevisionReply = try ask(
      .attributes(
        AttributesRequest(
          name: name.utf8.span, ifRevision: ifRevision,
          set: AttributeFields(pairs.bytes, count: set.count),
          delete: KeyFields(keys.bytes, count: delete.count))))
    return reply.revision
  }

  /// Sets an attribute whose value is as secret as the item's.
  ///
  /// - Parameters:
  ///   - key: The attribute's key.
  ///   - name: The item's name.
  ///   - value: UTF-8 without NUL; only borrowed.
  ///   - ifRevision: The revision the item must have; 0 = any.
  /// - Returns: The path of the copy of a vault that was taken over for it; nil where it had the format already.
  public mutating func setSecret(
    _ key: String, of name: String, to value: Span<UInt8>, ifRevision: UInt64 = 0
  ) throws(ClientError) -> String? {
    try send(
      .setSecret(
        SetSecretRequest(
          name: name.utf8.span, ifRevision: ifRevision, key: key.utf8.span, value: value)))
    let reply: SetSecretReply = try replied(received(try answer()))
    return reply.copy.bytes.isEmpty ? nil : String(repairing: reply.copy.bytes)
  }

  /// The keys of an item's secret attributes, and how many bytes their values have.
  public mutating func secrets(
    of name: String
  ) throws(ClientError) -> [(key: String, size: UInt64)] {
    try send(.secrets(NameRequest(name: name.utf8.span)))
    let reply: SecretsReply = try replied(received(try answer()))
    var secrets: [(key: String, size: UInt64)] = []
    reply.forEach { key, size in secrets.append((String(repairing: key), UInt64(size))) }
    return secrets
  }

  /// Reads all secret attributes of an item.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - revision: Which; 0 = the current one.
  ///   - each: Gets each key and value, ascending by key; the bytes are gone when it returns.
  public mutating func secretAttributes(
    of name: String, revision: UInt64 = 0,
    each: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    try send(.getSecrets(GetSecretsRequest(name: name.utf8.span, revision: revision)))
    let reply: GetSecretsReply = try replied(received(try answer()))
    try reply.attributes.forEach(each)
  }

  /// Takes the vault over where it is of format 1, for a batch with secret attributes.
  ///
  /// - Returns: The path of the copy of before; nil where it had the format already.
  public mutating func takeOver() throws(ClientError) -> String? {
    try send(.takeOver)
    let reply: TakeOverReply = try replied(received(try answer()))
    return reply.copy.bytes.isEmpty ? nil : String(repairing: reply.copy.bytes)
  }

  /// Deletes an item; its revisions stay in the history.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - ifRevision: The revision the item must have; 0 = any.
  ///   - files: Items that go with it, 1,024 at most: all are deleted in one transaction, or none.
  public mutating func remove(
    _ name: String, ifRevision: UInt64 = 0, files: [String] = []
  ) throws(ClientError) {
    let names = try written(files)
    try send(
      .remove(
        RemoveRequest(
          name: name.utf8.span, ifRevision: ifRevision,
          files: KeyFields(names.bytes, count: files.count))))
    try done()
  }

  /// Has an item's values, earlier ones too, ask for the passcode at each read.
  ///
  /// - Returns: The item's revision, which stays.
  public mutating func protect(_ name: String) throws(ClientError) -> UInt64 {
    let reply: RevisionReply = try ask(.protect(NameRequest(name: name.utf8.span)))
    return reply.revision
  }

  /// Ends that.
  ///
  /// - Parameters:
  ///   - name: The item's name.
  ///   - word: The owner's word, which it takes.
  /// - Returns: The item's revision, which stays.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.ownerNeeded`, among others.
  public mutating func unprotect(
    _ name: String, by word: borrowing Word? = nil
  ) throws(ClientError) -> UInt64 {
    let reply: RevisionReply = try ask(
      .unprotect(OwnedNameRequest(name: name.utf8.span, word: OwnerWord(word))),
      patience: patience(by: word))
    return reply.revision
  }

  /// Reads an answer that says no more than yes.
  mutating func done(patience: Int32? = nil) throws(ClientError) {
    let _: DoneReply = try reply(patience: patience)
  }
}

/// Writes what a request has a list of.
func listed(
  _ write: (inout SecretBuffer) throws(ProtocolError) -> Void
) throws(ClientError) -> SecretBuffer {
  var buffer = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 0) }
  do throws(ProtocolError) { try write(&buffer) } catch { throw ClientError(writing: error) }
  return buffer
}

extension SecretBuffer {
  mutating func put(pairs: [Attribute]) throws(ProtocolError) {
    for pair in pairs { try putPair(key: pair.key.utf8.span, value: pair.value.span) }
  }
}
