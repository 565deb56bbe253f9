// SPDX-License-Identifier: MIT

/// Holds a vault's settings, as the sealed ring keeps them.
public struct Policy: Equatable, Sendable {
  /// How many entries the format allows.
  static let mostEntries = 255

  /// Ascending by key; keys of later releases stand among them.
  private(set) var entries: [Entry] = []

  struct Entry: Equatable, Sendable {
    let key: UInt8
    let value: UInt64
  }

  /// All defaults.
  public init() {}

  /// The value that holds: what was set, within its range, or the default.
  public subscript(key: Setting) -> UInt64 {
    guard let entry = entries.first(where: { $0.key == key.rawValue }) else {
      return key.standard
    }
    return min(max(entry.value, key.storedRange.lowerBound), key.storedRange.upperBound)
  }

  /// Whether something else than the default was set.
  public func isSet(_ key: Setting) -> Bool { entries.contains { $0.key == key.rawValue } }

  /// Sets a value.
  ///
  /// - Throws: ``FormatError/policyInvalid(_:)`` when it is out of its range; nothing is changed.
  public mutating func set(_ value: UInt64, for key: Setting) throws(FormatError) {
    guard key.storedRange.contains(value) else { throw .policyInvalid(key) }
    reset(key)
    let place = entries.firstIndex { $0.key > key.rawValue } ?? entries.endIndex
    entries.insert(Entry(key: key.rawValue, value: value), at: place)
  }

  /// Goes back to the default.
  public mutating func reset(_ key: Setting) { entries.removeAll { $0.key == key.rawValue } }

  /// Adds an entry as it was read.
  mutating func append(_ entry: Entry) throws(FormatError) {
    guard entries.last.map({ $0.key < entry.key }) ?? true else { throw .damaged }
    entries.append(entry)
  }
}
