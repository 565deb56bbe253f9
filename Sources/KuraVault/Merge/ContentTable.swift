// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Gives each content of an item, in both copies, what it is compared by; a content is known by the revision that
/// set it, wherever it stands.
struct ContentTable: ~Copyable {
  struct Place: Hashable {
    let field: FieldKey
    let stamp: RevisionStamp
  }

  /// Of this merge alone: digests mean nothing beyond it.
  private let key: Key
  private var contents: [Place: FieldContent] = [:]
  private var holders: [Place: OpenedRow] = [:]

  init() throws(VaultError) { key = try Key.fresh() }

  /// The field of an attribute.
  func field(of attribute: Span<UInt8>) throws(VaultError) -> FieldKey {
    .attribute(try digest(0, attribute))
  }

  /// The row in which a content stands; nil where no row has it.
  func holder(of field: FieldKey, _ stamp: RevisionStamp) -> OpenedRow? {
    holders[Place(field: field, stamp: stamp)]
  }

  private func digest(
    _ kind: UInt8, _ bytes: Span<UInt8>
  ) throws(VaultError) -> ContentID {
    do {
      var hash = try KeyedHash(key: key, byteCount: ContentID.byteCount)
      hash.update(integer: kind)
      hash.update(bytes)
      return ContentID(hash.end().span)
    } catch { throw VaultError(error, about: .item) }
  }
}

// MARK: - What stands in rows

extension ContentTable {
  /// Goes over all contents that stand in a row.
  func eachPlace(in row: OpenedRow, _ look: (Place) -> Void) throws(VaultError) {
    if row.hasBody, let stamp = row.trail.value.first { look(Place(field: .value, stamp: stamp)) }
    if let stamp = row.trail.name.first { look(Place(field: .name, stamp: stamp)) }
    try row.eachKey { key, list, field throws(VaultError) in
      guard let stamp = field.first else { return }
      look(Place(field: try self.field(of: key), stamp: stamp))
    }
  }

  /// Learns of all that stands in a row.
  mutating func add(_ row: OpenedRow) throws(VaultError) {
    if row.hasBody, let stamp = row.trail.value.first {
      try set(.value, stamp, row) { table throws(VaultError) in try table.value(of: row) }
    }
    if let stamp = row.trail.name.first {
      try set(.name, stamp, row) { table throws(VaultError) in
        .whole(try row.withName { name throws(VaultError) in try table.digest(1, name) })
      }
    }
    try row.eachKey { key, list, field throws(VaultError) in
      guard let stamp = field.first else { return }
      let name = try self.field(of: key)
      switch list {
      case .deleted: try set(name, stamp, row) { _ throws(VaultError) in .nothing }
      case .attribute:
        let content = FieldContent.whole(try attribute(key, of: row))
        try set(name, stamp, row) { _ throws(VaultError) in content }
      case .secret:
        let content = FieldContent.whole(try secret(key, of: row))
        try set(name, stamp, row) { _ throws(VaultError) in content }
      }
    }
  }

  private mutating func set(
    _ field: FieldKey, _ stamp: RevisionStamp, _ row: OpenedRow,
    _ content: (borrowing ContentTable) throws(VaultError) -> FieldContent
  ) throws(VaultError) {
    let place = Place(field: field, stamp: stamp)
    guard holders[place] == nil else { return }
    contents[place] = try content(self)
    holders[place] = row
  }

  private func value(of row: OpenedRow) throws(VaultError) -> FieldContent {
    if row.facts.protection == .standard, row.facts.kind == .otp {
      if let code = try counterCode(row) { return code }
    }
    if let origin = try origin(of: row) { return .whole(try digest(8, origin.bytes.span)) }
    return .whole(
      try row.withBody { body throws(VaultError) in
        try digest(row.facts.kind == .otp ? 4 : 3, body)
      })
  }

  /// The revision that a protected value was sealed for: sealed anew for another key it is the same content still. Nil for a
  /// standard one, and for one that is known by a number only, which each copy counts for itself.
  private func origin(of row: OpenedRow) throws(VaultError) -> RevisionID? {
    guard row.facts.protection == .protected else { return nil }
    let origin = try row.withBody { body throws(VaultError) in
      try fromFormat(.item, ProtectedBody.origin(of: body))
    }
    guard case .revision(let id) = origin else { return nil }
    return id
  }

  /// A one-time code by a counter: of two with the same seed the higher counter is the later.
  private func counterCode(_ row: OpenedRow) throws(VaultError) -> FieldContent? {
    guard case .inline(let uri) = try ItemBody.read(try row.body.value.copied()),
      let seed = try? OTPSeed(uri: uri.bytes), case .counter(let counter) = seed.factor
    else { return nil }
    let first = try fromFormat(.item, seed.uri(uri.bytes, withCounter: 0))
    return .code(seed: try digest(5, first.bytes), counter: counter)
  }

  private func attribute(_ key: Span<UInt8>, of row: OpenedRow) throws(VaultError) -> ContentID {
    let found = try row.withAttribute(key) { value throws(VaultError) in try digest(2, value) }
    guard let found else { throw .damaged(.item) }
    return found
  }

  private func secret(_ key: Span<UInt8>, of row: OpenedRow) throws(VaultError) -> ContentID {
    let found = try row.withSecret(key) { bytes, _ throws(VaultError) in
      guard row.facts.protection == .protected else { return try digest(6, bytes) }
      return try digest(7, SealedAttributes.origin(ofEntry: bytes, of: key).bytes.span)
    }
    guard let found else { throw .damaged(.item) }
    return found
  }
}

// MARK: - Histories

extension ContentTable {
  /// What merging sees of a row, once all rows of the item are known.
  func revision(_ row: OpenedRow) throws(VaultError) -> HeldRevision {
    var fields: [FieldKey: [StampedContent]] = [:]
    fields[.value] = contents(of: .value, row.trail.value)
    fields[.name] = contents(of: .name, row.trail.name)
    try row.eachKey { key, _, field throws(VaultError) in
      let name = try self.field(of: key)
      fields[name] = contents(of: name, field)
    }
    return HeldRevision(
      lineage: row.trail.lineage, state: row.facts.kind == .deleted ? .deleted : .live,
      protection: row.facts.protection, fields: fields)
  }

  /// The contents of a field as far as a row has them; nil for none.
  private func contents(
    of field: FieldKey, _ stamps: MetaTrail.Field
  ) -> [StampedContent]? {
    let found = stamps.compactMap { stamp in
      contents[Place(field: field, stamp: stamp)].map {
        StampedContent(stamp: stamp, content: $0)
      }
    }
    return found.isEmpty ? nil : found
  }

  /// The history of an item in a copy.
  func history(
    of rows: [OpenedRow], _ trace: PurgeTrace?
  ) throws(VaultError) -> ItemHistory {
    var revisions = trace?.revisions ?? []
    for row in rows where row.isRevision { revisions.append(try revision(row)) }
    return ItemHistory(revisions, purged: trace?.covered ?? RevisionVector())
  }
}

// MARK: - Keys

extension ContentTable {
  /// The keys of all attributes that a row has or had, ascending, each once.
  func attributeKeys(of rows: [OpenedRow]) throws(VaultError) -> [AttributeKey] {
    var found: [FieldKey: AttributeKey] = [:]
    for row in rows {
      try row.eachKey { key, _, _ throws(VaultError) in
        let field = try self.field(of: key)
        if found[field] == nil {
          found[field] = AttributeKey(field, try fromMemory(SecretBytes(copying: key)))
        }
      }
    }
    return found.values.sorted { $0.isBefore($1) }
  }
}

/// Carries the key of an attribute in an array, which holds no noncopyable values itself.
final class AttributeKey {
  let field: FieldKey
  private let text: SecretBytes

  init(_ field: FieldKey, _ text: consuming SecretBytes) {
    self.field = field
    self.text = text
  }

  func isBefore(_ other: AttributeKey) -> Bool {
    AttributeKey.isAscending(text, other.text)
  }

  private static func isAscending(
    _ left: borrowing SecretBytes, _ right: borrowing SecretBytes
  ) -> Bool { left.bytes.isBefore(right.bytes) }

  /// Looks at the key.
  func lend<Result: ~Copyable>(
    _ look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result { try AttributeKey.lend(text, to: look) }

  private static func lend<Result: ~Copyable>(
    _ text: borrowing SecretBytes, to look: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result { try look(text.bytes) }
}
