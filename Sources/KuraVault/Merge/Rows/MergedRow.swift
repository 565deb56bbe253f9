// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Makes the row of an item that shows what several sides come to, or that stands under another name than its own.
struct MergedRow {
  let item: ItemID
  let standing: ItemStanding
  /// All that it knows of.
  let lineage: Lineage
  /// The numbers of the rows that are its sides, ascending.
  let sides: [UInt64]

  /// - Parameters:
  ///   - history: With one side at least that was not purged.
  ///   - numbers: The numbers that its rows have here.
  init(
    _ item: ItemID, _ history: ItemHistory, _ numbers: [RevisionID: UInt64]
  ) throws(VaultError) {
    self.item = item
    standing = history.standing
    let sides = history.sides
    var known = history.purged
    for side in sides { known.formUnion(side.lineage.vector) }
    guard let deepest = sides.last?.stamp, deepest.depth < RevisionStamp.depths.upperBound else {
      throw .damaged(.item)
    }
    guard !known.isTooLong else { throw .tooManySides }
    // It is nobody's revision, and nobody else ever sees its id.
    lineage = Lineage(
      stamp: RevisionStamp(
        id: try RevisionID.fresh(), depth: deepest.depth + 1, entry: deepest.entry),
      following: known)
    self.sides = sides.compactMap { numbers[$0.stamp.id] }.sorted()
  }

  /// The stamps of a part: that of the shown content first.
  func field(_ key: FieldKey) -> MetaTrail.Field {
    guard let field = standing.fields[key] else { return [] }
    return [field.shown.stamp] + field.contents.map(\.stamp).filter { $0 != field.shown.stamp }
  }
}

/// Holds a row that is to be sealed: opened, with its number.
struct UnsealedRow: ~Copyable {
  let facts: RowFacts
  let meta: ItemMeta
  let value: SecretBytes
  let secrets: SecretBytes?
}

/// Holds the rows of an item as they are to stand here, and knows in which each content stands.
struct MergedRows {
  private var holders: [ContentTable.Place: OpenedRow] = [:]
  /// Those that nothing follows.
  let sides: [OpenedRow]

  init(
    _ rows: [OpenedRow], sides: Set<RevisionID>, _ table: borrowing ContentTable
  ) throws(VaultError) {
    self.sides = rows.filter { sides.contains($0.stamp.id) }
    var holders: [ContentTable.Place: OpenedRow] = [:]
    for row in rows { try table.eachPlace(in: row) { holders[$0] = row } }
    self.holders = holders
  }

  /// The row that has the content of a field which is shown; nil for none.
  func holder(of field: FieldKey, in standing: ItemStanding) -> OpenedRow? {
    standing.fields[field].flatMap {
      holders[ContentTable.Place(field: field, stamp: $0.shown.stamp)]
    }
  }
}

// MARK: - What is shown

extension MergedRow {
  /// The row.
  ///
  /// - Parameters:
  ///   - facts: Where it is to stand; its kind is found here.
  ///   - name: The name under which it stands.
  ///   - rows: All rows of the item as they are to stand here, all of the same class.
  func made(
    _ facts: RowFacts, name: Span<UInt8>, _ rows: MergedRows, _ table: borrowing ContentTable
  ) throws(VaultError) -> UnsealedRow {
    var facts = facts
    let isLive = standing.state == .live
    let shown = rows.holder(of: .value, in: standing)
    guard shown != nil || !isLive else { throw .damaged(.item) }
    facts.kind = isLive ? shown?.facts.kind ?? .value : .deleted
    var keyed = try fromFormat(.item, MetaTrail.Keyed())
    let parts = try parts(rows, table, beside: name, &keyed, isLive: isLive)
    let meta = try meta(
      name, size: isLive ? shown?.meta.size ?? 0 : 0, rows.sides, parts.attributes, keyed)
    let value: SecretBytes
    if isLive, let shown {
      value = try shown.body.value.copied()
    } else {
      value = try MergedRow.emptyBody(of: rows.sides)
    }
    return UnsealedRow(facts: facts, meta: meta, value: value, secrets: parts.secrets)
  }

  private func meta(
    _ name: Span<UInt8>, size: UInt64, _ sides: [OpenedRow], _ attributes: borrowing Attributes,
    _ keyed: consuming MetaTrail.Keyed
  ) throws(VaultError) -> ItemMeta {
    let times = times(of: sides)
    do throws(FormatError) {
      let trail = try keyed.trail(
        lineage, value: field(.value), name: field(.name), sides: self.sides)
      return try ItemMeta(
        name: name, created: times.created, modified: times.modified, size: size,
        attributes: attributes.list, trail: trail)
    } catch { throw VaultError(error, about: .item) }
  }

  /// The body of a deleted row, as its class has it.
  private static func emptyBody(of rows: [OpenedRow]) throws(VaultError) -> SecretBytes {
    guard let row = rows.first(where: { !$0.hasBody }) else { throw .damaged(.item) }
    return try row.body.value.copied()
  }

  private func times(of rows: [OpenedRow]) -> (created: UInt64, modified: UInt64) {
    (rows.map { $0.meta.created }.min() ?? 0, rows.map { $0.meta.modified }.max() ?? 0)
  }

  private struct Parts: ~Copyable {
    var attributes: Attributes
    var secrets: SecretBytes?
  }

  /// The attributes, each as the row has it in which the shown content stands, as far as there is room.
  private func parts(
    _ rows: MergedRows, _ table: borrowing ContentTable, beside name: Span<UInt8>,
    _ keyed: inout MetaTrail.Keyed, isLive: Bool
  ) throws(VaultError) -> Parts {
    var parts = Parts(attributes: try fromFormat(.item, Attributes.empty()), secrets: nil)
    var list = SecretJoin(try fromMemory(SecretBuffer(capacity: 64)))
    let keys = try table.attributeKeys(of: rows.sides)
    let left = try standing.leftOut(of: keys, beside: name) { rows.holder(of: $0, in: standing) }
      .union(standing.forgotten(of: keys) { rows.holder(of: $0, in: standing) })
    for key in keys where !left.contains(key.field) {
      guard let holder = rows.holder(of: key.field, in: standing) else { continue }
      try add(key, self.field(key.field), holder, &parts, &keyed, &list, isLive: isLive)
    }
    parts.secrets = try list.finish()
    return parts
  }

  private func add(
    _ key: AttributeKey, _ stamps: MetaTrail.Field, _ holder: OpenedRow, _ parts: inout Parts,
    _ keyed: inout MetaTrail.Keyed, _ list: inout SecretJoin, isLive: Bool
  ) throws(VaultError) {
    try key.lend { name throws(VaultError) in
      let attributes = try holder.withAttribute(name) { value throws(VaultError) in
        try fromFormat(.item, parts.attributes.setting(name, to: value))
      }
      switch consume attributes {
      case .some(let attributes):
        parts.attributes = attributes
        try fromFormat(.item, keyed.append(name, to: .attribute, stamps))
      case .none:
        guard try holder.withSecret(name, { _, _ throws(VaultError) in true }) != nil else {
          return try fromFormat(.item, keyed.append(name, to: .deleted, stamps))
        }
        // A deleted row has none.
        guard isLive else { return }
        let size = try list.append(name, from: holder)
        try fromFormat(.item, keyed.append(name, size: size, to: .secret, stamps))
      }
    }
  }
}

/// Writes down secret attributes out of several rows, ascending by key, as a body has them.
private struct SecretJoin: ~Copyable {
  private var buffer: SecretBuffer
  private var count: UInt16 = 0

  init(_ buffer: consuming SecretBuffer) { self.buffer = buffer }

  /// Adds one.
  ///
  /// - Returns: How long its value is.
  mutating func append(_ key: Span<UInt8>, from row: OpenedRow) throws(VaultError) -> Int {
    count += 1
    let isSealed = row.facts.protection == .protected
    let size = try row.withSecret(key) { bytes, size throws(VaultError) in
      do {
        if !isSealed {
          try buffer.append(integer: UInt16(key.count))
          try buffer.append(key)
          try buffer.append(integer: UInt32(bytes.count))
        }
        try buffer.append(bytes)
      } catch { throw .outOfMemory }
      return size
    }
    guard let size else { throw .damaged(.item) }
    return size
  }

  /// All of them; nil for none.
  consuming func finish() throws(VaultError) -> SecretBytes? {
    guard count > 0 else { return nil }
    do {
      var list = try SecretBuffer(capacity: 2 + buffer.count)
      try list.append(integer: count)
      try list.append(buffer.bytes)
      return list.finish()
    } catch { throw .outOfMemory }
  }
}

extension Span<UInt8> {
  /// Whether it stands in front of other bytes.
  func isBefore(_ other: Span<UInt8>) -> Bool {
    for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
      return self[index] < other[index]
    }
    return count < other.count
  }
}
