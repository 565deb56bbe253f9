// SPDX-License-Identifier: MIT

/// Makes names that keep Kura's rules out of what other programs call things.
enum ItemNaming {
  /// The longest part of a name, in bytes.
  static let longestPart = 200
  /// The longest name of an entry, in bytes: what stands beside it has a longer one.
  static let longestName = 824

  /// A part of a name.
  static func part(_ text: [UInt8]) -> String {
    if isPlain(text) { return String(decoding: text, as: UTF8.self) }
    var part = String.UnicodeScalarView()
    var count = 0
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      let fitting = fitting(scalar)
      count += UTF8.width(fitting)
      if count > longestPart { break }
      part.append(fitting)
    }
    let trimmed = String(trimming(String(part)))
    switch trimmed {
    case "": return ""
    case ".": return "%2E"
    case "..": return "%2E%2E"
    default: return trimmed
    }
  }

  /// Whether a part of a name is one as it stands, as most are.
  private static func isPlain(_ text: [UInt8]) -> Bool {
    guard text.count <= longestPart, text.first != UInt8(ascii: "."), text.last != 0x20 else {
      return false
    }
    return text.first != 0x20
      && text.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "/") }
  }

  /// The key of an attribute.
  static func key(_ text: [UInt8]) -> [UInt8] {
    let key = part(text).map { $0 == "=" ? "-" : $0 }
    return key.isEmpty ? Array("field".utf8) : Array(String(key).utf8)
  }

  /// A name of parts; empty ones are left out.
  static func name(_ parts: [String]) -> String {
    var parts = parts.filter { !$0.isEmpty }
    // The first and the last say most.
    while parts.count > 2, parts.joined(separator: "/").utf8.count > longestName {
      parts.remove(at: parts.count / 2)
    }
    return parts.joined(separator: "/")
  }

  /// The host of a URL; empty where it has none.
  static func host(_ url: [UInt8]) -> [UInt8] {
    var rest = url[...]
    if let start = scheme(of: rest) { rest = rest[start...] }
    rest = rest.prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
    return Array(rest)
  }

  /// Where a URL goes on behind `://`.
  private static func scheme(of url: ArraySlice<UInt8>) -> Int? {
    guard let colon = url.firstIndex(of: UInt8(ascii: ":")),
      url[colon...].starts(with: Array("://".utf8))
    else { return nil }
    return colon + 3
  }

  /// What stands for a character in a part of a name.
  private static func fitting(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0x2F: return "-"
    case 0..<0x20, 0x7F..<0xA0: return " "
    default:
      // As the vault knows Unicode: 15.0.
      guard let age = scalar.properties.age, (age.major, age.minor) <= (15, 0),
        scalar.properties.generalCategory != .unassigned
      else { return "\u{FFFD}" }
      return scalar
    }
  }

  private static func trimming(_ text: String) -> Substring {
    var rest = text[...]
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return rest
  }
}
