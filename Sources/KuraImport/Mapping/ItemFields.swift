// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Gathers what of an entry becomes attributes, those that lists show and those that are as secret as the value, each
/// under a key of its own.
struct ItemFields {
  /// How many bytes the secret ones take together, with their keys: an item takes some more.
  static let mostHidden = 61_440
  /// The same of those that lists show: the longest name takes the rest of 60 KiB.
  static let mostOpen = 60_000
  /// The longest one that lists show.
  static let longestOpen = 1_024

  private(set) var open: [ImportedItem.Pair] = []
  private(set) var hidden: [ImportedItem.Pair] = []
  /// What lists could show, but for its number, its length or a NUL: an item takes no more of it.
  private(set) var refused: [ImportedItem.Pair] = []
  /// Keys that break a rule of Kura's, as they are written there and as they are here.
  private(set) var changed: [(label: [UInt8], key: [UInt8])] = []
  /// As texts: the same letters may be of other bytes.
  private var keys: Set<String> = []
  private var (openCount, hiddenCount) = (0, 0)

  /// What lists may show of an entry.
  init(of entry: SourceEntry) {
    for url in entry.urls { show(Array("url".utf8), url) }
    show(Array("user".utf8), entry.user)
    if !entry.tags.isEmpty {
      show(Array("tags".utf8), Array(entry.tags.joined(separator: Array(", ".utf8))))
    }
    for field in entry.fields where Self.isPublic(field) {
      show(field.key, field.value)
    }
  }

  /// Whether a field is of those.
  static func isPublic(_ field: SourceEntry.Field) -> Bool {
    !field.isSecret && field.value.count <= longestOpen
  }

  private mutating func show(_ label: [UInt8], _ value: [UInt8]) {
    if value.isEmpty { return }
    let key = ItemNaming.key(label)
    let count = openCount + key.count + value.count + 8
    guard open.count < AttributeRule.most, count <= Self.mostOpen, Self.isText(value) else {
      return refused.append(.init(key: label, value: value))
    }
    note(label, key)
    open.append(.init(key: free(key), value: value))
    openCount = count
  }

  private static func isText(_ value: [UInt8]) -> Bool {
    !value.contains(0) && String(validating: value, as: UTF8.self) != nil
  }

  private mutating func note(_ label: [UInt8], _ key: [UInt8]) {
    if !label.isEmpty, key != label { changed.append((label, key)) }
  }

  /// Adds a secret one.
  ///
  /// - Returns: Whether the item can hold it: text without NUL, and not too much.
  mutating func hide(_ label: [UInt8], _ value: [UInt8]) -> Bool {
    let wanted = ItemNaming.key(label)
    let count = hiddenCount + wanted.count + value.count + 8
    guard hidden.count < AttributeRule.most, count <= Self.mostHidden, Self.isText(value) else {
      return false
    }
    note(label, wanted)
    hidden.append(.init(key: free(wanted), value: value))
    hiddenCount = count
    return true
  }

  /// A key that is not taken yet.
  private mutating func free(_ key: [UInt8]) -> [UInt8] {
    var (wanted, number) = (key, 1)
    while !keys.insert(String(decoding: wanted, as: UTF8.self)).inserted {
      number += 1
      wanted = key + Array("-\(number)".utf8)
    }
    return wanted
  }
}
