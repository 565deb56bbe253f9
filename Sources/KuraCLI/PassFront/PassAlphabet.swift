// SPDX-License-Identifier: MIT

/// Finds out which characters `pass generate` may take: `PASSWORD_STORE_CHARACTER_SET` and
/// `PASSWORD_STORE_CHARACTER_SET_NO_SYMBOLS` say it as to tr(1), in classes, ranges and characters.
struct PassAlphabet {
  /// ASCII that can be seen, in its order, each once.
  let characters: [UInt8]

  /// nil where the text is none that it can tell the meaning of, or means no character that can be seen.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    var isIn = [Bool](repeating: false, count: 128)
    while let first = rest.first {
      if let members = Self.namedClass(&rest) {
        for byte in members { isIn[Int(byte)] = true }
        continue
      }
      // tr has meanings for these that are none of a character.
      guard first != UInt8(ascii: "\\"), !Self.opensClass(rest) else { return nil }
      rest.removeFirst()
      var last = first
      if rest.count > 1, rest.first == UInt8(ascii: "-") {
        rest.removeFirst()
        last = rest.removeFirst()
        guard last != UInt8(ascii: "\\"), last >= first else { return nil }
      }
      guard Self.visible.contains(first), Self.visible.contains(last) else { return nil }
      for byte in first...last { isIn[Int(byte)] = true }
    }
    characters = isIn.indices.filter { isIn[$0] }.map { UInt8($0) }
    guard !characters.isEmpty else { return nil }
  }

  private static let visible: ClosedRange<UInt8> = 0x21...0x7E

  /// `[:`, `[=` and, as far as can be told, `[c*3]`.
  private static func opensClass(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.first == UInt8(ascii: "["), let second = text.dropFirst().first else { return false }
    return second == UInt8(ascii: ":") || second == UInt8(ascii: "=")
      || text.dropFirst(2).first == UInt8(ascii: "*")
  }

  /// The characters of a class that comes next, which is taken away; nil where none does.
  private static func namedClass(_ text: inout ArraySlice<UInt8>) -> [UInt8]? {
    for (name, members) in classes {
      let word = Array("[:".utf8) + Array(name.utf8) + Array(":]".utf8)
      guard text.starts(with: word) else { continue }
      text.removeFirst(word.count)
      return visible.filter { byte in members.contains { $0.contains(byte) } }
    }
    return nil
  }

  private static var classes: [(String, [ClosedRange<UInt8>])] {
    let (digits, upper, lower): (ClosedRange<UInt8>, ClosedRange<UInt8>, ClosedRange<UInt8>) = (
      0x30...0x39, 0x41...0x5A, 0x61...0x7A
    )
    return [
      ("alnum", [digits, upper, lower]), ("alpha", [upper, lower]), ("digit", [digits]),
      ("graph", [visible]), ("lower", [lower]),
      ("punct", [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]), ("upper", [upper]),
      ("xdigit", [digits, 0x41...0x46, 0x61...0x66]),
    ]
  }
}
