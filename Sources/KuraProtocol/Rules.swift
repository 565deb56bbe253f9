// SPDX-License-Identifier: MIT

/// What a name must not be; the detail of ``Failure/nameInvalid``.
public enum NameRule: UInt8, Sendable, CaseIterable {
  case empty = 1
  case tooLong = 2
  case notUTF8 = 3
  case controlCharacter = 4
  case leadingSlash = 5
  case trailingSlash = 6
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
    case .leadingSlash: "does not begin with /"
    case .trailingSlash: "does not end with /"
    case .emptyComponent: "has no empty part: no / at its ends, and no two in a row"
    case .dotComponent: "has no part that is . or .."
    case .unassigned: "has no characters that are newer than Unicode 15.0, or none of Unicode's"
    }
  }
}

/// What an attribute must not be; the detail of ``Failure/attributeInvalid``.
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
    case .valueNotText: "an attribute's value is UTF-8 text without NUL"
    }
  }
}

/// What a passcode must not be; the detail of ``Failure/passcodeInvalid``.
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
    case .codeTooShort: "for one machine has at least 4 characters"
    case .codeTooLong: "for one machine has at most 16 characters; a longer one needs no machine"
    }
  }
}

/// What a slot's label must not be; the detail of ``Failure/labelInvalid``.
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

/// What an otpauth URI must not be; the detail of ``Failure/otpInvalid``.
public enum OTPRule: UInt8, Sendable, CaseIterable {
  case scheme = 1
  case kind = 2
  case text = 3
  case secretMissing = 4
  case secret = 5
  case algorithm = 6
  case digits = 7
  case period = 8
  case counterMissing = 9
  case counter = 10
  case repeated = 11
  case tooLong = 12

  /// What is wrong, to stand alone.
  public var text: String {
    switch self {
    case .scheme: "this is no otpauth URI"
    case .kind: "the otpauth URI is for neither totp nor hotp"
    case .text: "the otpauth URI has a % without two hexadecimal digits, or text that is not UTF-8"
    case .secretMissing: "the otpauth URI has no secret"
    case .secret: "the secret in the otpauth URI is not base32"
    case .algorithm: "the algorithm in the otpauth URI is none of SHA1, SHA256 and SHA512"
    case .digits: "the digits in the otpauth URI are not 6, 7 or 8"
    case .period: "the period in the otpauth URI is not 1 to 86400 seconds"
    case .counterMissing: "the otpauth URI is for hotp and has no counter"
    case .counter: "the counter in the otpauth URI is no number, or at its end"
    case .repeated: "the otpauth URI has a parameter twice"
    case .tooLong: "the otpauth URI has more than 4,096 bytes"
    }
  }
}
