// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Reads a one-time code's secret as many sites show it, alone and in groups: `JBSW Y3DP EHPK
/// 3PXP`. What is stored of it is the otpauth URI that the same secret has, with what such secrets
/// leave out as usual.
enum BareSeed {
  /// Shorter ones are sooner a mistake than a secret.
  private static let least = 16

  /// The URI of a bare secret; nil for anything else.
  ///
  /// - Parameters:
  ///   - name: What the URI calls it.
  ///   - issuer: Whom it is for, where that is known.
  static func uri(
    _ text: Span<UInt8>, named name: String, issuer: String? = nil
  ) throws(SecureMemoryError) -> SecretBytes? {
    guard isSeed(text) else { return nil }
    var uri = try SecretBuffer(capacity: text.count + 256)
    let owner = issuer.map { label($0) + ":" } ?? ""
    try uri.append(text: "otpauth://totp/" + owner + label(name) + "?secret=")
    for index in text.indices where isDigit(text[index]) {
      let byte = text[index]
      try uri.append(byte >= 0x61 ? byte & 0xDF : byte)
    }
    if let issuer { try uri.append(text: "&issuer=" + label(issuer)) }
    return uri.finish()
  }

  /// Only letters and digits of base32, with blanks or dashes between and padding behind.
  private static func isSeed(_ text: Span<UInt8>) -> Bool {
    var (count, isEnding) = (0, false)
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: " "), UInt8(ascii: "-"): continue
      case UInt8(ascii: "="): isEnding = true
      default:
        guard isDigit(text[index]), !isEnding else { return false }
        count += 1
      }
    }
    return count >= least
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "2")...UInt8(ascii: "7"):
      true
    default: false
    }
  }

  /// A name as a part of a URI.
  private static func label(_ name: String) -> String {
    name.utf8.reduce("") { label, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        label + String(Unicode.Scalar(byte))
      default:
        label + "%" + String(Unicode.Scalar(Hex.digit(byte >> 4)))
          + String(Unicode.Scalar(Hex.digit(byte & 0xF)))
      }
    }
  }
}
