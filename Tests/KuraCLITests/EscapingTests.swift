// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

/// What a terminal would get, fed in parts of `size` bytes.
private func escaped(_ bytes: [UInt8], _ style: Escaping.Style, size: Int = .max) throws -> String {
  var escaping = Escaping(style)
  var out = try SecretBuffer(capacity: 64)
  for start in stride(from: 0, to: bytes.count, by: size) {
    let part = Array(bytes[start..<(min(bytes.count - start, size) + start)])
    try escaping.append(part.span, to: &out)
  }
  try escaping.finish(into: &out)
  return out.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}

@Suite struct EscapingTests {
  static let cases: [(String, String)] = [
    ("plain", "plain"), ("Übung 漢字 🗝", "Übung 漢字 🗝"), ("a\u{1B}[31mb", "a\\x1B[31mb"),
    ("a\u{7}", "a\\x07"), ("a\u{7F}b", "a\\x7Fb"), ("a\u{9B}1m", "a\\u{9B}1m"),
    ("a\u{202E}b", "a\\u{202E}b"), ("a\u{2067}b", "a\\u{2067}b"), ("\u{FEFF}", "\\u{FEFF}"),
    ("C:\\path", "C:\\path"), ("a\rb", "a\\x0Db"),
  ]

  @Test(arguments: cases)
  func `what a terminal obeys is shown instead`(_ row: (String, String)) throws {
    #expect(try escaped(Array(row.0.utf8), .line) == row.1)
    #expect(try escaped(Array(row.0.utf8), .text) == row.1)
  }

  @Test func `newlines and tabs stay in a text, not in a line`() throws {
    let bytes = Array("a\tb\nc".utf8)
    #expect(try escaped(bytes, .text) == "a\tb\nc")
    #expect(try escaped(bytes, .line) == "a\\x09b\\x0Ac")
  }

  @Test(
    arguments: [
      ([0x61, 0xFF, 0x62], "a\\xFFb"), ([0xC3], "\\xC3"), ([0xC3, 0x28], "\\xC3("),
      ([0xE2, 0x82], "\\xE2\\x82"), ([0xE2, 0x82, 0xE2, 0x82, 0xAC], "\\xE2\\x82€"),
      ([0xED, 0xA0, 0x80], "\\xED\\xA0\\x80"), ([0xC0, 0xAF], "\\xC0\\xAF"),
      ([0xF4, 0x90, 0x80, 0x80], "\\xF4\\x90\\x80\\x80"), ([0xC2, 0x9B], "\\u{9B}"),
    ] as [([UInt8], String)])
  func `bytes that are no text are shown as numbers`(_ row: ([UInt8], String)) throws {
    #expect(try escaped(row.0, .line) == row.1)
  }

  @Test func `a character may be cut between two parts`() throws {
    let bytes = Array("a漢\u{1B}🗝\u{9B}é".utf8) + [0xFF, 0xE2, 0x82]
    let whole = try escaped(bytes, .text)
    for size in 1...5 { #expect(try escaped(bytes, .text, size: size) == whole) }
  }

  @Test func `every byte that comes out of any two bytes is harmless`() throws {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let text = try escaped([first, second], .line)
        let isHarmless = text.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0 != "\u{FFFD}"
        }
        guard isHarmless else {
          Issue.record("\(first) \(second): \(text)")
          return
        }
      }
    }
  }
}

@Suite struct UTF8ScannerTests {
  @Test func `it takes exactly what Swift takes`() {
    let starts: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
      0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    let rests: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xFF]
    for a in starts {
      for b in rests {
        for c in rests {
          for d in rests {
            for count in 1...4 {
              let bytes = Array([a, b, c, d].prefix(count))
              let isText = String(validating: bytes, as: UTF8.self) != nil
              guard UTF8Scanner.isText(bytes.span) == isText else {
                Issue.record("\(bytes)")
                return
              }
            }
          }
        }
      }
    }
  }
}
