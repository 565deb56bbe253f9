// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

/// The key of the attribute that is meant.
private func key(_ reference: ItemReference) -> String? {
  guard case .attribute(let key) = reference.part else { return nil }
  return key
}

struct ItemReferenceTests {
  @Test func `a name alone`() throws {
    let reference = try ItemReference("kura://com.example.juice/userIdentifier")
    #expect(reference.vault == nil)
    #expect(reference.name == "com.example.juice/userIdentifier")
    #expect(reference.part == .value)
  }

  @Test func `a vault and an attribute`() throws {
    let reference = try ItemReference("kura://@work/mail/me?attr=url")
    #expect(reference.vault == "work")
    #expect(reference.name == "mail/me")
    #expect(reference.part == .attribute("url"))
  }

  @Test func `a one-time code`() throws {
    let reference = try ItemReference("kura://@work/mail/me?otp")
    #expect(reference.name == "mail/me" && reference.part == .code)
    #expect(try ItemReference("kura://a?attr=otp").part == .attribute("otp"))
  }

  @Test func `another item of the same vault`() throws {
    let other = try ItemReference("kura://@work/app/?attr=x").naming("app/y?z")
    #expect(other.vault == "work" && other.name == "app/y?z" && other.part == .value)
  }

  @Test func `escapes stand for bytes`() throws {
    let reference = try ItemReference("kura://%40a%3Fb%25c/%C3%A9?attr=a%20b")
    #expect(reference.name == "@a?b%c/é")
    #expect(reference.part == .attribute("a b"))
  }

  @Test(arguments: [
    ("kura://", ItemReference.Flaw.nameMissing),
    ("kura://@work/", .nameMissing),
    ("kura://@work", .vaultMissing),
    ("kura://@/a", .vaultMissing),
    ("kura://a?b", .query),
    ("kura://a?attr=", .query),
    ("kura://a?attr=b&attr=c", .query),
    ("kura://a?attr=b?attr=c", .query),
    ("kura://a?", .query),
    ("kura://a?OTP", .query),
    ("kura://a?otp=1", .query),
    ("kura://a?otp?otp", .query),
    ("kura:/a", .scheme),
    ("KURA://a", .scheme),
    ("", .scheme),
    ("kura://@", .vaultMissing),
    ("kura://%", .escape),
    ("kura://@%/a", .escape),
    ("kura://a?attr=%", .escape),
    ("kura://@%ff/a", .notUTF8),
    ("kura://a%2", .escape),
    ("kura://a%zz", .escape),
    ("kura://a%ff", .notUTF8),
  ])
  func `what is no reference is told apart`(_ text: String, _ flaw: ItemReference.Flaw) {
    #expect(throws: flaw) { try ItemReference(text) }
  }

  @Test func `only the scheme makes a reference`() {
    #expect(ItemReference.isReference("kura://a"))
    #expect(!ItemReference.isReference("kura:/a"))
    #expect(!ItemReference.isReference("a/kura://"))
  }

  private func begins(_ text: String, at start: Int = 0) -> Bool {
    let bytes = Array(text.utf8)
    return ItemReference.begins(bytes.span, at: start)
  }

  @Test(arguments: ["kura://a", "KURA://a", "Kura://"])
  func `a text means a reference in upper case, too`(_ text: String) {
    #expect(begins(text))
    #expect(begins("x" + text, at: 1))
    #expect(!begins(text, at: 1))
    #expect(!begins(text, at: text.utf8.count))
    #expect(!begins(text, at: -1))
  }

  @Test(arguments: ["kura:/a", "kura:", "", "kurb://a", "[URA://a", "kura\u{1A}//a", "kura:\u{F}/"])
  func `what only resembles one means none`(_ text: String) { #expect(!begins(text)) }

  @Test(arguments: [
    ("kura://a/b-c._~d:e+f@g%20?attr=h, more", "kura://a/b-c._~d:e+f@g%20?attr=h"),
    ("kura://a\"", "kura://a"), ("kura://a&b", "kura://a"), ("kura://a}", "kura://a"),
    ("kura://日本\n", "kura://日本"), ("kura://a", "kura://a"),
  ])
  func `a bare reference ends where its characters do`(_ text: String, _ bare: String) {
    let bytes = Array(text.utf8)
    let end = ItemReference.end(in: bytes.span, from: 0)
    #expect(end == bare.utf8.count)
  }
}

/// References made of random parts; the generator is seeded, so that a failure can be had again.
struct RandomReferenceTests {
  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// Escapes every byte that could mean something, and others at random.
  private static func written(_ text: String, _ random: inout Random) -> String {
    text.utf8.map { byte in
      let isPlain = byte > 0x20 && byte < 0x7F && !"%?@&/".utf8.contains(byte)
      guard !isPlain || Int.random(in: 0..<4, using: &random) == 0 else {
        return String(UnicodeScalar(byte))
      }
      let digits = String(byte, radix: 16, uppercase: Bool.random(using: &random))
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  private static func text(_ random: inout Random) -> String {
    let characters: [Character] = [
      "a", "Z", "0", "%", "?", "@", "&", "=", "/", " ", "é", "日", "🗝", "\u{0}", "\n", "\"", "+",
      ":",
    ]
    let count = Int.random(in: 1...12, using: &random)
    return String((0..<count).map { _ in characters.randomElement(using: &random)! })
  }

  @Test func `what is written by the rules is read back as it was meant`() throws {
    var random = Random(state: 1)
    for _ in 0..<5_000 {
      let name = Self.text(&random)
      let vault = Bool.random(using: &random) ? Self.text(&random) : nil
      let key = Bool.random(using: &random) ? Self.text(&random) : nil
      var written = "kura://"
      if let vault { written += "@" + Self.written(vault, &random) + "/" }
      written += Self.written(name, &random)
      if let key { written += "?attr=" + Self.written(key, &random) }
      let reference = try ItemReference(written)
      #expect(Array(reference.name.utf8) == Array(name.utf8), "\(written)")
      #expect(reference.vault.map { Array($0.utf8) } == vault.map { Array($0.utf8) }, "\(written)")
      #expect(
        KuraProtocolTests.key(reference).map { Array($0.utf8) } == key.map { Array($0.utf8) },
        "\(written)")
    }
  }

  @Test func `a name that is escaped is read back, and is a bare reference`() throws {
    var random = Random(state: 3)
    for _ in 0..<2_000 {
      let name = Self.text(&random)
      let written = "kura://" + ItemReference.escaped(name)
      #expect(Array(try ItemReference(written).name.utf8) == Array(name.utf8), "\(written)")
      let bytes = Array(written.utf8)
      let end = ItemReference.end(in: bytes.span, from: 0)
      #expect(end == bytes.count, "\(written)")
    }
  }

  @Test(arguments: [
    ("kura://a/b", "a/b"), ("kura://@work/a", "@work/a"),
    ("kura://a%3Fb?attr=user", "a?b?attr=user"),
    ("kura://@w/a?otp", "@w/a?otp"),
  ])
  func `its words say what is meant`(_ text: String, _ words: String) throws {
    #expect(try ItemReference(text).words == words)
  }

  @Test func `any bytes are a reference or have a flaw, and the parts are never empty`() {
    var random = Random(state: 2)
    let alphabet = Array("kura:/@?%=&attrKURA01fF".utf8) + [0, 0x0A, 0x80, 0xC3, 0xA9, 0xFF]
    var read = 0
    for _ in 0..<20_000 {
      let head = Bool.random(using: &random) ? Array("kura://".utf8) : []
      let count = Int.random(in: 0...24, using: &random)
      let bytes = head + (0..<count).map { _ in alphabet.randomElement(using: &random)! }
      guard let reference = try? ItemReference(bytes: bytes) else { continue }
      read += 1
      #expect(bytes.starts(with: "kura://".utf8))
      #expect(!reference.name.isEmpty && reference.vault != "" && key(reference) != "")
    }
    #expect(read > 1_000)
  }
}
