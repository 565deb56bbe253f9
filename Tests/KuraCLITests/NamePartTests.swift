// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct NamePartTests {
  @Test(arguments: [
    ("github.com:443", "github.com:443"), ("a/b", "a%2Fb"), ("100%", "100%25"), ("a b", "a%20b"),
    (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), (".a", ".a"), ("", "%"), ("é", "%C3%A9"),
    ("\n\0\u{7F}", "%0A%00%7F"), ("[::1]", "[::1]"),
  ])
  func `a part says what it is made of`(_ text: String, _ part: String) {
    #expect(NamePart.encode(Array(text.utf8)) == part)
    #expect(NamePart.decode(part.utf8) == Array(text.utf8))
  }

  @Test func `no two byte strings become one part, and all come back`() {
    var seen: [String: [UInt8]] = [:]
    let alphabet: [UInt8] = [0, 0x20, 0x25, 0x2E, 0x2F, 0x32, 0x46, 0x66, 0x7F, 0xC3, 0xFF]
    var texts: [[UInt8]] = [[]]
    for _ in 0..<3 {
      for text in texts {
        let part = NamePart.encode(text)
        #expect(seen[part] == nil || seen[part] == text)
        #expect(!part.isEmpty && !part.contains("/") && part != "." && part != "..")
        #expect(NamePart.decode(part.utf8) == text)
        seen[part] = text
      }
      texts = texts.flatMap { text in alphabet.map { text + [$0] } }
    }
  }

  @Test(arguments: ["%2", "%zz", "%2f", "%41", "a/b", "é", "a b", ".", "..", "%%", ""])
  func `a part that is written another way is none`(_ part: String) {
    #expect(NamePart.decode(part.utf8) == nil)
  }

  @Test(arguments: [
    ("/home/ada/.ssh/id", "home/ada/.ssh/id"), ("id", "cwd/id"), ("./a//b/", "cwd/a/b"),
    ("/a b", "a%20b"),
  ])
  func `a path becomes parts`(_ path: String, _ parts: String) {
    #expect(NamePart.path(Array(path.utf8), from: Array("/cwd".utf8)) == parts)
  }

  @Test(arguments: ["/", "..", "/a/../b", "."])
  func `a path that leads elsewhere or nowhere has none`(_ path: String) {
    #expect(NamePart.path(Array(path.utf8), from: Array("/".utf8)) == nil)
  }
}
