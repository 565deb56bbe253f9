// SPDX-License-Identifier: MIT

/// Holds what the vault has of a name that an import wants.
struct KnownItem: Equatable, Sendable {
  var attributes: [ImportedItem.Pair] = []
  var size: UInt64 = 0
  var isProtected = false
  var isCode = false
  /// In milliseconds since 1970.
  var modified: UInt64 = 0
}

/// Answers what a plan asks of the vault.
protocol KnownItems {
  /// How many earlier revisions it keeps of an item that does not take the passcode.
  var depth: Int { get }
  /// What there is of that name; nil: nothing.
  func item(_ name: String) -> KnownItem?
  /// Its value; nil where it takes the passcode, or is longer than any that is imported.
  mutating func value(_ name: String) throws(ImportFailure) -> [UInt8]?
  /// Its secret attributes; none where it takes the passcode.
  mutating func secrets(_ name: String) throws(ImportFailure) -> [ImportedItem.Pair]
  /// Its earlier values, the oldest first; none where it takes the passcode.
  mutating func earlier(_ name: String) throws(ImportFailure) -> [[UInt8]]
}

/// Says what becomes of an item whose name the vault has with another content.
enum DuplicatePolicy: String, Sendable, CaseIterable {
  /// What the vault has stays.
  case skip
  /// It is stored under a name that is free.
  case rename
  /// It takes the place of what the vault has, which goes to the history.
  case replace
  /// The newer value stands, the other one goes to the history, and attributes that it lacks are added.
  case merge
}
