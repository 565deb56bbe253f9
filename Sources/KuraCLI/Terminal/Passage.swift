// SPDX-License-Identifier: MIT

/// Takes back what was shown for a moment, such as a recovery key that was typed back: it is not to stand in
/// the terminal's scrollback.
struct Passage {
  /// No line of what is shown so is wider; on a narrower terminal lines would fold, and nothing is erased.
  static let width = 76

  /// How many lines were ended since it began; nil: it has not begun, or somebody else has written too.
  private(set) var lines: Int?

  mutating func begin() { lines = 0 }

  mutating func end() { lines = nil }

  mutating func note(_ text: String) {
    guard let before = lines else { return }
    lines = before + text.utf8.count { $0 == 0x0A }
  }

  /// What takes the passage from the terminal; nil where that is not known to hit it.
  ///
  /// - Parameter columns: How wide the terminal is; 0: not known.
  func erasure(columns: Int) -> String? {
    guard let lines, lines > 0, columns >= Self.width else { return nil }
    return "\r\u{1B}[\(lines)A\u{1B}[J"
  }
}

extension Prompt {
  /// What is shown from here on can be taken back.
  mutating func beginPassage() { passage.begin() }

  /// Takes back what was shown.
  mutating func erasePassage() {
    if !isDumb, let erasure = passage.erasure(columns: columns) { show(erasure) }
    passage.end()
  }
}
