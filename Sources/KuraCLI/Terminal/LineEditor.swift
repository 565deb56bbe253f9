// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Edits a line that is being typed: takes keys, keeps the text and says what to draw. It knows no
/// terminal, so that a test can be one.
struct LineEditor: ~Copyable {
  /// Says what the typist sees.
  enum Echo: Equatable {
    /// A bullet for each character.
    case bullets(String)
    case visible
  }

  /// Holds the keys as the terminal is set up; 0 is none.
  struct Keys {
    var erase: UInt8 = 0x7F
    var kill: UInt8 = 0x15
    var wordErase: UInt8 = 0x17
    var interrupt: UInt8 = 0x03
    var quit: UInt8 = 0x1C
    var suspend: UInt8 = 0x1A
    var endOfFile: UInt8 = 0x04
  }

  /// Says what a key asks of the caller.
  enum Event: Equatable {
    case none
    case submit
    case interrupt
    /// Tab, where it leads to another question.
    case other
    case suspend
    /// The end-of-file key on an empty line.
    case cancel
  }

  /// Follows the sequence of an arrow or function key (ECMA-48, 5.4).
  private enum Escape {
    case none, begun, parameters, single
  }

  /// The longest line, in bytes.
  static let limit = 65_536

  private let echo: Echo
  private let keys: Keys
  private let room: Int
  private var text: SecretBuffer
  private var characters = 0
  /// How many of its characters stand on the terminal.
  private(set) var shown = 0
  private var escape = Escape.none

  /// - Parameter room: How many characters can be drawn before the line is full.
  init(echo: Echo, keys: Keys, room: Int) throws(SecureMemoryError) {
    self.echo = echo
    self.keys = keys
    self.room = room
    text = try SecretBuffer(capacity: 256)
  }

  /// Whether the end of a key's sequence has yet to come; soon, or it was the Escape key.
  var isInsideEscape: Bool { escape != .none }

  /// What was typed.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { text.bytes }
  }

  /// How many characters were typed.
  var count: Int { characters }

  /// Gives up the line for what was typed.
  consuming func finish() -> SecretBytes { text.finish() }

  /// Ends a sequence that does not go on.
  mutating func endEscape() { escape = .none }
}

// MARK: - Keys

extension LineEditor {
  /// Takes one byte from the terminal.
  ///
  /// - Parameter drawing: Gets what the terminal has to show.
  mutating func take(
    _ byte: UInt8, drawing: inout SecretBuffer
  ) throws(SecureMemoryError) -> Event {
    if isPartOfEscape(byte) { return .none }
    switch byte {
    case 0x0A, 0x0D: return .submit
    case 0x1B: escape = .begun
    case 0: break
    case keys.interrupt, keys.quit: return .interrupt
    case keys.suspend: return .suspend
    case keys.endOfFile where text.count == 0: return .cancel
    case keys.erase, 0x08, 0x7F: try eraseCharacter(drawing: &drawing)
    // What is hidden has no words to the eye: the word key takes all of it.
    case keys.kill, keys.wordErase: try eraseAll(drawing: &drawing)
    case _ where byte < 0x20 || text.count == Self.limit: try drawing.append(0x07)
    default:
      try text.append(byte)
      if !Self.continues(byte) { characters += 1 }
      try draw(byte, drawing: &drawing)
    }
    return .none
  }

  /// Draws the line as it stands, after the prompt.
  mutating func redraw(into drawing: inout SecretBuffer) throws(SecureMemoryError) {
    shown = 0
    for index in text.bytes.indices {
      let byte = text.bytes[index]
      try draw(byte, drawing: &drawing)
    }
  }

  private mutating func isPartOfEscape(_ byte: UInt8) -> Bool {
    switch escape {
    case .none: return false
    case .begun:
      guard byte != 0x1B else { return true }
      let begins = byte == UInt8(ascii: "[")
      escape = begins ? .parameters : byte == UInt8(ascii: "O") ? .single : .none
      // A control key after a lone Escape keeps its meaning.
      return byte >= 0x20 && byte != 0x7F
    case .parameters:
      if byte >= 0x40 || byte < 0x20 { escape = .none }
      return byte >= 0x20
    case .single:
      escape = .none
      return byte >= 0x20
    }
  }

  private mutating func draw(
    _ byte: UInt8, drawing: inout SecretBuffer
  ) throws(SecureMemoryError) {
    let isFirst = !Self.continues(byte)
    if isFirst, shown >= room { return }
    switch echo {
    case .visible: try drawing.append(byte)
    case .bullets(let bullet): if isFirst { try drawing.append(text: bullet) }
    }
    if isFirst { shown += 1 }
  }

  private mutating func eraseCharacter(
    drawing: inout SecretBuffer
  ) throws(SecureMemoryError) {
    guard text.count > 0 else { return }
    while text.count > 0 {
      let isFirst = !Self.continues(text.bytes[text.count - 1])
      text.removeLast(1)
      if isFirst { break }
    }
    characters -= 1
    if characters < shown {
      try drawing.append(text: "\u{8} \u{8}")
      shown -= 1
    }
  }

  private mutating func eraseAll(drawing: inout SecretBuffer) throws(SecureMemoryError) {
    text.removeAll()
    characters = 0
    while shown > 0 {
      try drawing.append(text: "\u{8} \u{8}")
      shown -= 1
    }
  }

  /// Whether a byte continues a character of UTF-8.
  private static func continues(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
