// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@Suite struct PasscodeTests {
  @Test(arguments: [
    ("plain ascii 123", "plain ascii 123"),
    ("A\u{30A}ngstro\u{308}m", "\u{C5}ngstr\u{F6}m"), ("\u{212B}", "\u{C5}"), ("\u{C5}", "\u{C5}"),
    ("a\u{3000}b\u{A0}c\u{2003}d", "a b c d"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
    ("\u{1F469}\u{200D}\u{1F4BB}", "\u{1F469}\u{200D}\u{1F4BB}"), ("\u{FB01}", "\u{FB01}"),
    ("\u{1F82}", "\u{1F82}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{37E}", ";"), (" ", " "),
  ])
  func `the same characters give the same bytes`(typed: String, prepared: String) throws {
    #expect(try prepare(Array(typed.utf8)) == Array(prepared.utf8))
    #expect(try prepare(Array(prepared.utf8)) == Array(prepared.utf8))
  }

  @Test(arguments: [
    ([], TextRule.empty), ([0], .controlCharacter), ([10], .controlCharacter),
    ([97, 0x7F], .controlCharacter), ([0xC2, 0x85], .controlCharacter), ([0x80], .notUTF8),
    ([0xC0, 0x80], .notUTF8), ([0xC1, 0xBF], .notUTF8), ([0xE0, 0x80, 0x80], .notUTF8),
    ([0xED, 0xA0, 0x80], .notUTF8), ([0xF0, 0x80, 0x80, 0x80], .notUTF8),
    ([0xF4, 0x90, 0x80, 0x80], .notUTF8), ([0xF5, 0x80, 0x80, 0x80], .notUTF8),
    ([0xC3], .notUTF8), ([0xE2, 0x82], .notUTF8), ([0xC3, 0x28], .notUTF8), ([0xFF], .notUTF8),
    ([0xEF, 0xBF, 0xBF], .unassignedCharacter), ([0xCD, 0xB8], .unassignedCharacter),
  ])
  func `what is no text is refused for its reason`(typed: [UInt8], rule: TextRule) {
    #expect(failure { _ = try prepare(typed) } == .passcodeInvalid(rule))
  }

  @Test func `the length counts after preparation`() throws {
    let longest = [UInt8](repeating: 97, count: 1024)
    #expect(try prepare(longest) == longest)
    #expect(failure { _ = try prepare(longest + [97]) } == .passcodeInvalid(.tooLong))
    // 512 letters of three bytes each, which compose to two bytes each.
    let decomposed = Array(String(repeating: "u\u{308}", count: 512).utf8)
    #expect(try prepare(decomposed).count == 1024)
    #expect(failure { _ = try prepare(decomposed + [97]) } == .passcodeInvalid(.tooLong))
    let huge = [UInt8](repeating: 0xC3, count: 10_000_000)
    #expect(failure { _ = try prepare(huge) } == .passcodeInvalid(.tooLong))
  }

  @Test func `every character is prepared once and for all`() throws {
    for scalar in (0x20...0x2FFFF).compactMap(Unicode.Scalar.init) where scalar.value != 0x7F {
      let typed = Array(String(Character(scalar)).utf8)
      guard let once = try? prepare(typed) else { continue }
      guard try prepare(once) == once else {
        Issue.record("U+\(String(scalar.value, radix: 16))")
        return
      }
    }
  }

  @Test func `mutated texts are refused or prepared, never a trap`() {
    let parts = [
      "A\u{30A}\u{212B} ", "\u{1112}\u{1161}\u{11AB} \u{1F469}\u{200D}\u{1F4BB}/",
      "e\u{323}\u{307}",
    ]
    let text = Array(parts.joined().utf8)
    var (prepared, refused) = (0, 0)
    for changed in Mutations(of: text, count: 20_000) {
      guard let once = try? prepare(changed) else {
        refused += 1
        continue
      }
      prepared += 1
      #expect(String(validating: once, as: UTF8.self) != nil)
      #expect((try? prepare(once)) == once)
    }
    #expect(prepared > 0 && refused > 0)
  }

  private func prepare(_ typed: [UInt8]) throws -> [UInt8] {
    bytes(of: try Passcode.prepare(typed.span))
  }
}

@Suite struct ItemNameTests {
  @Test(arguments: [
    "com.example.juice/userIdentifier", "a", "a b/..c/d.", "...", "\u{1F469}\u{200D}\u{1F4BB}",
    String(repeating: "n", count: 1024),
  ])
  func `a name is kept as it is`(name: String) throws {
    #expect(try normalized(Array(name.utf8)) == Array(name.utf8))
  }

  @Test func `a name is composed, its spaces stay`() throws {
    #expect(try normalized(Array("cafe\u{301}\u{A0}x".utf8)) == Array("caf\u{E9}\u{A0}x".utf8))
  }

  @Test(arguments: [
    ("", NameRule.empty), ("/", .emptyComponent), ("/a", .emptyComponent),
    ("a/", .emptyComponent), ("a//b", .emptyComponent), (".", .dotComponent),
    ("..", .dotComponent), ("a/./b", .dotComponent), ("../b", .dotComponent),
    ("a/..", .dotComponent), ("a\nb", .controlCharacter),
    ("a\u{0}", .controlCharacter), ("a\u{9B}b", .controlCharacter),
    (String(repeating: "n", count: 1025), .tooLong),
  ])
  func `what is no name is refused for its reason`(name: String, rule: NameRule) {
    #expect(failure { _ = try normalized(Array(name.utf8)) } == .nameInvalid(rule))
  }

  @Test func `the tag is the keyed hash of the composed name`() throws {
    let key = try key(from: 1)
    let typed = Array("cafe\u{301}".utf8)
    let tag = try ItemName(typed.span).tag(under: key)
    #expect(try tag.bytes == hash([Array("caf\u{E9}".utf8)], key: key, count: 16))
  }

  @Test func `the start of a name may end anywhere`() throws {
    let start = Array("cafe\u{301}/".utf8)
    #expect(bytes(of: try ItemName.normalize(start.span)) == Array("caf\u{E9}/".utf8))
    #expect(bytes(of: try ItemName.normalize(Span())) == [])
  }

  private func normalized(_ name: [UInt8]) throws -> [UInt8] {
    let name = try ItemName(name.span)
    return bytes(name.bytes)
  }
}
