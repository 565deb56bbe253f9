// SPDX-License-Identifier: MIT

/// Decodes base64 (RFC 4648, section 4).
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
}
