// SPDX-License-Identifier: MIT

/// Names what `verify` found wrong.
public enum FindingKind: UInt8, Sendable, CaseIterable {
  /// An item was changed, swapped or replayed.
  case item = 1
  /// An item's row is missing.
  case missingItem = 2
  /// A row is no item of this vault.
  case extraItem = 3
  /// A piece of a large value is missing or changed.
  case chunk = 4
  /// Pieces of a value that no item refers to.
  case extraChunk = 6
  /// An earlier revision of an item is missing or changed.
  case history = 7
  /// A bucket of the tree is missing or changed.
  case bucket = 8
  /// A node of the tree is missing or changed.
  case node = 9
  /// The number of items is not the one in the root.
  case count = 10
  /// Header, ring or slots are not what the root says.
  case header = 11
  /// A row that cannot be read at all.
  case row = 12
  /// A slot's header cannot be read.
  case slot = 15
  /// An item whose bucket is damaged, so that nothing proves it.
  case unprovenItem = 16
  /// A row of the history belongs to no item.
  case extraHistory = 17
  /// A node or bucket that the tree knows nothing of.
  case extraTree = 18
  /// A value of an item is marked as one that nothing refers to, and would be deleted.
  case loose = 19

  /// What is wrong, to stand before `: WHERE`.
  public var text: String {
    switch self {
    case .header: "header, slots or key ring damaged"
    case .slot: "key slot that cannot be read"
    case .node: "integrity tree damaged (node)"
    case .bucket: "integrity tree damaged (bucket)"
    case .item: "item damaged"
    case .missingItem: "item missing"
    case .extraItem: "row that belongs to no item"
    case .unprovenItem: "item that its damaged bucket does not prove"
    case .history: "earlier revision damaged"
    case .extraHistory: "earlier revision that belongs to no item"
    case .chunk: "part of a value damaged"
    case .extraChunk: "part of no value"
    case .loose: "part of a value marked to be deleted"
    case .extraTree: "part of no integrity tree"
    case .count: "number of items wrong"
    case .row: "database file damaged"
    }
  }
}
