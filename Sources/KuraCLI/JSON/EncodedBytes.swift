// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Reads Base64 (RFC 4648, 4) as strictly as it is written: padded, no other signs, no bits left
/// over, so that one value has one text.
enum EncodedBytes {
  /// Appends the bytes that a text stands for.
  ///
  /// - Returns: Whether it is base64; if not, a part of the bytes may be there.
  static func decode(
    _ text: Span<UInt8>, into bytes: inout SecretBuffer
  ) throws(SecureMemoryError) -> Bool {
    guard text.count.isMultiple(of: 4) else { return false }
    try bytes.reserve(text.count / 4 * 3)
    var index = 0
    while index < text.count {
      var padding = 0
      if index + 4 == text.count {
        while padding < 2, text[text.count - 1 - padding] == UInt8(ascii: "=") { padding += 1 }
      }
      var group: UInt32 = 0
      for offset in 0..<(4 - padding) {
        guard let digit = digit(text[index + offset]) else { return false }
        group |= digit << UInt32(18 - 6 * offset)
      }
      guard group & (0xFF_FFFF >> UInt32(24 - 8 * padding)) == 0 || padding == 0 else {
        return false
      }
      for offset in 0..<(3 - padding) {
        try bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * offset)))
      }
      index += 4
    }
    return true
  }

  private static func digit(_ sign: UInt8) -> UInt32? {
    switch sign {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(sign - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(sign - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(sign - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
/// Writes Base64 (RFC 4648, 4) of bytes that come in parts.
struct Base64 {
  private var held: UInt32 = 0
  private var count = 0

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Takes the next byte.
  ///
  /// - Returns: Four digits, with each third byte.
  mutating func take(_ byte: UInt8) -> [4 of UInt8]? {
    held |= UInt32(byte) << UInt32(16 - 8 * count)
    count += 1
    return count == 3 ? finish() : nil
  }

  /// What is left, padded; nil: nothing.
  mutating func finish() -> [4 of UInt8]? {
    guard count > 0 else { return nil }
    let equals = UInt8(ascii: "=")
    let group: [4 of UInt8] = [
      digit(0), digit(1), count > 1 ? digit(2) : equals, count > 2 ? digit(3) : equals,
    ]
    self = Base64()
    return group
  }

  private func digit(_ index: Int) -> UInt8 {
    Self.alphabet[Int(held >> UInt32(18 - 6 * index) & 0x3F)]
  }
}

extension Output {
  /// Writes the next bytes.
  mutating func append(_ bytes: Span<UInt8>, _ base64: inout Base64) throws(CommandError) {
    for index in bytes.indices {
      if let group = base64.take(bytes[index]) { try write(group.span) }
    }
  }

  /// Writes what is left, padded.
  mutating func finish(_ base64: inout Base64) throws(CommandError) {
    if let group = base64.finish() { try write(group.span) }
  }
}
