// SPDX-License-Identifier: MIT

/// What `verify` found wrong.
public enum Finding: UInt8, Sendable, CaseIterable {
  /// A row of an item does not open or is not the one in the tree.
  case itemDamaged = 1
  /// An item in the tree has no row.
  case itemMissing = 2
  /// A row is not in the tree.
  case itemUnknown = 3
  /// A chunk of a value does not open.
  case chunkDamaged = 4
  /// A chunk of a value is missing.
  case chunkMissing = 5
  /// A chunk belongs to no value.
  case chunkUnknown = 6
  /// A kept revision does not open, is missing, or is not the one in the tree.
  case historyDamaged = 7
  /// A bucket of the tree does not match its digest.
  case bucketDamaged = 8
  /// An inner node of the tree does not match its digest.
  case nodeDamaged = 9
  /// The count of items in the root is not that of the rows.
  case countWrong = 10
  /// A key slot, the key ring or the header does not match the root.
  case headerDamaged = 11
  /// SQLite's own check of the file found something.
  case fileDamaged = 12
  /// An item stands under a tag that is not its name's.
  case nameMismatch = 13
  /// An item's name or attributes break the rules.
  case metaInvalid = 14

  /// What is wrong, to stand before `: WHERE`.
  public var text: String {
    switch self {
    case .itemDamaged: "item damaged"
    case .itemMissing: "item missing"
    case .itemUnknown: "row that belongs to no item"
    case .chunkDamaged: "part of a value damaged"
    case .chunkMissing: "part of a value missing"
    case .chunkUnknown: "part of no value"
    case .historyDamaged: "earlier revision damaged"
    case .bucketDamaged: "integrity tree damaged (bucket)"
    case .nodeDamaged: "integrity tree damaged (node)"
    case .countWrong: "number of items wrong"
    case .headerDamaged: "header, slots or key ring damaged"
    case .fileDamaged: "database file damaged"
    case .nameMismatch: "item under another item's name"
    case .metaInvalid: "name or attributes invalid"
    }
  }
}
