// SPDX-License-Identifier: MIT

/// Tells characters and broken bytes apart, one byte at a time, so that a stream needs no buffer.
///
/// Accepts exactly what RFC 3629 does: no overlong forms, no surrogates, nothing above U+10FFFF.
struct UTF8Scanner {
  /// Says what a byte came to.
  enum Step: Equatable {
    /// The byte begins or continues a character.
    case pending
    /// The byte completes a character.
    case character(UInt32)
    /// The bytes held so far are no character; the byte just given has not been taken.
    case broken
    /// The byte itself can begin no character.
    case invalid
  }

  private var value: UInt32 = 0
  private var missing = 0
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF
  private var bytes: (UInt8, UInt8, UInt8) = (0, 0, 0)

  /// How many bytes of a character yet to be completed are held.
  private(set) var count = 0

  /// A held byte; `index` is less than ``count``.
  func byte(_ index: Int) -> UInt8 {
    switch index {
    case 0: bytes.0
    case 1: bytes.1
    default: bytes.2
    }
  }

  /// Forgets the bytes held.
  mutating func reset() {
    count = 0
    missing = 0
  }

  /// Looks at one more byte.
  mutating func take(_ byte: UInt8) -> Step {
    missing == 0 ? begin(byte) : carryOn(byte)
  }

  private mutating func begin(_ byte: UInt8) -> Step {
    switch byte {
    case 0..<0x80: return .character(UInt32(byte))
    case 0xC2...0xDF: (missing, value, allowed) = (1, UInt32(byte & 0x1F), 0x80...0xBF)
    case 0xE0: (missing, value, allowed) = (2, 0, 0xA0...0xBF)
    case 0xED: (missing, value, allowed) = (2, 0xD, 0x80...0x9F)
    case 0xE1...0xEF: (missing, value, allowed) = (2, UInt32(byte & 0x0F), 0x80...0xBF)
    case 0xF0: (missing, value, allowed) = (3, 0, 0x90...0xBF)
    case 0xF1...0xF3: (missing, value, allowed) = (3, UInt32(byte & 0x07), 0x80...0xBF)
    case 0xF4: (missing, value, allowed) = (3, 4, 0x80...0x8F)
    default: return .invalid
    }
    bytes.0 = byte
    count = 1
    return .pending
  }

  private mutating func carryOn(_ byte: UInt8) -> Step {
    guard allowed.contains(byte) else { return .broken }
    value = value << 6 | UInt32(byte & 0x3F)
    allowed = 0x80...0xBF
    missing -= 1
    if missing == 0 {
      count = 0
      return .character(value)
    }
    if count == 1 { bytes.1 = byte } else { bytes.2 = byte }
    count += 1
    return .pending
  }
}

extension UTF8Scanner {
  /// Whether all of it is UTF-8.
  static func isText(_ bytes: Span<UInt8>) -> Bool {
    var scanner = UTF8Scanner()
    for index in bytes.indices {
      switch scanner.take(bytes[index]) {
      case .pending, .character: continue
      case .broken, .invalid: return false
      }
    }
    return scanner.count == 0
  }
}
