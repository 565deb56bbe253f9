// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Draws a row of bullets that shakes its head: three short moves, right, left and back.
struct Shake {
  /// How long each move stands, in ms.
  static let pace: Int32 = 60

  let label: String
  let bullet: String
  let count: Int

  /// The line after each move; empty where there is no row, or no room to move it.
  ///
  /// - Parameter columns: How wide the terminal is; 0: not known.
  func frames(columns: Int) -> [String] {
    let width = label.unicodeScalars.count + count
    guard count > 0, columns == 0 || width < columns, label.utf8.last == UInt8(ascii: " ") else {
      return []
    }
    let row = String(repeating: bullet, count: count)
    let nearer = String(decoding: label.utf8.dropLast(), as: UTF8.self)
    return [label + " ", nearer, label].map { "\r\u{1B}[K" + $0 + row }
  }
}

extension Prompt {
  /// Takes back an answer that was wrong: rings the bell, shakes the row of bullets, clears the line. What
  /// was typed meanwhile is dropped.
  mutating func takeBack() {
    show("\u{7}")
    if moves {
      let row = Shake(label: answered.label, bullet: bullet, count: answered.bullets)
      for frame in row.frames(columns: columns) {
        show(frame)
        kura_pause(Shake.pace)
      }
    }
    answered = ("", 0)
    clearLine()
    // A terminal that cannot be set up is found out by the next question.
    do throws(PromptError) { _ = try begin() } catch {}
  }
}
