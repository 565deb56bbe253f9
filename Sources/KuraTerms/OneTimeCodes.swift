// SPDX-License-Identifier: MIT

/// Names the hash behind one-time codes.
public enum OTPAlgorithm: UInt8, Sendable, CaseIterable {
  case sha1 = 1
  case sha256 = 2
  case sha512 = 3

  /// The word for it in an otpauth URI.
  public var name: String {
    switch self {
    case .sha1: "SHA1"
    case .sha256: "SHA256"
    case .sha512: "SHA512"
    }
  }
}

/// Names the rule that an otpauth URI breaks; the detail of ``Failure/otpInvalid``.
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
