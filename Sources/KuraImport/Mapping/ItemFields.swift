// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Gathers what of an entry becomes attributes, those that lists show and those that are as secret as the value, each
/// under a key of its own.
struct ItemFields {
  /// How many bytes the secret ones take together, with their keys: an item takes some more.
  static let mostHidden = 61_440
  /// The longest one that lists show.
  static let longestOpen = 1_024

  private(set) var open: [ImportedItem.Pair] = []
  private(set) var hidden: [ImportedItem.Pair] = []
  private var keys: Set<[UInt8]> = []
  private var hiddenCount = 0

  /// What lists may show of an entry.
  init(of entry: SourceEntry) {
    for url in entry.urls { show(Array("url".utf8), url) }
    show(Array("user".utf8), entry.user)
    if !entry.tags.isEmpty {
      show(Array("tags".utf8), Array(entry.tags.joined(separator: Array(", ".utf8))))
    }
    for field in entry.fields where Self.isPublic(field) {
      show(ItemNaming.key(field.key), field.value)
    }
  }

  /// Whether a field is of those.
  static func isPublic(_ field: SourceEntry.Field) -> Bool {
    !field.isSecret && field.value.count <= longestOpen
  }

  private mutating func show(_ key: [UInt8], _ value: [UInt8]) {
    guard !value.isEmpty, open.count < AttributeRule.most else { return }
    open.append(.init(key: free(key), value: value))
  }

  /// Adds a secret one.
  ///
  /// - Returns: Whether the item can hold it: text without NUL, and not too much.
  mutating func hide(_ label: [UInt8], _ value: [UInt8]) -> Bool {
    let wanted = ItemNaming.key(label)
    let count = hiddenCount + wanted.count + value.count + 8
    guard hidden.count < AttributeRule.most, count <= Self.mostHidden, !value.contains(0),
      String(validating: value, as: UTF8.self) != nil
    else { return false }
    hidden.append(.init(key: free(wanted), value: value))
    hiddenCount = count
    return true
  }

  /// A key that is not taken yet.
  private mutating func free(_ key: [UInt8]) -> [UInt8] {
    var (wanted, number) = (key, 1)
    while !keys.insert(wanted).inserted {
      number += 1
      wanted = key + Array("-\(number)".utf8)
    }
    return wanted
  }
}
