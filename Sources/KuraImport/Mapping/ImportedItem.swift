// SPDX-License-Identifier: MIT

/// Holds an item as it is to be stored.
struct ImportedItem: Equatable, Sendable {
  /// An attribute: a key and a text.
  struct Pair: Equatable, Sendable {
    var key: [UInt8]
    var value: [UInt8]
  }

  var name: String
  var value: [UInt8]
  var attributes: [Pair] = []
  /// Attributes that are as secret as the value.
  var secrets: [Pair] = []
  /// Earlier values, the oldest first.
  var history: [[UInt8]] = []
  /// Whether its value is an otpauth URI that makes codes.
  var isCode = false
  var isProtected = false
  /// When the source has made and changed it, in milliseconds since 1970; 0: not known.
  var created: UInt64 = 0
  var modified: UInt64 = 0
  /// Whether it was deleted in the source, and only its history is of use.
  var isDeleted = false
  /// All of its earlier revisions, the oldest first, where the source has them.
  var earlier: [ImportedItem] = []
  /// Whether those are known, so that it has no attributes but its own.
  var isWhole = false
  /// Where its entry stands in the source.
  var place: UInt64 = 0
  /// What it is of its entry: `password`, `notes`, or as the source has it.
  var field = ""

  /// The longest value that is taken: 16 MiB.
  static let longest = 16 << 20
}

/// Tells of something that is not taken, or not as it stands in the source.
struct Leaving: Equatable, Sendable {
  /// Says why.
  enum Reason: Equatable, Sendable {
    /// As the reader of the source says.
    case remark(Remark.Reason)
    /// The name breaks a rule of Kura's, and is another one.
    case renamed(String)
    /// The same entry stands in the source twice.
    case twice
    /// The vault has another one of that name, which stays.
    case skipped
    /// The same, and the passcode is asked for it.
    case protectedThere
    /// So many earlier values, the oldest, are more than the vault keeps of an item.
    case pastBeyond(Int)
    /// So many are not in the history of the vault's item, which stays as it is.
    case pastOfSame(Int)
    /// The vault's item has another one of that key, which stays.
    case vaultsStays
    /// Earlier values come into the vault's history without their attributes.
    case pastAttributes
  }

  var place: UInt64
  /// The entry as people know it; empty for the whole source.
  var entry: String
  var field: String
  var reason: Reason
}
