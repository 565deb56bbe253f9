// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Tells how a character stands on a screen: by its width, or by a spelling where a terminal would obey it.
struct Glyph {
  /// Whether the locale has more than ASCII.
  let isUnicode: Bool

  /// The columns that a character takes; nil where it must be spelled out.
  func width(_ scalar: Unicode.Scalar) -> Int? {
    switch scalar.value {
    case 0x20..<0x7F: return 1
    case 0x00..<0x20, 0x7F..<0xA0: return nil
    // Direction marks (UAX #9), line and paragraph separators, the byte order mark.
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: return nil
    default:
      guard isUnicode else { return nil }
      let width = kura_screen_width(scalar.value)
      return width < 0 ? nil : Int(width)
    }
  }

  /// The spelling of one that cannot stand: `\x1B` or `\u{202E}`.
  static func spelling(_ value: UInt32) -> [Unicode.Scalar] {
    let digits = Array(String(value, radix: 16, uppercase: true).unicodeScalars)
    guard value > 0xFF else {
      return ["\\", "x"] + (digits.count < 2 ? ["0"] : []) + digits
    }
    return ["\\", "u", "{"] + digits + ["}"]
  }

  /// A text with the spelling of each character that cannot stand.
  func harmless(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if width(scalar) == nil {
        shown.append(contentsOf: Self.spelling(scalar.value))
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// The columns that a text takes.
  func width(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + (width($1) ?? Self.spelling($1.value).count) }
  }
}
