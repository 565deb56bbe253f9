// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraMask

/// Finds values, named v0, v1 and so on.
func finding(_ values: [[UInt8]]) throws -> NeedleSet {
  var set = try NeedleSet()
  for (index, value) in values.enumerated() {
    let name = Array("v\(index)".utf8)
    _ = try set.add(value.span, named: name.span)
  }
  set.finish()
  return set
}

/// Masks a text that is given in pieces.
func masked(_ pieces: [[UInt8]], _ set: borrowing NeedleSet) throws -> [UInt8] {
  var masker = try Masker()
  var output = try MaskedText()
  for piece in pieces { try masker.write(piece.span, set, to: &output) }
  try masker.finish(set, to: &output)
  return (0..<output.bytes.count).map { output.bytes.bytes[$0] }
}

func masked(_ text: String, _ values: String...) throws -> String {
  let set = try finding(values.map { Array($0.utf8) })
  return String(decoding: try masked([Array(text.utf8)], set), as: UTF8.self)
}

@Suite struct MaskerTests {
  @Test func `a value is replaced by its name`() throws {
    #expect(try masked("the juice is hunter22, ok", "hunter22") == "the juice is [kura: v0], ok")
    #expect(try masked("hunter2hunter22hunter22", "hunter22") == "hunter2[kura: v0][kura: v0]")
  }

  @Test func `what overlaps is masked as one`() throws {
    #expect(try masked("xabcdefghijx", "abcdefg", "defghij", "cdefgh") == "x[kura: v0]x")
    #expect(try masked("aaaaaaaaaaaaaa!", "aaaaaa") == "[kura: v0]!")
  }

  @Test func `a colour within a value stays, behind the name`() throws {
    #expect(
      try masked("x hun\u{1B}[31mter2\u{1B}[0m2 y", "hunter22")
        == "x [kura: v0]\u{1B}[31m\u{1B}[0m y")
    #expect(
      try masked("\u{1B}[31mhunter22\u{1B}[0m", "hunter22")
        == "\u{1B}[31m[kura: v0]\u{1B}[0m")
    #expect(try masked("\u{1B}]0;hunter22\u{7}", "hunter22") == "\u{1B}]0;[kura: v0]\u{7}")
    #expect(try masked("hun\u{1B}[3\nter22", "hunter22") == "hun\u{1B}[3\nter22")
    #expect(try masked("a\u{1B}[3mbcdef", "a\u{1B}[3mbc") == "[kura: v0]def")
  }

  @Test func `a beginning at the end is masked from six bytes on`() throws {
    #expect(try masked("x hunter", "hunter22") == "x [kura: v0]")
    #expect(try masked("x hunte", "hunter22") == "x hunte")
  }
}
