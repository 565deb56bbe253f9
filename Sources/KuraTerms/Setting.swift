// SPDX-License-Identifier: MIT

/// Names what a vault's owner may set, kept inside the sealed vault.
public enum Setting: UInt8, Sendable, CaseIterable {
  /// Lock after this long without use.
  case idleTimeout = 1
  /// Lock this long after the unlock, used or not.
  case maxSession = 2
  /// Lock when the machine slept.
  case lockOnSleep = 3
  /// Previous revisions kept for each item.
  case historyDepth = 4
  /// How long one passcode opens further protected values.
  case reuseWindow = 5
  /// When the access log reaches the disk.
  case logSync = 6
  /// After how many wrong codes in a row this machine's secrets for them are destroyed; 0 = never.
  case eraseLocalAfter = 7
  /// Entries kept in the access log of each machine; 0 = none is kept.
  case logEntries = 8
  /// Whether a finger, as the reader of a machine knows it, may show that the owner is there.
  case fingerprint = 9

  /// Says what a setting's number counts.
  public enum Unit: Sendable {
    case milliseconds
    case flag
    case count
  }

  /// The word for it on the command line.
  public var name: String {
    switch self {
    case .idleTimeout: "idle-timeout"
    case .maxSession: "max-session"
    case .lockOnSleep: "lock-on-sleep"
    case .historyDepth: "history-depth"
    case .reuseWindow: "reuse-window"
    case .logSync: "log-sync"
    case .eraseLocalAfter: "erase-local-after"
    case .logEntries: "log-entries"
    case .fingerprint: "fingerprint"
    }
  }

  /// What its number counts.
  public var unit: Unit {
    switch self {
    case .idleTimeout, .maxSession, .reuseWindow: .milliseconds
    case .lockOnSleep, .logSync, .fingerprint: .flag
    case .historyDepth, .eraseLocalAfter, .logEntries: .count
    }
  }

  /// The value where none was set.
  public var standard: UInt64 {
    switch self {
    case .idleTimeout: 900_000
    case .maxSession: 28_800_000
    case .lockOnSleep: 1
    case .historyDepth: 10
    case .reuseWindow, .logSync, .eraseLocalAfter, .fingerprint: 0
    case .logEntries: 10_000
    }
  }

  /// What a vault may hold: more than can be set now could be set once.
  public var storedRange: ClosedRange<UInt64> {
    switch self {
    case .idleTimeout, .maxSession: 1_000...(366 * 86_400_000)
    case .lockOnSleep, .historyDepth, .reuseWindow, .logSync, .eraseLocalAfter, .logEntries,
      .fingerprint:
      range
    }
  }

  /// The values that can be set.
  public var range: ClosedRange<UInt64> {
    switch self {
    case .idleTimeout: 1_000...604_800_000
    case .maxSession: 1_000...2_592_000_000
    case .lockOnSleep, .logSync, .fingerprint: 0...1
    case .historyDepth: 0...1_000
    case .reuseWindow: 0...300_000
    case .eraseLocalAfter: 0...100
    case .logEntries: 0...100_000
    }
  }

  /// The key with that name, or nil.
  public init?(name: String) {
    for key in Self.allCases where key.name == name {
      self = key
      return
    }
    return nil
  }
}
