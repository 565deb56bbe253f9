// SPDX-License-Identifier: MIT

@testable import KuraUI

/// What a terminal sends to the screen: keys, a mouse, and whatever somebody has it send.
enum ScreenTargets {
  static var all: [FuzzTarget] { [keys] }

  private static var keys: FuzzTarget {
    FuzzTarget(
      name: "keys",
      seeds: bytes(
        "aé日🦩", "\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[<0;5;3Mx", "\r\t\u{7F}\u{3}", "\u{1B}[M %#"),
      words: [
        [0x1B], [0x1B, 0x5B], [0x1B, 0x4F], [0x3B], [0x3C], [0x4D], [0x7E], [0xC2, 0x9B],
        [0xF4, 0x90],
      ]
    ) { input throws(Flaw) in
      var reader = KeyReader()
      var keys: [Key] = []
      for byte in input {
        if let key = reader.take(byte) { keys.append(key) }
      }
      try hold(keys.count <= input.count, "more keys than bytes")
      for key in keys { try check(key) }
      if let text = String(validating: input, as: UTF8.self),
        text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
      {
        try hold(keys == text.unicodeScalars.map { .character($0) }, "text is read as another one")
      }
      let isWhole = !reader.isWaiting && !keys.isEmpty
      _ = reader.finish()
      try hold(reader.take(0x78) == .character("x"), "nothing more is read")
      return isWhole
    }
  }

  /// No key is one that a line must not hold, nor a click on a cell that is none.
  private static func check(_ key: Key) throws(Flaw) {
    switch key {
    case .character(let scalar):
      try hold(scalar.value >= 0x20, "a control is a character")
      try hold(!(0x7F...0x9F).contains(scalar.value), "a C1 control is a character")
    case .control(let scalar): try hold((0x40..<0x60).contains(scalar.value), "no such letter")
    case .click(let row, let column): try hold(row >= 0 && column >= 0, "a click beside the screen")
    case .enter, .escape, .backspace, .tab, .up, .down, .left, .right, .pageUp, .pageDown, .home,
      .end, .delete, .wheelUp, .wheelDown:
      break
    }
  }
}
