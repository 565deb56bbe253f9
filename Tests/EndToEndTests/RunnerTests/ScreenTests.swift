// SPDX-License-Identifier: MIT

import Testing

@Suite struct ScreenTests {
  @Test(arguments: [
    ("abc", "abc"),
    ("abc\rx", "xbc"),
    ("abc\r\u{1b}[Kx", "x"),
    ("abc\u{8} \u{8}", "ab"),
    ("•••\u{8} \u{8}\u{8} \u{8}", "•"),
    ("abc\u{1b}[2D\u{1b}[Kx", "ax"),
    ("abc\u{1b}[2K\rx", "x"),
    ("abc\u{1b}[1Gx", "xbc"),
    ("one\r\ntwo", "two"),
    ("one\r\ntwo\u{1b}[Ax", "onex"),
    ("one\r\ntwo\u{1b}[A\r\u{1b}[Jx", "x"),
    ("\u{1b}[1;31mred\u{1b}[0m", "red"),
    ("\u{1b}]0;title\u{7}text", "text"),
    ("\u{1b}[?25lx", "x"),
  ])
  func `the line with the cursor reads as a terminal shows it`(bytes: String, line: String) {
    var screen = Screen()
    screen.show(Array(bytes.utf8))
    #expect(screen.currentLine == line)
  }

  @Test func `a character in two reads is one`() {
    var screen = Screen()
    for byte in "a•b".utf8 { screen.show([byte]) }
    #expect(screen.currentLine == "a•b")
    #expect(screen.text == "a•b")
  }

  @Test func `what was overwritten stays in the text`() {
    var screen = Screen()
    screen.show(Array("secret\r\u{1b}[K".utf8))
    #expect(screen.currentLine == "")
    #expect(screen.text == "secret")
  }
}
