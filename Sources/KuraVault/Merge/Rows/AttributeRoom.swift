// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Counts what room an item has for attributes: copies that added some apart may come to more than that.
private struct AttributeRoom {
  private var count = AttributeList.mostAttributes
  private var plain: Int
  private var secret = Attributes.longest - Attributes.emptyByteCount

  init(beside name: Span<UInt8>) { plain = ItemMeta.attributeRoom(beside: name) }

  /// Takes one in.
  ///
  /// - Returns: False where there is no room for it.
  mutating func take(_ key: Span<UInt8>, _ size: Int, isSecret: Bool) -> Bool {
    let byteCount = Attributes.byteCount(key: key.count, value: size)
    guard count > 0, (isSecret ? secret : plain) >= byteCount else { return false }
    if isSecret { secret -= byteCount } else { plain -= byteCount }
    count -= 1
    return true
  }
}

extension ItemStanding {
  /// The attributes that find no room beside the others: all copies that have the same sides leave out the same.
  ///
  /// - Parameters:
  ///   - keys: Those of all attributes, ascending.
  ///   - name: The name under which the item stands.
  ///   - holder: The row that has the content which is shown.
  func leftOut(
    of keys: [AttributeKey], beside name: Span<UInt8>, _ holder: (FieldKey) -> OpenedRow?
  ) throws(VaultError) -> Set<FieldKey> {
    var room = AttributeRoom(beside: name)
    var left: Set<FieldKey> = []
    for key in keys {
      guard let row = holder(key.field) else { continue }
      let isIn = try key.lend { name throws(VaultError) in
        if let size = try row.withAttribute(name, { value throws(VaultError) in value.count }) {
          return room.take(name, size, isSecret: false)
        }
        guard let size = try row.withSecret(name, { _, size throws(VaultError) in size }),
          state == .live
        else { return true }
        return room.take(name, size, isSecret: true)
      }
      if !isIn { left.insert(key.field) }
    }
    return left
  }

  /// The deleted attributes that are forgotten, as the oldest are of which there are too many.
  ///
  /// - Parameters: As for ``leftOut(of:beside:_:)``.
  func forgotten(
    of keys: [AttributeKey], _ holder: (FieldKey) -> OpenedRow?
  ) throws(VaultError) -> Set<FieldKey> {
    var deleted: [(stamp: RevisionStamp, field: FieldKey)] = []
    for key in keys {
      guard let row = holder(key.field), let stamp = fields[key.field]?.shown.stamp
      else { continue }
      let isThere = try key.lend { name throws(VaultError) in try row.has(name) }
      if !isThere { deleted.append((stamp, key.field)) }
    }
    let count = deleted.count - MetaTrail.mostDeleted
    guard count > 0 else { return [] }
    let oldest = deleted.indices.sorted { (deleted[$0].stamp, $0) < (deleted[$1].stamp, $1) }
    return Set(oldest.prefix(count).map { deleted[$0].field })
  }
}

extension ItemMerge {
  /// Whether its sides have more attributes than one item can.
  borrowing func isTooFull() throws(VaultError) -> Bool {
    guard !hasOneSide, standing.state == .live else { return false }
    let keys = try table.attributeKeys(of: sideRows)
    let left = try withName { name throws(VaultError) in
      try standing.leftOut(of: keys, beside: name) { field in
        standing.fields[field].flatMap { table.holder(of: field, $0.shown.stamp) }
      }
    }
    return !left.isEmpty
  }

  /// The row that has an attribute which the item's row leaves out for want of room; nil for one that is shown, or deleted.
  borrowing func holderOfLeftOut(
    _ key: AttributeKey, by shown: OpenedRow
  ) throws(VaultError) -> OpenedRow? {
    guard !shown.isRevision, standing.state == .live,
      let stamp = standing.fields[key.field]?.shown.stamp,
      let row = table.holder(of: key.field, stamp)
    else { return nil }
    return try key.lend { name throws(VaultError) in
      guard try row.has(name) else { return nil }
      return try shown.has(name) ? nil : row
    }
  }
}

extension OpenedRow {
  /// Whether it has an attribute, public or secret.
  fileprivate func has(_ key: Span<UInt8>) throws(VaultError) -> Bool {
    if try withAttribute(key, { _ throws(VaultError) in true }) == true { return true }
    return try withSecret(key) { _, _ throws(VaultError) in true } == true
  }
}
