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
  init(_ words: [UInt8], of program: [UInt8]? = try? System.parentName()) {
    text = Self.cut(program ?? Array("a program".utf8)) + " says: " + Self.cut(words)
  }

  /// What is said to a person beside a question, each on a line of its own: what for, in the program's own words,
  /// and which programs stand between the question and the login; nil where it is the login's own shell.
  static func remark(
    _ reason: [UInt8]?, _ programs: [[UInt8]] = System.ancestorNames()
  ) -> String? {
    var lines: [String] = []
    if let reason { lines.append(Claim(reason).text) }
    if let first = programs.first {
      lines.append(
        programs.dropFirst().reduce("asked by " + cut(first)) { $0 + ", started by " + cut($1) })
    }
    guard var text = lines.first else { return nil }
    for line in lines.dropFirst() { text += "\n" + line }
    return text
  }

  /// As it can stand on a terminal, and not too long.
  private static func cut(_ words: [UInt8]) -> String {
    var text = ""
    var count = 0
    for scalar in String(decoding: words, as: UTF8.self).unicodeScalars {
      count += 1
      guard count <= longest else { return Diagnostic.shown(text) + "..." }
      text.unicodeScalars.append(scalar)
    }
    return Diagnostic.shown(text)
  }
}
