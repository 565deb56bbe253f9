// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@Suite struct RecoveryKeyTests {
  private let bits = (0..<20).map { UInt8($0 * 13) }

  private func text(_ bits: [UInt8]) throws -> String {
    let key = RecoveryKey(try secret(bits))
    return String(decoding: bytes(of: try key.text()), as: UTF8.self)
  }

  private func parse(_ text: String) throws -> [UInt8] {
    let text = Array(text.utf8)
    let key = try RecoveryKey.parse(text.span)
    return bytes(key.bytes)
  }

  private func rule(_ text: String) -> RecoveryKeyRule? {
    guard case .recoveryKeyInvalid(let rule)? = failure({ _ = try parse(text) }) else { return nil }
    return rule
  }

  @Test func `the text is 9 groups of 4 and reads back`() throws {
    let text = try text(bits)
    #expect(text.utf8.count == RecoveryKey.textByteCount)
    #expect(text.split(separator: "-").map(\.count) == [Int](repeating: 4, count: 9))
    #expect(try parse(text) == bits)
  }

  @Test func `zero bits are zeros, one bits are Zs`() throws {
    let zeros = try text([UInt8](repeating: 0, count: 20))
    #expect(zeros == "0000-0000-0000-0000-0000-0000-0000-0000-0000")
    let ones = try text([UInt8](repeating: 0xFF, count: 20))
    #expect(ones.hasPrefix("ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-"))
    #expect(try text([0x08] + [UInt8](repeating: 0, count: 19)).hasPrefix("1000-"))
  }

  @Test func `both words check out by the definition`() throws {
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    let symbols = try text(bits).filter { $0 != "-" }.map { alphabet.firstIndex(of: $0) ?? 99 }
    for word in 0..<2 {
      let values = stride(from: word, to: 36, by: 2).map { symbols[$0] }
      #expect(values.reduce(0, ^) == 0)
      let weighted = values.enumerated().map { index, value in
        (0..<index).reduce(value) { product, _ in
          product < 16 ? product * 2 : product * 2 ^ 0b100101
        }
      }
      #expect(weighted.reduce(0, ^) == 0)
    }
  }

  @Test func `people's ways of typing are understood`() throws {
    let text = try text(bits)
    let loose = text.lowercased().replacing("-", with: " ").replacing("0", with: "o")
    #expect(try parse(loose) == bits)
    #expect(try parse(text.replacing("1", with: "l").replacing("-", with: "")) == bits)
    #expect(try parse("  " + text.replacing("1", with: "I") + "\n") == bits)
  }

  @Test func `each single wrong symbol is located`() throws {
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    let right = Array(try text(bits))
    for index in right.indices where right[index] != "-" {
      for other in alphabet where other != right[index] {
        var wrong = right
        wrong[index] = other
        guard rule(String(wrong)) == .group(index / 5 + 1) else {
          Issue.record("symbol \(index) as \(other)")
          return
        }
      }
    }
  }

  @Test func `two neighbours exchanged in a group are located`() throws {
    var symbols = Array(try text(bits))
    try #require(symbols[5] != symbols[6])
    symbols.swapAt(5, 6)
    #expect(rule(String(symbols)) == .group(2))
  }

  @Test func `two wrong symbols are never taken for a right key`() throws {
    var state: UInt64 = 88
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    let right = Array(try text(bits))
    for _ in 0..<2000 {
      var wrong = right
      for _ in 0..<2 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let index = Int(state >> 33) % right.count
        if wrong[index] != "-" { wrong[index] = alphabet[Int(state >> 20) % 32] }
      }
      if wrong != right { #expect(rule(String(wrong)) != nil) }
    }
  }

  @Test func `what cannot be a symbol is named by its group`() throws {
    var symbols = Array(try text(bits))
    symbols[11] = "U"
    #expect(rule(String(symbols)) == .character(group: 3))
    symbols[1] = "ä"
    #expect(rule(String(symbols)) == .character(group: 1))
  }

  @Test func `too few or too many symbols are counted`() throws {
    let text = try text(bits)
    #expect(rule("") == .length(0))
    #expect(rule(String(text.dropLast())) == .length(35))
    #expect(rule(text + "0") == .length(37))
    #expect(rule(text + String(repeating: "0", count: 100_000)) == .length(100_036))
  }

  @Test func `random keys differ`() throws {
    let one = try RecoveryKey.random()
    let two = try RecoveryKey.random()
    #expect(bytes(one.bytes) != bytes(two.bytes))
  }
}
