// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraUI

@Suite struct GridTests {
  @Test func `a wide character takes two cells, and none that it would be cut in`() throws {
    let grid = try Paper(1, 5)
    grid.put("日本語", 0, 0)
    #expect(grid.line(0) == "日本~")
    #expect(grid.cell(0, 1).isTail)
  }

  @Test func `a mark stands on the character before it, wherever that stands`() throws {
    let grid = try Paper(1, 8)
    grid.put("e\u{301}x日\u{308}", 0, 0)
    #expect(grid.cell(0, 0).marks.0 == 0x301)
    #expect(grid.line(0) == "e\u{301}x日\u{308}")
    grid.erase()
    grid.put("\u{301}a", 0, 0)
    #expect(grid.line(0) == "a")
  }

  @Test func `what a terminal would obey is spelled out`() throws {
    let grid = try Paper(1, 40)
    grid.put("a\u{1B}[2J\u{202E}b\u{9B}", 0, 0)
    #expect(grid.line(0) == "a\\x1B[2J\\u{202E}b\\x9B")
  }

  @Test func `without Unicode all that is not ASCII is spelled out`() throws {
    let grid = try Paper(1, 40, isUnicode: false)
    grid.put("naïve", 0, 0)
    #expect(grid.line(0) == "na\\xEFve")
  }

  @Test func `bytes that are no text are spelled out`() throws {
    let grid = try Paper(1, 40)
    let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x28, 0xE2, 0x82, 0xED, 0xA0, 0x80, 0x62]
    grid.put(secret: bytes)
    #expect(grid.line(0) == "a\\xFF\\xC3(\\xE2\\x82\\xED\\xA0\\x80b")
    #expect(grid.isSecret)
  }

  @Test func `half of a wide character does not stand alone`() throws {
    let grid = try Paper(1, 6)
    grid.put("日本", 0, 0)
    grid.put("x", 0, 1)
    #expect(grid.line(0) == " x本")
    grid.put("y", 0, 2)
    #expect(grid.line(0) == " xy")
  }

  @Test func `erasing leaves no cell`() throws {
    let grid = try Paper(2, 6)
    let bytes = Array("geheim".utf8)
    grid.put(secret: bytes)
    grid.erase()
    for column in 0..<6 { #expect(grid.cell(0, column) == Cell()) }
    #expect(!grid.isSecret)
  }

  @Test(arguments: [(1, 1), (1, 80), (24, 1), (2, 2), (3, 7)])
  func `no size is too small for any page`(_ size: (Int, Int)) throws {
    for page in [Page.list, .item, .history, .settings, .help] {
      let hand = Hand(["a/b", "日本語"])
      hand.open(shown("a/b"))
      hand.model.page = page
      _ = try hand.drawn(size.0, size.1)
      try hand.show("seven quiet herons")
      _ = try hand.drawn(size.0, size.1)
      hand.model.ways = Ways(hasRecoveryKey: true, hasKeyFile: true)
      hand.model.cover(Cover(isLocked: true, reason: "idle"))
      _ = try hand.drawn(size.0, size.1)
    }
  }
}
