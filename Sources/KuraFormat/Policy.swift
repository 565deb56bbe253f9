// SPDX-License-Identifier: MIT

/// What a vault's owner may set.
public enum PolicyKey: UInt8, CaseIterable, Sendable {
  /// Milliseconds without a value served or stored, until the vault locks.
  case idleTimeout = 1
  /// Milliseconds since the unlock, until the vault locks.
  case maxSession = 2
  /// Whether sleep locks: 0 or 1.
  case lockOnSleep = 3
  /// Previous revisions kept of an item.
  case historyDepth = 4
  /// Milliseconds during which a passcode opens further protected values.
  case reuseWindow = 5
  /// Whether the access log is synced with each entry: 0 or 1.
  case logSync = 6
  /// Wrong codes in a row until this machine's secrets for them are destroyed; 0 = never.
  case eraseLocalAfter = 7
  /// Entries kept in the access log of each machine; 0 = none is kept.
  case logEntries = 8

  /// What holds where nothing was set.
  public var standard: UInt64 {
    switch self {
    case .idleTimeout: 900_000
    case .maxSession: 28_800_000
    case .lockOnSleep: 1
    case .historyDepth: 10
    case .reuseWindow, .logSync, .eraseLocalAfter: 0
    case .logEntries: 10_000
    }
  }

  /// What may be set.
  public var range: ClosedRange<UInt64> {
    switch self {
    case .idleTimeout, .maxSession: 1000...(366 * 86_400_000)
    case .lockOnSleep, .logSync: 0...1
    case .historyDepth: 0...1000
    case .reuseWindow: 0...300_000
    case .eraseLocalAfter: 0...100
    case .logEntries: 0...100_000
    }
  }
}

/// A vault's settings, as the sealed ring keeps them.
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
  public subscript(key: PolicyKey) -> UInt64 {
    guard let entry = entries.first(where: { $0.key == key.rawValue }) else {
      return key.standard
    }
    return min(max(entry.value, key.range.lowerBound), key.range.upperBound)
  }

  /// Whether something else than the default was set.
  public func isSet(_ key: PolicyKey) -> Bool { entries.contains { $0.key == key.rawValue } }

  /// Sets a value.
  ///
  /// - Throws: ``FormatError/policyInvalid(_:)`` when it is out of its range; nothing is changed.
  public mutating func set(_ value: UInt64, for key: PolicyKey) throws(FormatError) {
    guard key.range.contains(value) else { throw .policyInvalid(key) }
    reset(key)
    let place = entries.firstIndex { $0.key > key.rawValue } ?? entries.endIndex
    entries.insert(Entry(key: key.rawValue, value: value), at: place)
  }

  /// Goes back to the default.
  public mutating func reset(_ key: PolicyKey) { entries.removeAll { $0.key == key.rawValue } }

  /// Adds an entry as it was read.
  mutating func append(_ entry: Entry) throws(FormatError) {
    guard entries.last.map({ $0.key < entry.key }) ?? true else { throw .damaged }
    entries.append(entry)
  }
}
