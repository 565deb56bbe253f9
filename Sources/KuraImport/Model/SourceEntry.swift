// SPDX-License-Identifier: MIT

/// Holds an entry of another program's as it was read, in the terms that all of them share.
struct SourceEntry: Equatable, Sendable {
  /// Holds a field that the other program has no place of its own for.
  struct Field: Equatable, Sendable {
    var key: [UInt8]
    var value: [UInt8]
    /// Whether the other program hides it.
    var isSecret: Bool
  }

  /// Holds a file that belongs to it.
  struct Attachment: Equatable, Sendable {
    var name: [UInt8]
    var bytes: [UInt8]
  }

  /// Its line, or else its number, in the source, from 1.
  var place: UInt64 = 0
  /// The folders that it stands in, the outermost first.
  var folders: [[UInt8]] = []
  var title: [UInt8] = []
  var user: [UInt8] = []
  /// What it is about: the password; nil where it has none.
  var value: [UInt8]?
  var urls: [[UInt8]] = []
  var notes: [UInt8] = []
  var fields: [Field] = []
  /// What one-time codes are made of: an otpauth URI, or a secret in base32.
  var seed: [UInt8] = []
  var attachments: [Attachment] = []
  /// In milliseconds since 1970; 0: not known.
  var created: UInt64 = 0
  var modified: UInt64 = 0
  var tags: [[UInt8]] = []
  /// Earlier passwords, the oldest first.
  var history: [[UInt8]] = []
  /// What was seen in it and is not taken.
  var left: [Remark] = []
  var manner: Manner = []

  /// Says what an entry is beyond its fields.
  struct Manner: OptionSet, Sendable {
    let rawValue: UInt8

    /// The other program has it in its bin.
    static let trashed = Manner(rawValue: 1)
    /// It is an item of Kura's: its title is the whole name, its fields are the attributes.
    static let own = Manner(rawValue: 2)
    /// Kura asks for the passcode before it is read.
    static let protected = Manner(rawValue: 4)
    /// Its value is an otpauth URI that makes codes.
    static let code = Manner(rawValue: 8)
    /// It was deleted, and is told of for its history.
    static let deleted = Manner(rawValue: 16)
    /// It could not be read, as what is left of it says.
    static let unread = Manner(rawValue: 32)
    static let all: Manner = [.trashed, .own, .protected, .code, .deleted, .unread]
  }
}

/// Says that something is not taken, without a word of what it holds.
struct Remark: Equatable, Sendable {
  /// Says why.
  enum Reason: UInt8, Sendable, CaseIterable {
    /// Kura has no place for it.
    case unsupported = 1
    /// It only works with the program that it comes from.
    case foreign = 2
    /// It is longer than an item.
    case tooLong = 3
    /// It breaks a rule of its own kind.
    case invalid = 4
    /// It is in the other program's bin.
    case trashed = 5
    /// It was empty.
    case empty = 6
    /// The program that has its key does not decrypt it.
    case sealed = 7
    /// It is a link, which may lead anywhere.
    case link = 8
    /// It is locked where it is kept.
    case locked = 9
    /// No codes can be made of it; it is kept as it is.
    case noCode = 10
  }

  var reason: Reason
  /// What it is called in the source.
  var field: [UInt8]
}
