// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Says why bytes are not what vault format 1 says, or why a person's input cannot become a part of it.
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
  case policyInvalid(Setting)
  /// The value is longer than the format holds.
  case valueTooLarge
  /// More revisions stand side by side than a row or the ring has room for.
  case tooManySides
  /// A slot asks for more work or memory than any honest vault.
  case kdfRefused(KDFRefusal)
}

extension FormatError {
  /// What it means for a record that it does not open, or cannot be sealed.
  init(_ error: CryptoError) {
    switch error {
    case .wrongKey, .damaged: self = .damaged
    case .outOfMemory, .entropyUnavailable: self = .outOfMemory
    }
  }
}
