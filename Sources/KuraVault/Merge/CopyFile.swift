// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Reads another copy of a vault that is a whole file, row by row as its own tree has them.
final class CopyFile {
  private var rows: VaultRows
  let keys: Keyring
  let root: RootRecord
  /// What opens its protected values, which are sealed to another pair than this vault's; nil where nothing has to.
  private let pair: ProtectedKey?
  /// Whether it stands under another vault key, so that no row of it is one of this vault's.
  let isUnderOtherKey: Bool

  init(
    _ rows: consuming VaultRows, _ keys: consuming Keyring, _ root: RootRecord,
    pair: consuming ProtectedKey?, isUnderOtherKey: Bool
  ) {
    self.rows = rows
    self.keys = keys
    self.root = root
    self.pair = pair
    self.isUnderOtherKey = isUnderOtherKey
  }

  /// Reads something of it, with errors that say that it is not the vault which is damaged.
  private func reading<Value>(
    _ body: (inout VaultRows) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    do throws(VaultError) { return try body(&rows) } catch { throw error.ofCopy }
  }

  /// What the tree has of a node or bucket.
  func digest(atLevel level: UInt8, above number: UInt32) throws(VaultError) -> Digest {
    try reading { rows throws(VaultError) in
      try rows.tree.digest(atLevel: level, above: number, under: root, in: &rows.storage, keys)
    }
  }

  /// The entries of a bucket.
  func leaves(ofBucket number: UInt32) throws(VaultError) -> [UInt8] {
    try reading { rows throws(VaultError) in
      try rows.tree.leaves(ofBucket: number, under: root, in: &rows.storage, keys)
    }
  }

  /// What it knows of an item that was purged.
  func trace(of item: ItemID) throws(VaultError) -> PurgeTrace? {
    guard keys.format > .first else { return nil }
    return try reading { rows throws(VaultError) in
      try rows.purgeTrace(of: item, under: root, keys)
    }
  }

  /// All rows of an item, as a vault's pair opens them.
  func item(
    _ tag: ItemTag, leaf: Digest, for keys: borrowing Keyring
  ) throws(VaultError) -> ItemCopy {
    var found = try reading { rows throws(VaultError) in
      try rows.itemCopy(tag, leaf: leaf, self.keys)
    }
    guard isUnderOtherKey else { return found }
    do throws(VaultError) {
      found.rows = try CopyFile.resealed(found.rows, from: self.keys, pair, for: keys)
    } catch { throw error.ofCopy }
    return found
  }

  private static func resealed(
    _ rows: [OpenedRow], from old: borrowing Keyring, _ pair: borrowing ProtectedKey?,
    for keys: borrowing Keyring
  ) throws(VaultError) -> [OpenedRow] {
    var moved: [OpenedRow] = []
    for row in rows {
      switch pair {
      case .some(let pair): moved.append(try row.resealed(from: old, pair, for: keys))
      case .none:
        guard row.facts.protection == .standard else { throw .noProtectedHalf }
        moved.append(row)
      }
    }
    return moved
  }

  /// Which item stands under a tag, and at which revision.
  func look(at tag: ItemTag, leaf: Digest) throws(VaultError) -> RowLook {
    try reading { rows throws(VaultError) in try rows.look(at: tag, leaf: leaf, keys) }
  }

  /// A piece of a long value as it is sealed, which was found to be whole as far as that can be told.
  func chunk(_ number: UInt64, of value: PieceCheck) throws(VaultError) -> [UInt8] {
    try reading { rows throws(VaultError) in
      guard let data = try rows.storage.chunk(number, of: value.value),
        try value.isSound(data, number)
      else { throw .damaged(.chunk) }
      return [UInt8](copying: data)
    }
  }
}
