// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Encodes bytes as digits, as RFC 4648 lays down.
struct Radix {
  static let base64 = Radix(.base64, bits: 6, groupBytes: 3, groupDigits: 4)
  static let base64URL = Radix(.base64URL, bits: 6, groupBytes: 3, groupDigits: 4)
  static let base32 = Radix(.base32, bits: 5, groupBytes: 5, groupDigits: 8)
  static let hexadecimal = Radix(.lower, bits: 4, groupBytes: 1, groupDigits: 2)
  static let upperHexadecimal = Radix(.upper, bits: 4, groupBytes: 1, groupDigits: 2)

  /// Names the digits.
  private enum Digits {
    case base64
    case base64URL
    case base32
    case lower
    case upper
  }

  private let digits: Digits
  private let bits: Int
  let groupBytes: Int
  private let groupDigits: Int

  private init(_ digits: Digits, bits: Int, groupBytes: Int, groupDigits: Int) {
    self.digits = digits
    self.bits = bits
    self.groupBytes = groupBytes
    self.groupDigits = groupDigits
  }

  /// Whether programs break long texts into lines.
  var isWrapped: Bool {
    switch digits {
    case .base64, .base32: true
    case .base64URL, .lower, .upper: false
    }
  }

  /// How many signs fill the last group of a text of so many bytes.
  func padding(of count: Int) -> Int {
    let digits = (count * 8 + bits - 1) / bits
    return (groupDigits - digits % groupDigits) % groupDigits
  }

  /// Appends the digits that the value alone decides, when it stands behind so many bytes of a group.
  ///
  /// - Returns: The digit behind them, where the value ends within it and the text with the value.
  func append(
    _ value: Span<UInt8>, at place: Int, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) -> UInt8? {
    // The bits of the first digit that belong to what stands in front of the value.
    var (pending, held) = (0, 0)
    var skipped = (bits - place * 8 % bits) % bits
    for index in value.indices {
      pending = pending << 8 | Int(value[index])
      held += 8
      if skipped > 0 {
        held -= skipped
        skipped = 0
      }
      while held >= bits {
        held -= bits
        try buffer.append(digit(pending >> held))
      }
      pending &= (1 << held) - 1
    }
    return held > 0 ? digit(pending << (bits - held)) : nil
  }

  private func digit(_ number: Int) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: number & ((1 << bits) - 1))
    switch digits {
    case .lower: return value < 10 ? 0x30 + value : 0x61 + value - 10
    case .upper: return value < 10 ? 0x30 + value : 0x41 + value - 10
    case .base32: return value < 26 ? 0x41 + value : 0x32 + value - 26
    case .base64, .base64URL:
      if value < 26 { return 0x41 + value }
      if value < 52 { return 0x61 + value - 26 }
      if value < 62 { return 0x30 + value - 52 }
      let isPlain = digits == .base64
      return value == 62 ? (isPlain ? 0x2B : 0x2D) : (isPlain ? 0x2F : 0x5F)
    }
  }
}
