// SPDX-License-Identifier: MIT

/// Says where two copies of a vault that were brought together do not agree on an item.
public enum ConflictPart: UInt8, Sendable, CaseIterable {
  /// It has another value, too.
  case value = 1
  /// It has another name, too.
  case name = 2
  /// An attribute has another value, too, or was deleted.
  case attribute = 3
  /// It was deleted in one copy and changed in the other.
  case deletion = 4
  /// It was purged in one copy and changed in the other.
  case purge = 5
  /// It stands under another name than its own, which another item has.
  case place = 6

  /// The word for it.
  public var word: String {
    switch self {
    case .value: "value"
    case .name: "name"
    case .attribute: "attribute"
    case .deletion: "deleted"
    case .purge: "purged"
    case .place: "place"
    }
  }
}
