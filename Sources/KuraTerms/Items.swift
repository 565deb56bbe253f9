// SPDX-License-Identifier: MIT

/// Says what reading an item's value takes: an unlocked vault, or a fresh passcode too.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
  /// An unlocked vault.
  case standard = 0
  /// A fresh passcode.
  case protected = 1

  /// The word for it.
  public var name: String {
    switch self {
    case .standard: "standard"
    case .protected: "protected"
    }
  }
}

/// Says what an item is: a value, what one-time codes are made of, or what is left of a deleted item.
public enum ItemKind: UInt8, Sendable, CaseIterable {
  case value = 0
  /// Deleted, and kept in the history until it is purged.
  case deleted = 1
  /// An otpauth URI, which one-time codes are made of.
  case otp = 2
  /// What is left of an item that was purged, so that no other copy of the vault brings it back; nothing shows it.
  case purged = 3

  /// The word for it.
  public var name: String {
    switch self {
    case .value: "value"
    case .deleted: "deleted"
    case .otp: "otp"
    case .purged: "purged"
    }
  }
}

/// Says when an item was made and when it was changed, where it was kept elsewhere until now: in milliseconds since
/// 1970.
public struct ItemTimes: Equatable, Sendable {
  /// The latest moment that can be said: the end of the year 9999.
  public static let latest: UInt64 = 253_402_300_799_999

  /// When it was made.
  public var created: UInt64
  /// When the revision was made.
  public var modified: UInt64

  /// Both.
  public init(created: UInt64, modified: UInt64) {
    self.created = created
    self.modified = modified
  }
}
