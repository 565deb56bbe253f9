// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import SecureMemory

/// Speaks to a person by lines: says, and asks.
struct Lines: ~Copyable {
  /// Tells what came of a question.
  enum Answer {
    case line(String)
    /// The agent said something first.
    case agent
    case nothing
    case signal(Int32)
    case closed
  }

  /// Tells what came of a question whose answer nobody sees.
  enum HiddenAnswer: ~Copyable {
    case typed(SecretBytes)
    /// Ctrl-C, or Ctrl-D.
    case left
    case agent
    case signal(Int32)
    case closed
  }

  /// /dev/tty.
  let terminal: Int32
  private let glyph: Glyph
  private var keyboard: Keyboard

  init(signals: Int32) throws(Renderer.Flaw) {
    glyph = Glyph(isUnicode: Renderer.takeLocale())
    terminal = kura_terminal_open()
    guard terminal >= 0, let keyboard = try? Keyboard(terminal: terminal, signals: signals),
      kura_screen_begin(terminal) == 0
    else { throw .noTerminal }
    self.keyboard = keyboard
    // Only its settings are to be mended where this program is killed.
    ScreenCalls.guardSettings(of: terminal)
    kura_screen_end()
  }

  deinit { kura_file_close(terminal) }

  /// Says a line; what a terminal would obey is spelled out.
  func say(_ text: String) { ScreenCalls.write(glyph.harmless(text) + "\n", to: terminal) }

  /// Says a value, and spells out what is no text.
  func say(_ value: Span<UInt8>) {
    guard var shown = try? SecretBuffer(capacity: value.count + 64) else { return }
    var index = 0
    while index < value.count {
      let (scalar, count) = Grid.scalar(value, index)
      if let scalar, let known = Unicode.Scalar(scalar),
        scalar == 0x0A || glyph.width(known) != nil
      {
        try? shown.append(value.extracting(index..<(index + count)))
      } else {
        for part in Glyph.spelling(scalar ?? UInt32(value[index])) {
          try? shown.append(UInt8(truncatingIfNeeded: part.value))
        }
      }
      index += count
    }
    try? shown.append(0x0A)
    ScreenCalls.write(shown.bytes, to: terminal)
  }

  /// The status of whoever can read no more: the window is gone, or Ctrl-D was pressed.
  var statusAtEnd: Int32 { kura_screen_is_gone(terminal) != 0 ? 128 + SIGHUP : 0 }

  /// Asks for a line that is no secret.
  mutating func ask(_ question: String, agent: Int32, milliseconds: Int32) -> Answer {
    ScreenCalls.write(glyph.harmless(question), to: terminal)
    var text = String.UnicodeScalarView()
    while true {
      while let key = keyboard.next() {
        if key == .enter { return .line(String(text)) }
        if case .character(let scalar) = key { text.append(scalar) }
      }
      let news = keyboard.wait(agent: agent, milliseconds: milliseconds)
      // What was typed to what is covered now is dropped: the next question drops it.
      if news.contains(.agent) { return ended(.agent) }
      if news.contains(.signal) {
        let number = keyboard.signal()
        if Self.matters(number) { return ended(.signal(number)) }
      } else if news.contains(.keys) {
        keyboard.fill()
        if keyboard.isClosed { return ended(.closed) }
      } else if keyboard.expire() == nil, news.isEmpty {
        return ended(.nothing)
      }
    }
  }

  private mutating func ended(_ answer: Answer) -> Answer {
    keyboard.drop()
    ScreenCalls.write("\n", to: terminal)
    return answer
  }

  private static func matters(_ signal: Int32) -> Bool {
    signal != 0 && signal != SIGWINCH && signal != SIGCONT
  }

  /// Asks for a secret: nothing of it is seen.
  mutating func askHidden(_ question: String, agent: Int32) -> HiddenAnswer {
    guard var field = try? Field(.newName, "", isHidden: true), kura_screen_begin(terminal) == 0
    else { return .closed }
    defer {
      kura_screen_end()
      keyboard.drop()
      ScreenCalls.write("\n", to: terminal)
    }
    ScreenCalls.write(glyph.harmless(question), to: terminal)
    while true {
      let news = keyboard.wait(agent: agent, milliseconds: -1)
      if news.contains(.agent) { return .agent }
      if news.contains(.signal) {
        let number = keyboard.signal()
        if Self.matters(number) { return .signal(number) }
      }
      guard news.contains(.keys) else {
        _ = keyboard.expire()
        continue
      }
      keyboard.fill()
      if keyboard.isClosed { return .closed }
      while let key = keyboard.next() {
        switch key {
        case .enter:
          guard let secret = try? field.take() else { return .left }
          return .typed(secret)
        case .control("C"), .control("D"): return .left
        case .control("U"): field.removeAll()
        case .backspace: field.removeLast()
        case .character(let scalar): try? field.type(scalar)
        case .control, .escape, .tab, .up, .down, .left, .right, .pageUp, .pageDown, .home, .end,
          .delete, .click, .wheelUp, .wheelDown:
          break
        }
      }
    }
  }
}
