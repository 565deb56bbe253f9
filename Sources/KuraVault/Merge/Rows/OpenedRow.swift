// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds one row of an item, opened: what a merge takes from one copy to the other.
final class OpenedRow {
  let facts: RowFacts
  let meta: ItemMeta
  let trail: MetaTrail
  /// As its class has it: what is protected stays sealed to the protected pair.
  let body: PartedBody

  private init(
    _ facts: RowFacts, _ meta: consuming ItemMeta, _ trail: consuming MetaTrail,
    _ body: consuming PartedBody
  ) {
    self.facts = facts
    self.meta = meta
    self.trail = trail
    self.body = body
  }

  /// Opens a row that came to its leaf.
  static func load(
    _ found: VerifiedRow, _ keys: borrowing Keyring
  ) throws(VaultError) -> OpenedRow {
    let meta = try keys.openMeta(found.row.meta, found.facts)
    let facts = found.facts
    let trail = try fromFormat(.item, meta.view.trail(orOldOf: facts))
    let body = try PartedBody.part(
      try keys.openBody(found.row.body, facts), facts.protection, of: keys.format)
    return OpenedRow(facts, meta, trail, body)
  }

  /// A row whose parts were opened elsewhere, and held against each other.
  static func make(
    _ facts: RowFacts, _ meta: borrowing ItemMeta, _ body: Span<UInt8>
  ) throws(VaultError) -> OpenedRow {
    let trail = try fromFormat(.item, meta.view.trail(orOldOf: facts))
    let body = try PartedBody.part(
      try fromMemory(SecretBytes(copying: body)), facts.protection, of: .second)
    return OpenedRow(facts, try copy(meta), trail, body)
  }

  /// Whether it is a revision, and not what several of them come to here.
  var isRevision: Bool { trail.sides.isEmpty }

  var stamp: RevisionStamp { trail.lineage.stamp }

  /// Whether its body has what its fields say: a deleted row's value stands in another one.
  var hasBody: Bool { facts.kind != .deleted }

  /// The chunks of its value; nil where it has none.
  func valueID() throws(VaultError) -> ValueID? {
    try ItemBody.chunkedValue(in: body.value, facts.protection, of: .second)
  }

  /// How the chunks of its value are told from damaged ones; nil where it has none.
  func pieces() throws(VaultError) -> PieceCheck? {
    guard let value = try valueID() else { return nil }
    let place = try withName { name throws(VaultError) in
      try fromMemory(SecretBytes(copying: name))
    }
    guard facts.protection == .standard,
      case .chunked(let manifest) = try ItemBody.read(try body.value.copied())
    else { return PieceCheck(value, length: meta.size, of: place) }
    return PieceCheck(manifest, of: place)
  }

  /// The lowest number that it can have: an inner seal of format 1 has one in it.
  func lowestNumber() throws(VaultError) -> UInt64 {
    guard facts.protection == .protected else { return 1 }
    let body = try ProtectedBody.read(try self.body.value.copied(), of: .second)
    if case .number(let number) = body.origin { return number }
    return 1
  }
}

// MARK: - Its parts

extension OpenedRow {
  /// Looks at the name.
  func withName<Result: ~Copyable>(
    _ look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try OpenedRow.lendName(of: meta, to: look)
  }

  private static func lendName<Result: ~Copyable>(
    of meta: borrowing ItemMeta, to look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try look(meta.name)
  }

  /// Looks at the body but for its secret attributes.
  func withBody<Result: ~Copyable>(
    _ look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try OpenedRow.lendBody(body, to: look)
  }

  private static func lendBody<Result: ~Copyable>(
    _ body: borrowing PartedBody, to look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try look(body.value.bytes)
  }

  /// Looks at a public attribute.
  ///
  /// - Returns: Nil where the row has no such attribute.
  func withAttribute<Result: ~Copyable>(
    _ key: Span<UInt8>, _ look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    try OpenedRow.lendAttribute(key, of: meta, to: look)
  }

  private static func lendAttribute<Result: ~Copyable>(
    _ key: Span<UInt8>, of meta: borrowing ItemMeta,
    to look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    guard let value = meta.attributes.value(of: key) else { return nil }
    return try look(value)
  }

  /// Goes over all attributes that the item has or had, ascending by key, with the stamps of their contents.
  func eachKey<Failure: Error>(
    _ look: (Span<UInt8>, MetaTrail.KeyList, MetaTrail.Field) throws(Failure) -> Void
  ) throws(Failure) {
    try OpenedRow.lendKeys(of: meta, trail, to: look)
  }

  /// Goes over all revisions that it speaks of.
  func eachStamp(_ look: (RevisionStamp) -> Void) {
    if isRevision { look(stamp) }
    for stamp in trail.value { look(stamp) }
    for stamp in trail.name { look(stamp) }
    eachKey { _, _, field in field.forEach(look) }
  }

  private static func lendKeys<Failure: Error>(
    of meta: borrowing ItemMeta, _ trail: borrowing MetaTrail,
    to look: (Span<UInt8>, MetaTrail.KeyList, MetaTrail.Field) throws(Failure) -> Void
  ) throws(Failure) {
    try trail.eachKey(in: meta.view) { key, list, _, field throws(Failure) in
      try look(key, list, field)
    }
  }

  /// Looks at a secret attribute as the body has it.
  ///
  /// - Parameter look: Is given the value, or in a protected row all that it is sealed in, and the value's length.
  /// - Returns: Nil where the row has no such attribute.
  func withSecret<Result: ~Copyable>(
    _ key: Span<UInt8>, _ look: (Span<UInt8>, _ size: Int) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    switch body.secrets {
    case .none: nil
    case .some(let secrets): try OpenedRow.lendSecret(key, of: secrets, to: look)
    }
  }

  private static func lendSecret<Result: ~Copyable>(
    _ key: Span<UInt8>, of secrets: borrowing SecretContent,
    to look: (Span<UInt8>, _ size: Int) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    switch secrets.protection {
    case .standard:
      let list = try list(secrets.encoded.bytes)
      guard let value = list.value(of: key) else { return nil }
      return try look(value, value.count)
    case .protected:
      var cursor = try sealedList(secrets.encoded.bytes).makeCursor()
      while cursor.advance() {
        if cursor.key.isEqual(to: key) { return try look(cursor.entry, cursor.size) }
      }
      return nil
    }
  }

  @_lifetime(copy bytes)
  private static func list(_ bytes: Span<UInt8>) throws(VaultError) -> AttributeList {
    do { return try AttributeList(decoding: bytes) } catch { throw VaultError(error, about: .item) }
  }

  @_lifetime(copy bytes)
  private static func sealedList(_ bytes: Span<UInt8>) throws(VaultError) -> SealedAttributes {
    do { return try SealedAttributes(decoding: bytes) } catch {
      throw VaultError(error, about: .item)
    }
  }
}

// MARK: - The same row elsewhere

extension OpenedRow {
  /// The same revision with other entries.
  func reentered(
    as lineage: Lineage, _ stamp: (RevisionStamp) -> RevisionStamp
  ) throws(VaultError) -> OpenedRow {
    let trail = try fromFormat(.item, self.trail.reentered(as: lineage, stamp))
    return OpenedRow(facts, try copiedMeta(), trail, try body.copied())
  }

  /// The row as it is to stand under a number.
  func sealed(
    _ number: UInt64, by keys: borrowing Keyring
  ) throws(VaultError) -> ResealedRow {
    let facts = RowFacts(
      tag: try keys.tag(of: meta), id: facts.id, revision: number, generation: keys.ring.active,
      protection: facts.protection, kind: facts.kind)
    let secrets: SecretBytes?
    switch body.secrets {
    case .some(let list): secrets = try list.encoded.copied()
    case .none: secrets = nil
    }
    let sealed = try OpenedRow.seal(body, beside: secrets, facts, keys)
    return ResealedRow(
      facts: facts, meta: try keys.seal(try meta.following(trail), facts), body: sealed)
  }

  private static func seal(
    _ body: borrowing PartedBody, beside secrets: borrowing SecretBytes?, _ facts: RowFacts,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> [UInt8] {
    try keys.seal(body.value.bytes, beside: secrets, facts)
  }

  /// The same in class protected, sealed to the pair of a vault.
  func protected(for keys: borrowing Keyring) throws(VaultError) -> OpenedRow {
    guard facts.protection == .standard else { return self }
    var facts = facts
    facts.protection = .protected
    let origin = ProtectedBody.Origin.revision((trail.value.first ?? trail.lineage.stamp).id)
    let item = facts.id
    let sealed = try withBody { body throws(VaultError) in
      try fromFormat(
        .item,
        ProtectedBody.seal(
          body, to: keys.ring.protectedHalf, vault: keys.vault, item: item, for: origin))
    }
    let place = SecretPlace(
      protection: .protected, publicHalf: keys.ring.protectedHalf, vault: keys.vault,
      item: facts.id)
    let secrets: SecretContent?
    if trail.secrets.isEmpty {
      secrets = nil
    } else {
      let list = try SecretList(body.secrets, SecretEdits())
      secrets = SecretContent(
        encoded: try list.encoded(for: place, trail.secrets), protection: .protected)
    }
    return OpenedRow(
      facts, try copiedMeta(), try copiedTrail(),
      PartedBody(
        value: try fromMemory(SecretBytes(copying: sealed.encoded)), secrets: secrets))
  }

  /// The same row of a copy under another vault key, as the pair of this vault opens it.
  ///
  /// - Parameters:
  ///   - old: The copy's keys.
  ///   - pair: What opens its protected values.
  func resealed(
    from old: borrowing Keyring, _ pair: borrowing ProtectedKey, for keys: borrowing Keyring
  ) throws(VaultError) -> OpenedRow {
    guard facts.protection == .protected else { return self }
    return OpenedRow(
      facts, try copiedMeta(), try copiedTrail(),
      try OpenedRow.reseal(body, facts, from: old, pair, for: keys))
  }

  private static func reseal(
    _ body: borrowing PartedBody, _ facts: RowFacts, from old: borrowing Keyring,
    _ pair: borrowing ProtectedKey, for keys: borrowing Keyring
  ) throws(VaultError) -> PartedBody {
    let half = old.ring.protectedHalf
    let outer = try ProtectedBody.read(try body.value.copied(), of: .second)
    let inner = try pair.open(outer, of: facts.id, in: old.vault, half: half)
    let moved = try keys.protected(inner.bytes, facts, for: outer.origin)
    let value = try fromMemory(SecretBytes(copying: moved.encoded))
    switch try pair.resealed(body.secrets, of: facts.id, from: old, for: keys) {
    case .none: return PartedBody(value: value, secrets: nil)
    case .some(let secrets):
      return PartedBody(
        value: value, secrets: SecretContent(encoded: secrets, protection: .protected))
    }
  }

  private func copiedMeta() throws(VaultError) -> ItemMeta {
    try OpenedRow.copy(meta)
  }

  private static func copy(_ meta: borrowing ItemMeta) throws(VaultError) -> ItemMeta {
    try fromFormat(.item, ItemMeta(copying: meta.view))
  }

  private func copiedTrail() throws(VaultError) -> MetaTrail {
    try fromFormat(.item, trail.reentered(as: trail.lineage) { $0 })
  }
}

extension PartedBody {
  fileprivate borrowing func copied() throws(VaultError) -> PartedBody {
    switch secrets {
    case .some(let secrets):
      PartedBody(
        value: try value.copied(),
        secrets: SecretContent(
          encoded: try secrets.encoded.copied(), protection: secrets.protection))
    case .none: PartedBody(value: try value.copied(), secrets: nil)
    }
  }
}

// MARK: - All of an item

/// Holds all rows that a copy has of an item.
struct ItemCopy {
  /// Ascending by number, the last is the current one; none where all was purged.
  var rows: [OpenedRow] = []
  /// What is known of it that was purged.
  var trace: PurgeTrace?

  /// The row of the item itself.
  var current: OpenedRow? { rows.last }

  /// How many rows of items there are of it, and how many of them count as deleted.
  var counts: (items: UInt64, deleted: UInt64) {
    let isDeleted = current.map { $0.facts.kind == .deleted } ?? false
    let traces: UInt64 = trace == nil ? 0 : 1
    return ((current == nil ? 0 : 1) + traces, (isDeleted ? 1 : 0) + traces)
  }
}

extension VaultRows {
  /// Reads all rows of an item.
  ///
  /// - Parameter leaf: What the tree has of it.
  mutating func itemCopy(
    _ tag: ItemTag, leaf: Digest, _ keys: borrowing Keyring
  ) throws(VaultError) -> ItemCopy {
    let found = try withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      (
        try OpenedRow.load(found, keys),
        try HistoryList.checked(found.row.history, below: found.facts.revision)
      )
    }
    guard let (current, history) = found else { throw .damaged(.item) }
    var rows: [OpenedRow] = []
    for entry in history.entries {
      rows.append(
        try withKept(entry, of: current.facts, keys) { found, keys throws(VaultError) in
          try OpenedRow.load(found, keys)
        })
    }
    return ItemCopy(rows: rows + [current], trace: nil)
  }
}
