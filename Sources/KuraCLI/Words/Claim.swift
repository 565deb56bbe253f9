// SPDX-License-Identifier: MIT

internal import KuraClient

/// Repeats what a program says of itself, so that nobody takes it for words of Kura's.
struct Claim {
  /// The most characters that are repeated.
  static let longest = 40

  /// On a line of its own: `deploy.sh says: deploy to production`.
  let text: String

  /// - Parameters:
  ///   - words: What the program says, as given.
  ///   - program: Its name, which is no more than what it says, too.
  init(_ words: [UInt8], of program: [UInt8]?) {
    text = Self.cut(program ?? Array("a program".utf8)) + " says: " + Self.cut(words)
  }

  /// What is said to a person beside a question, each on a line of its own: what for, in the program's own words,
  /// and which programs stand between the question and the login; nil where it is the login's own shell.
  static func remark(
    _ reason: [UInt8]?, _ programs: Ancestors = System.ancestors()
  ) -> String? {
    let way = way(programs)
    guard let reason else { return way }
    let asks = programs.names.first ?? (programs.above == .login ? try? System.parentName() : nil)
    return Claim(reason, of: asks).text + (way.map { "\n" + $0 } ?? "")
  }

  /// The programs up to the login's shell; nil where there are none. Who started what is named and has ended meanwhile
  /// would have the question look like the login's own.
  private static func way(_ programs: Ancestors) -> String? {
    var names = programs.names.map { cut($0) }
    switch programs.above {
    case .login: break
    case .others: names.append("others")
    case .unseen: names.append("a program that cannot be seen")
    }
    guard let first = names.first else { return nil }
    return names.dropFirst().reduce("asked by " + first) { $0 + ", started by " + $1 }
  }

  /// As it can stand on a terminal, and not too long: what may be two columns wide counts so, and a blank of any other
  /// kind is one like the others, or the end of a line could be pushed to where Kura's own words stand.
  static func cut(_ words: [UInt8]) -> String {
    var text = ""
    var count = 0
    for scalar in String(decoding: words, as: UTF8.self).unicodeScalars {
      count += scalar.value >= 0x1100 ? 2 : 1
      guard count <= longest else { return Diagnostic.shown(text) + "..." }
      text.unicodeScalars.append(isBlank(scalar.value) ? " " : scalar)
    }
    return Diagnostic.shown(text)
  }

  /// All that a program says, for a question that is about that, too: in lines below its name that are shorter than any
  /// terminal's, so that none begins where Kura's own words do.
  static func whole(_ words: [UInt8], of program: [UInt8]) -> String {
    cut(program) + " says:\n" + wrapped("    " + Diagnostic.shown(words))
  }

  /// A text in lines that are shorter than any terminal's, each but the first one indented.
  static func wrapped(_ words: String) -> String {
    let (longest, margin) = (76, "    ")
    var text = ""
    var count = 0
    for scalar in words.unicodeScalars {
      let width = scalar.value >= 0x1100 ? 2 : 1
      if count + width > longest {
        text += "\n" + margin
        count = margin.utf8.count
      }
      count += width
      text.unicodeScalars.append(isBlank(scalar.value) ? " " : scalar)
    }
    return text
  }

  /// Whether it is a blank that is none of ASCII: what Unicode calls a space, and letters that show none.
  static func isBlank(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x2800, 0x3000,
      0x115F, 0x1160, 0x3164, 0xFFA0:
      true
    default: false
    }
  }
}
