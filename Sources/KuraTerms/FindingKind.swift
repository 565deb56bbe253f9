// SPDX-License-Identifier: MIT

/// Names what `verify` found wrong.
public enum FindingKind: UInt8, Sendable, CaseIterable {
  /// Header, ring or slots are not what the root says.
  case header = 1
  /// A slot's header cannot be read.
  case slot = 2
  /// A node of the tree is missing or changed.
  case node = 3
  /// A bucket of the tree is missing or changed.
  case bucket = 4
  /// An item was changed, swapped or replayed.
  case item = 5
  /// An item's row is missing.
  case missingItem = 6
  /// A row is no item of this vault.
  case extraItem = 7
  /// An item whose bucket is damaged, so that nothing proves it.
  case unprovenItem = 8
  /// An earlier revision of an item is missing or changed.
  case history = 9
  /// A row of the history belongs to no item.
  case extraHistory = 10
  /// A piece of a large value is missing or changed.
  case chunk = 11
  /// Pieces of a value that no item refers to.
  case extraChunk = 12
  /// A value of an item is marked as one that nothing refers to, and would be deleted.
  case loose = 13
  /// A node or bucket that the tree knows nothing of.
  case extraTree = 14
  /// The number of items is not the one in the root.
  case count = 15
  /// A row that cannot be read at all.
  case row = 16

  /// What is wrong, to stand before `: WHERE`.
  public var text: String {
    switch self {
    case .header, .slot: "header, slots or key ring damaged"
    case .node, .extraTree: "integrity tree damaged (node)"
    case .bucket: "integrity tree damaged (bucket)"
    case .item, .unprovenItem: "item damaged"
    case .missingItem: "item missing"
    case .extraItem, .extraHistory: "row that belongs to no item"
    case .history: "earlier revision damaged"
    case .chunk: "part of a value damaged"
    case .extraChunk, .loose: "part of no value"
    case .count: "number of items wrong"
    case .row: "database file damaged"
    }
  }
}
