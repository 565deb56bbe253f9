// SPDX-License-Identifier: MIT

internal import SecureMemory

extension SecretBuffer {
  mutating func append(_ text: String) throws(SecureMemoryError) {
    for byte in text.utf8 { try append(byte) }
  }

  /// Appends a sign behind a backslash.
  mutating func append(escaped sign: UInt8) throws(SecureMemoryError) {
    try append(0x5C)
    try append(sign)
  }

  /// Appends a byte as two digits.
  mutating func append(hexadecimal byte: UInt8, isUpper: Bool) throws(SecureMemoryError) {
    for digit in [byte >> 4, byte & 15] {
      try append(digit < 10 ? 0x30 + digit : (isUpper ? 0x41 : 0x61) + digit - 10)
    }
  }

  /// Appends one unit of UTF-16 as JSON escapes it.
  mutating func append(unit: UInt32) throws(SecureMemoryError) {
    try append(escaped: 0x75)
    try append(hexadecimal: UInt8(truncatingIfNeeded: unit >> 8), isUpper: false)
    try append(hexadecimal: UInt8(truncatingIfNeeded: unit), isUpper: false)
  }

  /// Appends a character as JSON escapes it: in one unit of UTF-16, or two.
  mutating func append(units scalar: UInt32) throws(SecureMemoryError) {
    guard scalar >= 0x10000 else { return try append(unit: scalar) }
    try append(unit: 0xD800 + (scalar - 0x10000) >> 10)
    try append(unit: 0xDC00 + (scalar - 0x10000) & 0x3FF)
  }
}

/// Walks over the characters of a text in UTF-8, and stops where it is none.
struct UTF8Scalars: ~Escapable {
  private let bytes: Span<UInt8>
  private var place = 0
  /// Whether something stands there that is no text.
  private(set) var isBroken = false

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// The next character, and where it stands; nil at the end.
  mutating func next() -> (value: UInt32, place: Range<Int>)? {
    guard place < bytes.count, !isBroken else { return nil }
    let start = place
    let first = bytes[start]
    guard let (length, lowest) = UTF8Scalars.shape(of: first), bytes.count - start >= length else {
      isBroken = true
      return nil
    }
    var value = length == 1 ? UInt32(first) : UInt32(first) & (0x7F >> UInt32(length))
    for index in (start + 1)..<(start + length) {
      isBroken = isBroken || bytes[index] & 0xC0 != 0x80
      value = value << 6 | UInt32(bytes[index] & 0x3F)
    }
    isBroken = isBroken || value < lowest || value > 0x10FFFF || (0xD800..<0xE000).contains(value)
    place = start + length
    return isBroken ? nil : (value, start..<place)
  }

  /// How many bytes a character has that begins so, and the least that is written in as many.
  private static func shape(of first: UInt8) -> (length: Int, lowest: UInt32)? {
    switch first {
    case 0..<0x80: (1, 0)
    case 0xC2..<0xE0: (2, 0x80)
    case 0xE0..<0xF0: (3, 0x800)
    case 0xF0..<0xF5: (4, 0x10000)
    default: nil
    }
  }
}
