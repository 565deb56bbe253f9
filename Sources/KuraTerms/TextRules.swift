// SPDX-License-Identifier: MIT

/// Names the rule that a text breaks before it becomes a passcode or a label.
public enum TextRule: Error, Equatable, Sendable {
  /// It has no bytes.
  case empty
  /// It has more bytes than are allowed.
  case tooLong
  /// It is not UTF-8.
  case notUTF8
  /// It holds a control character, such as a line end.
  case controlCharacter
  /// It holds a character that Unicode does not assign, so that its normal form may change.
  case unassignedCharacter
}

/// Names the rule that an item's name breaks; the detail of ``Failure/nameInvalid``.
public enum NameRule: UInt8, Sendable, CaseIterable {
  case empty = 1
  case tooLong = 2
  case notUTF8 = 3
  case controlCharacter = 4
  case emptyComponent = 7
  case dotComponent = 8
  case unassigned = 9

  /// The rule it breaks, to stand after `a name …`.
  public var text: String {
    switch self {
    case .empty: "has at least one character"
    case .tooLong: "has at most 1,024 bytes"
    case .notUTF8: "is UTF-8 text"
    case .controlCharacter: "has no control characters"
    case .emptyComponent: "has no empty part: no / at its ends, and no two in a row"
    case .dotComponent: "has no part that is . or .."
    case .unassigned: "has no characters that are newer than Unicode 15.0, or none of Unicode's"
    }
  }
}

/// Names the rule that an attribute breaks; the detail of ``Failure/attributeInvalid``.
public enum AttributeRule: UInt8, Sendable, CaseIterable {
  /// The most attributes that an item has.
  public static let most = 256

  case keyEmpty = 1
  case keyTooLong = 2
  case keyNotUTF8 = 3
  case keyCharacter = 4
  case keyRepeated = 5
  case tooMany = 6
  case tooLarge = 7
  case valueNotText = 8
  case keyUnassigned = 9
  case secretsTooLarge = 10

  /// The rule it breaks, to stand alone.
  public var text: String {
    switch self {
    case .keyEmpty: "an attribute's key has at least one character"
    case .keyTooLong: "an attribute's key has at most 255 bytes"
    case .keyNotUTF8: "an attribute's key is UTF-8 text"
    case .keyCharacter: "an attribute's key has no = and no control characters"
    case .keyRepeated: "an attribute is given once"
    case .tooMany: "an item has at most 256 attributes"
    case .tooLarge: "an item's name and attributes have at most 60 KiB together"
    case .secretsTooLarge: "an item's secret attributes have at most 64 KiB together"
    case .keyUnassigned:
      "an attribute's key has no characters that are newer than Unicode 15.0, or none of Unicode's"
    case .valueNotText: "an attribute's value is UTF-8 text without NUL"
    }
  }
}

/// Names the rule that a passcode breaks; the detail of ``Failure/passcodeInvalid``.
public enum PasscodeRule: UInt8, Sendable, CaseIterable {
  case empty = 1
  case tooLong = 2
  case notUTF8 = 3
  case controlCharacter = 4
  case unassigned = 5
  /// A code for one machine has fewer than four characters.
  case codeTooShort = 6
  /// It has more than sixteen: it is not taken for a code where it is typed as a passcode.
  case codeTooLong = 7

  /// The rule it breaks, to stand after `a passcode …`.
  public var text: String {
    switch self {
    case .empty: "has at least one character"
    case .tooLong: "has at most 1,024 bytes"
    case .notUTF8: "is UTF-8 text"
    case .controlCharacter: "has no control characters"
    case .unassigned: "has no characters that are newer than Unicode 15.0, or none of Unicode's"
    case .codeTooShort: "that is a code for one machine has at least 4 characters"
    case .codeTooLong:
      "that is a code for one machine has at most 16 characters; a longer one needs no machine"
    }
  }
}

/// Names the rule that a slot's label breaks; the detail of ``Failure/labelInvalid``.
public enum LabelRule: UInt8, Sendable, CaseIterable {
  case tooLong = 2
  case notUTF8 = 3
  case controlCharacter = 4
  case unassigned = 5

  /// The rule it breaks, to stand after `a label …`.
  public var text: String {
    switch self {
    case .tooLong: "has at most 64 bytes"
    case .notUTF8: "is UTF-8 text"
    case .controlCharacter: "has no control characters"
    case .unassigned: "has no characters that are newer than Unicode 15.0, or none of Unicode's"
    }
  }
}

extension NameRule {
  /// The rule of names that a text breaks with one of all texts.
  public init(_ rule: TextRule) {
    switch rule {
    case .empty: self = .empty
    case .tooLong: self = .tooLong
    case .notUTF8: self = .notUTF8
    case .controlCharacter: self = .controlCharacter
    case .unassignedCharacter: self = .unassigned
    }
  }
}

extension LabelRule {
  /// The rule of labels that a text breaks with one of all texts; an empty one is a label.
  public init(_ rule: TextRule) {
    switch rule {
    case .empty, .tooLong: self = .tooLong
    case .notUTF8: self = .notUTF8
    case .controlCharacter: self = .controlCharacter
    case .unassignedCharacter: self = .unassigned
    }
  }
}

extension AttributeRule {
  /// The rule of attributes that a key breaks with one of all texts.
  public init(key rule: TextRule) {
    switch rule {
    case .empty: self = .keyEmpty
    case .tooLong: self = .keyTooLong
    case .notUTF8: self = .keyNotUTF8
    case .controlCharacter: self = .keyCharacter
    case .unassignedCharacter: self = .keyUnassigned
    }
  }
}

extension PasscodeRule {
  /// The rule of passcodes that a text breaks with one of all texts.
  public init(_ rule: TextRule) {
    switch rule {
    case .empty: self = .empty
    case .tooLong: self = .tooLong
    case .notUTF8: self = .notUTF8
    case .controlCharacter: self = .controlCharacter
    case .unassignedCharacter: self = .unassigned
    }
  }
}
