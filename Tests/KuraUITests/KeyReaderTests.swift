// SPDX-License-Identifier: MIT

import Testing

@testable import KuraUI

private func keys(_ bytes: [UInt8]) -> [Key] {
  var reader = KeyReader()
  return bytes.compactMap { reader.take($0) }
}

@Suite struct KeyReaderTests {
  @Test func `arrows come in both of their spellings`() {
    #expect(keys(Array("\u{1B}[A\u{1B}OB\u{1B}[1;5C\u{1B}[D".utf8)) == [.up, .down, .right, .left])
  }

  @Test func `keys with a number and a tilde are known`() {
    #expect(
      keys(Array("\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[4~\u{1B}[3~\u{1B}[24~".utf8))
        == [.pageUp, .pageDown, .home, .end, .delete])
  }

  @Test func `a character of several bytes is one key, whole or not at all`() {
    #expect(keys(Array("é日🦩".utf8)) == [.character("é"), .character("日"), .character("🦩")])
    #expect(keys([0xE6, 0x97, 0x61]) == [.character("a")])
    #expect(keys([0xC2, 0x9B, 0x80, 0xFF, 0x62]) == [.character("b")])
  }

  @Test func `a lone Escape is a key once nothing came behind it`() {
    var reader = KeyReader()
    #expect(reader.take(0x1B) == nil)
    #expect(reader.isWaiting)
    #expect(reader.finish() == .escape)
    #expect(!reader.isWaiting)
    #expect(reader.finish() == nil)
  }

  @Test func `a mouse is heard in both of its languages`() {
    #expect(keys(Array("\u{1B}[<0;5;3M\u{1B}[<0;5;3m".utf8)) == [.click(row: 2, column: 4)])
    #expect(keys(Array("\u{1B}[<64;1;1M\u{1B}[<65;1;1M".utf8)) == [.wheelUp, .wheelDown])
    #expect(keys(Array("\u{1B}[M".utf8) + [32, 37, 35]) == [.click(row: 2, column: 4)])
  }

  @Test func `control keys are letters`() {
    #expect(
      keys([3, 26, 13, 9, 127, 0]) == [.control("C"), .control("Z"), .enter, .tab, .backspace])
  }

  @Test func `any bytes leave a reader that reads on`() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        var reader = KeyReader()
        _ = reader.take(0x1B)
        _ = reader.take(UInt8(ascii: "["))
        _ = reader.take(first)
        _ = reader.take(second)
        _ = reader.finish()
        #expect(reader.take(UInt8(ascii: "x")) == .character("x"))
      }
    }
  }
}
