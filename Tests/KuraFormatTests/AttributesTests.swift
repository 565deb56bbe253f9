// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

/// Attributes as a client sends them.
func encoded(_ attributes: [(String, String)]) -> [UInt8] {
  var encoded = little(UInt16(attributes.count))
  for (key, value) in attributes {
    encoded += little(UInt16(key.utf8.count)) + Array(key.utf8)
    encoded += little(UInt32(value.utf8.count)) + Array(value.utf8)
  }
  return encoded
}

/// What a list holds, in its order.
func pairs(_ list: AttributeList) -> [String] {
  var pairs: [String] = []
  var cursor = list.makeCursor()
  while cursor.advance() {
    let text = bytes(cursor.key) + [61] + bytes(cursor.value)
    pairs.append(String(decoding: text, as: UTF8.self))
  }
  return pairs
}

@Suite struct AttributesTests {
  @Test func `attributes are sorted by key`() throws {
    let sent = encoded([("url", "https://x"), ("a", ""), ("user", "mo"), ("ab", "2")])
    let attributes = try Attributes(unsorted: sent.span)
    #expect(pairs(attributes.list) == ["a=", "ab=2", "url=https://x", "user=mo"])
    let sorted = encoded([("a", ""), ("ab", "2"), ("url", "https://x"), ("user", "mo")])
    #expect(bytes(attributes.list.bytes) == sorted)
  }

  @Test func `a value is found by its key`() throws {
    let sent = encoded([("url", "https://x"), ("user", "mo")])
    let attributes = try Attributes(unsorted: sent.span)
    #expect(value("user", in: attributes.list) == "mo")
    #expect(value("use", in: attributes.list) == nil)
    #expect(value("users", in: attributes.list) == nil)
    #expect(value("", in: attributes.list) == nil)
  }

  @Test func `keys are composed, values are kept as they are`() throws {
    let sent = encoded([("cafe\u{301}", "cafe\u{301}\nb")])
    let attributes = try Attributes(unsorted: sent.span)
    #expect(bytes(attributes.list.bytes) == encoded([("caf\u{E9}", "cafe\u{301}\nb")]))
  }

  @Test func `setting replaces, adds in order, and removing forgets`() throws {
    var attributes = try Attributes.empty()
    for (key, value) in [("b", "1"), ("a", "2"), ("c", "3"), ("b", "4")] {
      let key = try secret(key)
      let value = try secret(value)
      attributes = try attributes.setting(key.bytes, to: value.bytes)
    }
    #expect(pairs(attributes.list) == ["a=2", "b=4", "c=3"])
    for key in ["b", "x"] {
      let key = try secret(key)
      attributes = try attributes.removing(key.bytes)
    }
    #expect(pairs(attributes.list) == ["a=2", "c=3"])
  }

  @Test func `merging sets all of the other list`() throws {
    let (old, new) = (encoded([("a", "1"), ("b", "2")]), encoded([("b", "3"), ("c", "4")]))
    let left = try Attributes(unsorted: old.span)
    let right = try Attributes(unsorted: new.span)
    let merged = try left.merging(right.list)
    #expect(pairs(merged.list) == ["a=1", "b=3", "c=4"])
  }

  @Test(
    arguments: [
      ([("", "x")], AttributeRule.keyEmpty), ([("a=b", "x")], .keyCharacter),
      ([("a\nb", "x")], .keyCharacter), ([("a", "x"), ("a", "y")], .keyRepeated),
      ([("e\u{301}", "x"), ("\u{E9}", "y")], .keyRepeated), ([("a", "x\u{0}")], .valueNotText),
      ([(String(repeating: "k", count: 256), "x")], .keyTooLong),
      ([("a", String(repeating: "v", count: 65_537))], .tooLarge),
      ((0..<257).map { ("k\($0)", "") }, .tooMany),
    ] as [([(String, String)], AttributeRule)])
  func `what cannot be stored is refused for its reason`(
    attributes: [(String, String)], rule: AttributeRule
  ) {
    let sent = encoded(attributes)
    #expect(failure { _ = try Attributes(unsorted: sent.span) } == .attributesInvalid(rule))
  }

  @Test func `256 attributes and the longest key fit`() throws {
    let most = (0..<255).map { ("k\($0)", "v") } + [(String(repeating: "k", count: 255), "")]
    let sent = encoded(most)
    let attributes = try Attributes(unsorted: sent.span)
    #expect(attributes.list.count == 256)
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [97, 0],
    ] as [[UInt8]])
  func `a value that is not UTF-8 is refused`(value: [UInt8]) {
    let sent = [1, 0, 1, 0, 97] + little(UInt32(value.count)) + value
    #expect(
      failure { _ = try Attributes(unsorted: sent.span) } == .attributesInvalid(.valueNotText))
  }

  @Test func `cut or mutated lists are refused or read, never a trap`() {
    let sent = encoded([("url", "https://x"), ("a", ""), ("cafe\u{301}", "mo")])
    for cut in cuts(sent) {
      #expect(failure { _ = try Attributes(unsorted: cut.span) } == .damaged)
    }
    for changed in Mutations(of: sent, count: 10_000) {
      _ = failure { _ = try Attributes(unsorted: changed.span) }
    }
  }

  private func value(_ key: String, in list: AttributeList) -> String? {
    let key = Array(key.utf8)
    guard let value = list.value(of: key.span) else { return nil }
    return String(decoding: bytes(value), as: UTF8.self)
  }
}
