// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Makes bytes harmless on a terminal: what would move the cursor, set colours or turn text around
/// is shown as `\x1B` or `\u{202E}` instead.
struct Escaping {
  /// Says what may stay as it is.
  enum Style {
    /// One line: a name or a path.
    case line
    /// Text with lines of its own: newlines and tabs stay.
    case text
  }

  private let style: Style
  private var scanner = UTF8Scanner()

  init(_ style: Style) { self.style = style }

  /// Appends the harmless form of the next bytes; a character may be cut between two calls.
  mutating func append(
    _ bytes: Span<UInt8>, to out: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for index in bytes.indices { try append(bytes[index], to: &out) }
  }

  /// Appends what is left of a character cut short.
  mutating func finish(into out: inout SecretBuffer) throws(SecureMemoryError) {
    for index in 0..<scanner.count { try Self.appendHex(scanner.byte(index), to: &out) }
    scanner.reset()
  }

  private mutating func append(
    _ byte: UInt8, to out: inout SecretBuffer
  ) throws(SecureMemoryError) {
    let held = scanner
    switch scanner.take(byte) {
    case .pending: return
    case .invalid: try Self.appendHex(byte, to: &out)
    case .broken:
      try finish(into: &out)
      try append(byte, to: &out)
    case .character(let value):
      guard Self.isHarmful(value, style) else {
        for index in 0..<held.count { try out.append(held.byte(index)) }
        try out.append(byte)
        return
      }
      try Self.append(value, to: &out)
    }
  }

  /// Whether a terminal would obey a character.
  static func isHarmful(_ value: UInt32, _ style: Style) -> Bool {
    switch value {
    case 0x09, 0x0A: style == .line
    case 0x00..<0x20, 0x7F..<0xA0: true
    // Direction marks (UAX #9), line and paragraph separators, the byte order mark.
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }
}

// MARK: - Notation

extension Escaping {
  private static func append(
    _ value: UInt32, to out: inout SecretBuffer
  ) throws(SecureMemoryError) {
    guard value > 0x7F else { return try appendHex(UInt8(value), to: &out) }
    try out.append(text: "\\u{")
    var shift: UInt32 = value > 0xFFF ? 12 : value > 0xFF ? 8 : 4
    while true {
      try out.append(Hex.digit(UInt8(value >> shift & 0xF)))
      guard shift > 0 else { break }
      shift -= 4
    }
    try out.append(text: "}")
  }

  private static func appendHex(
    _ byte: UInt8, to out: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try out.append(text: "\\x")
    try out.append(Hex.digit(byte >> 4))
    try out.append(Hex.digit(byte & 0xF))
  }
}

/// Writes and reads hexadecimal digits.
enum Hex {
  /// The digit of a number below 16, in capitals.
  static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
  }

  /// The number of a digit, capital or not.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension SecretBuffer {
  /// Appends text that is no secret.
  mutating func append(text: String) throws(SecureMemoryError) {
    for byte in text.utf8 { try append(byte) }
  }
}

extension Escaping {
  /// A text on one line as it can stand in a message; what is shown is no secret.
  static func shown(_ bytes: [UInt8]) -> String {
    do throws(SecureMemoryError) {
      var escaping = Escaping(.line)
      var out = try SecretBuffer(capacity: bytes.count + 16)
      try escaping.append(bytes.span, to: &out)
      try escaping.finish(into: &out)
      return String(repairing: out.bytes)
    } catch { return "…" }
  }
}
