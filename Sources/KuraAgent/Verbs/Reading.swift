// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs that read items.
extension Agent {
  func get(
    _ request: GetRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let masks = try masks(above: connection)
    let (name, revision) = (request.name.bytes, request.revision)
    let value = try opening(connection, on: session) { grant throws(Refusal) in
      try work(on: session, item: request.name.place) { vault throws(VaultError) in
        try vault.value(name, revision: revision == 0 ? nil : revision, with: grant)
      }
    }
    if value.item.isProtected {
      remember(name, revision: value.item.revision, on: session, for: connection)
    }
    try tell(masks, connection, of: value, on: session)
    let withAttributes = request.flags.contains(.attributes)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putGetReply(value, withAttributes: withAttributes)
    }
    noteUse(of: session)
    guard value.isStream else { return }
    connection.widen()
    begin(ValueDownload(value, from: session), on: connection)
  }

  func getAttribute(
    _ request: GetAttributeRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let masks = try masks(above: connection)
    let item = try item(request.name, connection)
    let key = try attributeKey(request.key.bytes)
    if let value = item.attributes.value(of: key.bytes) {
      try tell(
        masks, connection, of: .attribute, name: item.name, key: key.bytes, value, on: session)
      return try wire { () throws(ProtocolError) in
        try connection.outbox.frames.putReply(AttributeReply(value))
      }
    }
    guard item.hasSecret(key.bytes) else {
      throw .attributeNotFound(.field(request.key.place))
    }
    try getSecret(request, key: key, connection)
  }

  /// The key in normal form C, as keys are kept.
  func attributeKey(_ text: Span<UInt8>) throws(Refusal) -> SecretBytes {
    do throws(FormatError) { return try Attributes.normalize(key: text) } catch {
      guard case .attributesInvalid(let rule) = error else { throw .outOfMemory }
      throw .attributeInvalid(rule)
    }
  }

  func show(
    _ request: NameRequest, _ connection: Connection
  ) throws(Refusal) {
    let item = try item(request.name, connection)
    let revisions = try work(on: try unlocked(connection), item: request.name.place) {
      vault throws(VaultError) in try vault.revisions(request.name.bytes)
    }
    try wire { () throws(ProtocolError) in
      let frame = try connection.outbox.frames.openReply()
      try connection.outbox.frames.putEntry(item, withAttributes: true)
      try connection.outbox.frames.closeShowReply(frame, revisions: revisions.span)
    }
  }

  func list(
    _ request: ListRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let listing = try work(on: session) { vault throws(VaultError) in
      do throws(SecureMemoryError) {
        return vault.listing(try ItemFilter(request), request.flags)
      } catch { throw .outOfMemory }
    }
    begin(ItemList(listing, of: session), on: connection)
  }

  func verify(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let check = try work(on: session) { vault throws(VaultError) in try vault.beginVerify() }
    begin(VaultCheck(check, of: session), on: connection)
  }

  func item(
    _ name: Field, _ connection: Connection
  ) throws(Refusal) -> Item {
    let session = try unlocked(connection)
    return try work(on: session, item: name.place) { vault throws(VaultError) in
      try vault.item(name.bytes)
    }
  }

  private func begin(_ stream: any Stream, on connection: Connection) {
    connection.phase = .sending(stream)
  }
}

extension UnlockedVault {
  /// A value, by what a client may use.
  fileprivate mutating func value(
    _ name: Span<UInt8>, revision: UInt64?, with grant: Grant?
  ) throws(VaultError) -> Value {
    guard let grant else { return try value(name, revision: revision) }
    return try value(name, revision: revision, with: grant.key)
  }
}

extension ItemFacts {
  /// What is known of an item of the vault.
  init(_ item: borrowing Item) { self.init(item.view) }

  /// What is known of an item of the vault.
  init(_ item: ItemView) {
    self.init(
      revision: item.revision, size: item.size, created: item.created, modified: item.modified,
      protection: item.isProtected ? .protected : .standard,
      kind: item.isDeleted ? .deleted : item.isOTP ? .otp : .value)
  }
}

extension SecretBuffer {
  /// Writes an item of the vault as an entry.
  mutating func putEntry(
    _ item: borrowing Item, withAttributes: Bool
  ) throws(ProtocolError) {
    try putEntry(item.view, withAttributes: withAttributes)
  }

  /// Answers `get`: the item, then its value, or that this follows in data frames.
  mutating func putGetReply(
    _ value: borrowing Value, withAttributes: Bool
  ) throws(ProtocolError) {
    let frame = try openReply()
    try putEntry(value.item, withAttributes: withAttributes)
    try closeGetReply(frame, value: value.isStream ? nil : value.bytes)
  }

  /// Writes an item of the vault as an entry.
  mutating func putEntry(_ item: ItemView, withAttributes: Bool) throws(ProtocolError) {
    let place = try openEntry(name: item.name, facts: ItemFacts(item))
    guard withAttributes else { return try closeCount(place, 0) }
    var cursor = item.attributes.makeCursor()
    while cursor.advance() { try putPair(key: cursor.key, value: cursor.value) }
    try closeCount(place, item.attributes.count)
  }
}
