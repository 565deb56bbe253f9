// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

private func sorted(_ names: [String], rest: (Int) -> [UInt8] = { _ in [] }) -> [String] {
  var sorter = ItemSorter()
  for (index, name) in names.enumerated() {
    let rest = rest(index)
    sorter.append(name.utf8.span, rest.span)
  }
  var result: [String] = []
  sorter.visit { (key: Span<UInt8>, rest: Span<UInt8>) throws(Never) in
    result.append(key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }
  return result
}

@Suite struct ItemSorterTests {
  @Test func `names are sorted by their bytes`() {
    let names = ["zeta", "a/b", "a", "a.b", "Z", "Übung", "ab", "漢", "\u{E9}", "e\u{301}", ""]
    #expect(sorted(names) == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test func `a name comes before those that go on after it`() {
    #expect(sorted(["aa", "a", "aaa"]) == ["a", "aa", "aaa"])
  }

  @Test func `names that begin alike are sorted by what follows, byte for byte`() {
    let ends = ["", "\0", "\0\0", "0", "00", "0\0", "~", "\u{FF}", "01234567", "012345678"]
    let starts = ["", "1234567", "12345678", "123456789", "0123456789abcdef", "0123456789abcdefg"]
    let names = starts.flatMap { start in ends.map { start + $0 } }
    let expected = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for _ in 0..<20 { #expect(sorted(names.shuffled()) == expected) }
  }

  @Test func `many need more than one block, and each keeps what belongs to it`() {
    var sorter = ItemSorter()
    let count = 40_000
    for index in 0..<count {
      let name = "item-\((index * 7_919) % count)"
      let rest = Array(repeating: UInt8(index % 251), count: index % 97)
      sorter.append(name.utf8.span, rest.span)
    }
    var last = ""
    var seen = 0
    var wrong = 0
    sorter.visit { (key: Span<UInt8>, rest: Span<UInt8>) throws(Never) in
      let name = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      let bytes = rest.withUnsafeBytes { Array($0) }
      if !last.utf8.lexicographicallyPrecedes(name.utf8) || Set(bytes).count > 1 { wrong += 1 }
      last = name
      seen += 1
    }
    #expect(seen == count)
    #expect(wrong == 0)
  }

  @Test func `nothing sorts to nothing`() {
    #expect(sorted([]).isEmpty)
  }
}
