// SPDX-License-Identifier: MIT

/// Why bytes are not what vault format 1 says, or a person's input cannot become a part of it.
public enum FormatError: Error, Equatable, Sendable {
  /// The file is none of ours.
  case notAVault
  /// The file was written in a later format, given here; a newer release reads it.
  case newerFormat(UInt16)
  /// The bytes break the format.
  case damaged
  /// The system has no memory left.
  case outOfMemory
  /// The name cannot be an item's name.
  case nameInvalid(NameRule)
  /// The attributes cannot be stored.
  case attributesInvalid(AttributeRule)
  /// The passcode cannot be used.
  case passcodeInvalid(TextRule)
  /// The text cannot be a slot's label.
  case labelInvalid(TextRule)
  /// The recovery key was not typed as it was shown.
  case recoveryKeyInvalid(RecoveryKeyRule)
  /// The text is no otpauth URI that codes can be made of.
  case otpInvalid(OTPRule)
  /// A policy value is out of its range.
  case policyInvalid(PolicyKey)
  /// The value is longer than the format holds.
  case valueTooLarge
  /// A slot asks for more work or memory than any honest vault.
  case kdfRefused(KDFRefusal)
}

/// What a text must be.
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

/// What an item's name must be.
public enum NameRule: Equatable, Sendable {
  /// It breaks a rule for every text.
  case text(TextRule)
  /// It begins or ends with `/`, or has `//` in it.
  case emptyComponent
  /// A component is `.` or `..`.
  case dotComponent
}

/// What attributes must be.
public enum AttributeRule: Equatable, Sendable {
  /// A key breaks a rule for every text.
  case key(TextRule)
  /// A key holds `=`.
  case keyWithEqualsSign
  /// A key stands there twice.
  case duplicateKey
  /// A value is not UTF-8 or holds a NUL.
  case value
  /// There are more of them than an item holds.
  case tooMany
  /// Name and attributes together are longer than an item holds.
  case tooLarge
}
