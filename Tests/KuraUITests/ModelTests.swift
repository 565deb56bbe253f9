// SPDX-License-Identifier: MIT

import KuraClient
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraUI

@Suite struct CoverTests {
  @Test func `it begins covered, and Enter unlocks with what was typed`() throws {
    let hand = Hand(Cover(isLocked: true))
    #expect(hand.type("rjLq?").isEmpty)
    #expect(hand.press(.enter, now: 5) == [.unlock(.passcode)])
    #expect(hand.given() == "rjLq?")
    #expect(hand.given() == nil)
  }

  @Test func `Enter alone tries nothing, and nothing is tried twice at once`() {
    let hand = Hand(Cover(isLocked: true))
    #expect(hand.press(.enter, now: 5).isEmpty)
    hand.type("x")
    #expect(hand.press(.enter, now: 5) == [.unlock(.passcode)])
    #expect(hand.type("y").isEmpty)
    #expect(hand.press(.enter, now: 5).isEmpty)
  }

  @Test func `Tab asks for the recovery key where there is one`() throws {
    let hand = Hand(Cover(isLocked: true))
    hand.press(.tab, now: 1)
    #expect(try hand.drawn().contains("passcode:"))
    hand.model.ways.hasRecoveryKey = true
    hand.press(.tab, now: 1)
    hand.type("A")
    #expect(hand.press(.enter, now: 1) == [.unlock(.recoveryKey)])
  }

  @Test func `a key file's place is typed in sight, and shows nobody an unlocked vault`() throws {
    let hand = Hand(Cover(isLocked: true))
    hand.model.ways.hasKeyFile = true
    hand.model.ways.keyFile = "/media/stick/key"
    hand.press(.tab, now: 1)
    #expect(try hand.drawn().contains("key file: /media/stick/key"))
    #expect(hand.press(.enter, now: 1) == [.unlock(.keyFile)])
    #expect(hand.given() == "/media/stick/key")
    hand.model.cover(Cover(isLocked: false))
    #expect(try hand.drawn().contains("passcode:"))
    hand.press(.tab, now: 1)
    #expect(try hand.drawn().contains("passcode:"))
  }

  @Test func `a vault that has no passcode is asked for its recovery key`() throws {
    let hand = Hand(["a"])
    hand.model.ways = Ways(hasPasscode: false, hasRecoveryKey: true)
    hand.model.needsOwner(.unprotect("a"))
    #expect(try hand.drawn().contains("recovery key:"))
    hand.model.cover(Cover(isLocked: false))
    #expect(try hand.drawn().contains("recovery key:"))
    hand.type("A")
    #expect(hand.press(.enter, now: 1) == [.prove(.recoveryKey)])
  }

  @Test func `while the next try must wait no key is taken`() throws {
    let hand = Hand(Cover(isLocked: true))
    hand.model.refuse("wrong passcode", wait: 3_000, now: 1_000)
    #expect(hand.type("abc").isEmpty)
    #expect(hand.press(.enter, now: 1_000).isEmpty)
    #expect(try hand.drawn(24, 80).contains("the next try is possible in 3 s"))
    #expect(hand.nextTick(1_000) == 1_060)
    #expect(hand.nextTick(1_500) == 2_000)
    #expect(try hand.drawn(now: 4_000).contains("passcode:"))
  }

  @Test func `what is wrong moves the bullets to and fro, and ends where they were`() throws {
    let cover = Cover(isLocked: true, wrongAt: 1_000)
    #expect([1_000, 1_060, 1_120, 1_180].map { cover.offset(now: $0) } == [-2, 2, -1, 0])
    let still = Hand(Cover(isLocked: true), moves: false)
    still.model.refuse("wrong passcode", wait: 0, now: 1_000)
    #expect(still.cover?.offset(now: 1_000) == 0)
  }

  @Test func `keys are taken while the bullets move`() {
    let hand = Hand(Cover(isLocked: true))
    hand.model.refuse("wrong passcode", wait: 0, now: 1_000)
    hand.type("rj")
    #expect(hand.press(.enter, now: 1_001) == [.unlock(.passcode)])
    #expect(hand.given() == "rj")
  }

  @Test func `a cover forgets all but the place`() throws {
    let hand = Hand(["a", "b", "c"])
    hand.press(.down)
    hand.open(shown("b"))
    try hand.show("herons")
    #expect(try hand.drawn(24, 80).contains("herons"))
    hand.model.cover(Cover(isLocked: true))
    let covered = try hand.drawn(24, 80)
    #expect(!covered.contains("herons") && !covered.contains("b\n"))
    #expect(hand.openName == nil && hand.count == 0)
    let follows = hand.model.uncover(now: 2_000)
    #expect(follows == [.load])
    let next = hand.model.loaded(NameTable(["a", "b", "c"].map { ($0, []) }))
    #expect(next == [.show("b")])
    hand.open(shown("b"))
    #expect(hand.page == .item && !hand.isShown)
  }

  @Test func `two minutes without a key cover a screen`() {
    let hand = Hand(["a"])
    #expect(hand.nextTick(1_000) == 121_000)
    _ = hand.tick(120_999)
    #expect(hand.cover == nil)
    _ = hand.tick(121_000)
    #expect(hand.cover?.isLocked == false)
    hand.type("x")
    #expect(hand.press(.enter, now: 130_000) == [.prove(.passcode)])
  }

  @Test func `a lock while a line is typed drops the line`() throws {
    let hand = Hand(["a"])
    hand.type("n")
    hand.type("half a name")
    hand.model.cover(Cover(isLocked: true))
    hand.type("p")
    #expect(hand.press(.enter, now: 1) == [.unlock(.passcode)])
    #expect(hand.given() == "p")
  }
}

func shown(
  _ name: String, size: UInt64 = 6, kind: ItemKind = .value, protection: ProtectionClass = .standard
) -> ShownItem {
  ShownItem(
    item: Item(
      name: name,
      facts: ItemFacts(
        revision: 3, size: size, created: 0, modified: 0, protection: protection, kind: kind),
      attributes: [Attribute(key: "user", value: Array("ada".utf8))]),
    revisions: [1, 2])
}

@Suite struct ItemPageTests {
  private func open(_ item: ShownItem) -> Hand {
    let hand = Hand([item.item.name])
    hand.open(item)
    return hand
  }

  @Test func `a value is shown when asked for, and hidden after ten seconds`() throws {
    let hand = open(shown("a"))
    #expect(hand.press(.enter, now: 1_000) == [.reveal("a", revision: 0, field: nil)])
    try hand.show("herons")
    #expect(hand.isShown)
    #expect(hand.nextTick(10_500) == 11_000)
    _ = hand.tick(10_999)
    #expect(hand.isShown)
    _ = hand.tick(11_000)
    #expect(!hand.isShown)
    #expect(try hand.drawn().contains("herons") == false)
  }

  @Test func `a gigabyte is not asked for, and said`() throws {
    let hand = open(shown("a", size: 1 << 30))
    #expect(hand.press(.enter, now: 1).isEmpty)
    #expect(try hand.drawn(24, 80).contains("1.0 GiB, not shown"))
  }

  @Test func `a code is asked for at once, and again when it is over`() throws {
    let hand = Hand(["a"])
    #expect(hand.open(shown("a", kind: .otp)) == [.code("a")])
    hand.model.coded(try SecretBytes(copying: "123456".utf8.span), left: 12_000, now: 1_000)
    #expect(try hand.drawn(24, 80).contains("123456  good for 12 s"))
    #expect(hand.tick(12_999).isEmpty)
    #expect(hand.tick(13_000) == [.code("a")])
    #expect(hand.tick(13_001).isEmpty)
  }

  @Test func `secret attributes are shown one by one, a seed gives codes, and all is copied`()
    throws
  {
    let hand = Hand(["a"])
    let secrets = [("otp", UInt64(40)), ("pin", 4)].map { OpenItem.Secret(key: $0.0, size: $0.1) }
    #expect(hand.open(shown("a"), secrets: secrets) == [.code("a")])
    let page = try hand.drawn(24, 80)
    for line in ["code", "pin            secret, 4 bytes", "user           ada"] {
      #expect(page.contains(line), "\(line) in \(page)")
    }
    #expect(hand.press(.character("c")) == [.copy("a", .value, isProtected: false)])
    #expect(hand.press(.character("o")) == [.copy("a", .code, isProtected: false)])
    try hand.show("herons")
    hand.press(.tab)
    #expect(!hand.isShown)
    #expect(hand.press(.enter) == [.reveal("a", revision: 0, field: "otp")])
    hand.press(.tab)
    #expect(hand.press(.enter) == [.reveal("a", revision: 0, field: "pin")])
    #expect(hand.press(.character("c")) == [.copy("a", .field("pin"), isProtected: false)])
    try hand.show("4711")
    #expect(try hand.drawn(24, 80).contains("pin            4711"))
    #expect(hand.press(.enter).isEmpty)
    #expect(!hand.isShown)
    hand.press(.tab)
    #expect(hand.press(.enter) == [.reveal("a", revision: 0, field: nil)])
  }

  @Test func `a code that stands is not asked for twice with the owner's word`() throws {
    let hand = Hand(["a"])
    hand.open(shown("a", protection: .protected))
    #expect(!hand.awaitsCode)
    hand.model.item?.secrets = [OpenItem.Secret(key: "otp", size: 40)]
    #expect(hand.awaitsCode)
    // One of a counter is good until the next.
    hand.model.coded(try SecretBytes(copying: "123456".utf8.span), left: 0, now: 1_000)
    #expect(!hand.awaitsCode)
  }

  @Test func `deleting asks, and can be undone`() {
    let hand = open(shown("a"))
    #expect(hand.type("d").isEmpty)
    #expect(hand.type("n").isEmpty)
    #expect(hand.type("dy") == [.remove("a", revision: 3)])
    _ = hand.model.removed("a")
    #expect(hand.page == .list)
    #expect(hand.type("u") == [.restore("a", revision: 0)])
    #expect(hand.type("u").isEmpty)
  }

  @Test func `a value is stored over the revision that was seen`() throws {
    let hand = open(shown("a"))
    hand.type("enew")
    #expect(hand.press(.enter, now: 1) == [.store("a", over: 3)])
    let typed = try #require(hand.given())
    hand.model.conflicted("a", current: 5, try SecretBytes(copying: typed.utf8.span))
    #expect(try hand.drawn(24, 100).contains("somebody else changed it"))
    #expect(hand.type("y") == [.store("a", over: 5)])
    #expect(hand.given() == "new")
  }

  @Test func `a value that nobody stores over another's is dropped`() throws {
    let hand = open(shown("a"))
    hand.model.conflicted("a", current: 5, try SecretBytes(copying: "mine".utf8.span))
    #expect(hand.type("n").isEmpty)
    #expect(hand.given() == nil)
  }

  @Test func `an empty attribute is deleted`() {
    let hand = open(shown("a"))
    hand.type("auser")
    hand.press(.enter, now: 1)
    #expect(hand.press(.enter, now: 1) == [.attribute("a", key: "user", value: nil)])
  }

  @Test func `what takes the owner's word asks for it and goes on`() {
    let hand = open(shown("a", protection: .protected))
    #expect(hand.type("py") == [.unprotect("a")])
    hand.model.needsOwner(.unprotect("a"))
    hand.type("x")
    #expect(hand.press(.enter, now: 1) == [.byOwner(.unprotect("a"))])
  }

  @Test func `a typed value is hidden until Tab`() throws {
    let hand = open(shown("a"))
    hand.type("egeheim")
    #expect(try hand.drawn().contains("geheim") == false)
    hand.press(.tab, now: 1)
    #expect(try hand.drawn(24, 80).contains("geheim"))
  }
}

@Suite struct ListPageTests {
  @Test func `typing searches, and letters are keys before that`() {
    let hand = Hand(["quiet", "loud"])
    #expect(hand.type("/qu").isEmpty)
    #expect(hand.name == "quiet" && hand.count == 1)
    #expect(hand.press(.enter, now: 1) == [.show("quiet")])
    #expect(hand.type("q") == [.quit])
  }

  @Test func `a picker hands out a name, and nothing else`() {
    let hand = Hand(["quiet", "loud"], isPicker: true)
    hand.type("lo")
    #expect(hand.press(.enter, now: 1) == [.pick("loud")])
    #expect(hand.press(.escape, now: 1) == [.quit])
  }

  @Test func `a click chooses a row`() {
    let hand = Hand(["a", "b", "c"])
    hand.press(.click(row: 4, column: 3), now: 1)
    #expect(hand.name == "c")
    hand.press(.click(row: 0, column: 0), now: 1)
    #expect(hand.name == "c")
    #expect(hand.press(.click(row: 4, column: 3), now: 1) == [.show("c")])
    #expect(hand.press(.click(row: 3, column: 3), now: 1).isEmpty)
    #expect(hand.name == "b")
  }

  @Test func `settings are written and read in the units of config`() {
    #expect(Amount.words(900_000, .idleTimeout) == "15m")
    #expect(Amount.parse("15m", .idleTimeout) == 900_000)
    #expect(Amount.parse("15", .idleTimeout) == nil)
    #expect(Amount.parse("off", .lockOnSleep) == 0)
    #expect(Amount.parse("99999999999999999999d", .idleTimeout) == nil)
  }
}

@Suite struct LinearWordTests {
  @Test func `a word's beginning is enough where it is the only one`() {
    #expect(TypedLine<ListWord>("f  nte ").word == .find)
    #expect(TypedLine<ListWord>("find  n te ").operand == "n te")
    #expect(TypedLine<ListWord>("l").word == nil)
    #expect(TypedLine<ListWord>("lo").word == .lock)
    #expect(TypedLine<ItemWord>("re").word == nil)
    #expect(TypedLine<ItemWord>("EDIT").word == .edit)
    #expect(TypedLine<ItemWord>("edi").word == nil)
    #expect(TypedLine<ItemWord>("").word == nil)
    #expect(TypedLine<ItemWord>("findx").word == nil)
  }

  @Test func `each word's help begins with the word`() {
    for word in ListWord.allCases { #expect(word.help.hasPrefix(word.rawValue)) }
    for word in ItemWord.allCases { #expect(word.help.hasPrefix(word.rawValue)) }
  }
}
