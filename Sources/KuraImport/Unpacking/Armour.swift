// SPDX-License-Identifier: MIT

/// Decodes base64 and base16, and encodes base32 (RFC 4648, sections 4, 8 and 6).
enum Armour {
  /// The bytes; nil where the text is none, in its alphabet, its length or its padding.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    let padding = text.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
    if padding == 2, text[text.count - 2] != UInt8(ascii: "=") { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var (bits, count): (UInt32, Int) = (0, 0)
    for byte in text.dropLast(padding) {
      guard let value = value(of: byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    guard bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
  /// The bytes of base16, in letters of either case, with blanks or without; nil where it is none.
  static func bytes(ofHex text: [UInt8]) -> [UInt8]? {
    var digits: [UInt8] = []
    for byte in text where byte != UInt8(ascii: " ") {
      switch byte {
      case 0x30...0x39: digits.append(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: digits.append((byte | 0x20) - 0x61 + 10)
      default: return nil
      }
    }
    guard digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Bytes in base32, without padding.
  static func base32(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var text: [UInt8] = []
    var (bits, count): (UInt32, Int) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[Int(bits >> UInt32(count)) & 31])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
    return text
  }
}
