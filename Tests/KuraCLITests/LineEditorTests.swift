// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

/// A line editor and the line a person sees, which knows backspaces.
private struct Typing: ~Copyable {
  var editor: LineEditor
  var line = ""
  var bells = 0

  init(_ echo: LineEditor.Echo = .bullets("•"), room: Int = .max) throws {
    editor = try LineEditor(echo: echo, keys: .init(), room: room)
  }

  @discardableResult
  mutating func type(_ keys: String) throws -> LineEditor.Event { try type(Array(keys.utf8)) }

  /// What the last key asked for.
  mutating func type(_ keys: [UInt8]) throws -> LineEditor.Event {
    var event = LineEditor.Event.none
    for key in keys {
      var drawing = try SecretBuffer(capacity: 64)
      event = try editor.take(key, drawing: &drawing)
      show(drawing.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }
    return event
  }

  private mutating func show(_ text: String) {
    var rest = text[...]
    while let character = rest.first {
      if rest.hasPrefix("\u{8} \u{8}") {
        line.removeLast()
        rest = rest.dropFirst(3)
      } else if character == "\u{7}" {
        bells += 1
        rest = rest.dropFirst()
      } else {
        line.append(character)
        rest = rest.dropFirst()
      }
    }
  }

  var text: String {
    editor.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

@Suite struct LineEditorTests {
  @Test func `each character shows one bullet, however many bytes it has`() throws {
    var typing = try Typing()
    try typing.type("aé漢🗝")
    #expect(typing.line == "••••")
    #expect(typing.text == "aé漢🗝")
  }

  @Test(arguments: ["\u{7F}", "\u{8}"])
  func `backspace takes back one character`(_ key: String) throws {
    var typing = try Typing()
    try typing.type("aé漢")
    for rest in ["aé", "a", "", ""] {
      try typing.type(key)
      #expect(typing.text == rest)
      #expect(typing.line.count == rest.count)
    }
  }

  @Test(arguments: ["\u{15}", "\u{17}"])
  func `Ctrl-U and Ctrl-W take back all that is hidden`(_ key: String) throws {
    var typing = try Typing()
    try typing.type("half a word" + key)
    #expect(typing.text.isEmpty)
    #expect(typing.line.isEmpty)
    try typing.type("ab")
    #expect(typing.line == "••")
  }

  @Test func `Enter, Ctrl-C, Ctrl-Z and Ctrl-D are events`() throws {
    for (key, event) in [
      ("\r", LineEditor.Event.submit), ("\n", .submit), ("\u{3}", .interrupt),
      ("\u{1C}", .interrupt), ("\u{1A}", .suspend), ("\u{4}", .cancel),
    ] {
      var typing = try Typing()
      #expect(try typing.type(key) == event)
    }
  }

  @Test func `Ctrl-D cancels an empty line only`() throws {
    var typing = try Typing()
    #expect(try typing.type("a\u{4}") == .none)
    #expect(typing.text == "a")
    #expect(try typing.type("\u{7F}\u{4}") == .cancel)
  }

  @Test func `the keys are those that the terminal is set up with`() throws {
    var keys = LineEditor.Keys()
    keys.kill = UInt8(ascii: "@")
    keys.erase = UInt8(ascii: "#")
    var editor = try LineEditor(echo: .visible, keys: keys, room: .max)
    var drawing = try SecretBuffer(capacity: 64)
    for key in "abc#@xy#".utf8 { _ = try editor.take(key, drawing: &drawing) }
    #expect(editor.bytes.withUnsafeBytes { Array($0) } == Array("x".utf8))
  }

  @Test func `a key that is switched off is no key`() throws {
    var keys = LineEditor.Keys()
    keys.interrupt = 0
    var editor = try LineEditor(echo: .visible, keys: keys, room: .max)
    var drawing = try SecretBuffer(capacity: 64)
    #expect(try editor.take(0, drawing: &drawing) == .none)
    #expect(try editor.take(3, drawing: &drawing) == .none)
  }

  @Test(arguments: [
    "\u{1B}[A", "\u{1B}[200~", "\u{1B}OP", "\u{1B}[1;5C", "\u{1B}x", "\u{1B}\u{1B}[B",
  ])
  func `arrow and function keys type nothing`(_ sequence: String) throws {
    var typing = try Typing()
    try typing.type("a" + sequence + "b")
    #expect(typing.text == "ab")
    #expect(typing.line == "••")
  }

  @Test func `after a lone Escape the next key counts`() throws {
    var typing = try Typing()
    try typing.type("a\u{1B}")
    let isInside = typing.editor.isInsideEscape
    #expect(isInside)
    typing.editor.endEscape()
    try typing.type("b")
    #expect(typing.text == "ab")
  }

  @Test func `Ctrl-C ends even inside a key's sequence`() throws {
    for start in ["\u{1B}", "\u{1B}[", "\u{1B}[1;"] {
      var typing = try Typing()
      #expect(try typing.type(start + "\u{3}") == .interrupt)
    }
  }

  @Test func `other control keys type nothing and ring`() throws {
    var typing = try Typing()
    try typing.type("a\u{1}\tb")
    #expect(typing.text == "ab")
    #expect(typing.bells == 2)
  }

  @Test func `a full line shows no more bullets, and takes more`() throws {
    var typing = try Typing(room: 3)
    try typing.type("abcde")
    #expect(typing.line == "•••")
    try typing.type("\u{7F}\u{7F}")
    #expect(typing.line == "•••")
    try typing.type("\u{7F}")
    #expect(typing.line == "••")
    #expect(typing.text == "ab")
  }

  @Test func `the line is drawn anew as it stood`() throws {
    var typing = try Typing()
    try typing.type("aé漢")
    var drawing = try SecretBuffer(capacity: 64)
    try typing.editor.redraw(into: &drawing)
    #expect(drawing.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "•••")
    try typing.type("\u{7F}")
    #expect(typing.line == "••")
  }

  @Test func `what is to be seen is seen`() throws {
    var typing = try Typing(.visible)
    try typing.type("yes\u{7F}")
    #expect(typing.line == "ye")
  }

  @Test func `a line has an end`() throws {
    var typing = try Typing(room: 0)
    var drawing = try SecretBuffer(capacity: 64)
    for _ in 0..<LineEditor.limit { _ = try typing.editor.take(0x61, drawing: &drawing) }
    try typing.type("b")
    let count = typing.editor.bytes.count
    #expect(count == LineEditor.limit)
    #expect(typing.bells == 1)
  }
}
