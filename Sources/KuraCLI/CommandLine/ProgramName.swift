// SPDX-License-Identifier: MIT

/// Knows the names under which other programs look for a helper of theirs: each is a link to
/// `kura`, and called so it is `kura helper PROGRAM`.
enum ProgramName {
  /// The link, the program it is for, and whether all that follows is that program's own text.
  private static let links: [(name: String, program: String, isText: Bool)] = [
    ("git-credential-kura", "git", false),
    ("docker-credential-kura", "docker", false),
    ("cargo-credential-kura", "cargo", false),
    ("terraform-credentials-kura", "terraform", false),
    ("kura-askpass", "askpass", true),
    ("kura-pass", "pass", true),
    ("pass", "pass", true),
    ("keyring", "keyring", true),
  ]

  /// The arguments as `kura` takes them, byte for byte.
  ///
  /// - Parameter words: What the program was called, with or without a directory, and what follows.
  static func arguments(_ words: [[UInt8]]) -> [[UInt8]] {
    let arguments = Array(words.dropFirst())
    let base = words.first?.split(separator: UInt8(ascii: "/")).last ?? []
    guard let link = links.first(where: { $0.name.utf8.elementsEqual(base) }) else {
      return arguments
    }
    // Cargo says it to whatever it calls.
    let kept = arguments.filter { !$0.elementsEqual("--cargo-plugin".utf8) || link.isText }
    let end: [[UInt8]] = link.isText ? [Array("--".utf8)] : []
    return [Array("helper".utf8), Array(link.program.utf8)] + end + kept
  }
}
