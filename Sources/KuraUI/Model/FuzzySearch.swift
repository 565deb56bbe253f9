// SPDX-License-Identifier: MIT

/// Finds names by letters that stand in them in that order, and says how well.
struct FuzzySearch {
  /// The words that were typed, each to be found, in small letters.
  private let words: [[UInt8]]

  init(_ text: String) {
    words = text.utf8.split(separator: UInt8(ascii: " ")).map { $0.map(Self.small) }
  }

  /// Those of some names that fit, the best first.
  func matches(in table: NameTable, among candidates: [NameTable.Row]? = nil) -> [NameTable.Row] {
    var found: [(row: NameTable.Row, score: Int)] = []
    func look(_ row: NameTable.Row) {
      if let score = score(table.utf8(row.index)) { found.append((row, score)) }
    }
    if let candidates {
      for row in candidates { look(row) }
    } else {
      for index in 0..<table.count { look(NameTable.Row(index: index)) }
    }
    found.sort { ($1.score, $0.row.index) < ($0.score, $1.row.index) }
    return found.map(\.row)
  }

  /// How well a name fits; nil: not at all.
  func score(_ name: ArraySlice<UInt8>) -> Int? {
    var total = 0
    for word in words {
      guard let score = Self.score(word, in: name) else { return nil }
      total += score
    }
    // Of names that fit alike the shorter one was meant.
    return total * 64 - min(name.count, 1_024)
  }

  private static func score(_ word: [UInt8], in name: ArraySlice<UInt8>) -> Int? {
    var best: Int?
    var start = name.startIndex
    // From each place where it may begin: the first one is seldom the one that was meant.
    for _ in 0..<8 {
      guard let begin = name[start...].firstIndex(where: { small($0) == word[0] }) else { break }
      guard let score = score(word, in: name, from: begin) else { break }
      best = max(best ?? score, score)
      start = begin + 1
    }
    return best
  }

  private static func score(_ word: [UInt8], in name: ArraySlice<UInt8>, from begin: Int) -> Int? {
    var (at, last, score) = (begin, begin - 1, 0)
    for letter in word {
      guard let found = name[at...].firstIndex(where: { small($0) == letter }) else { return nil }
      let isStart = found == name.startIndex || isBreak(name[found - 1])
      score += isStart ? 8 : 1
      if found == last + 1, found > begin { score += 6 } else { score -= min(found - at, 5) }
      (at, last) = (found + 1, found)
    }
    return score
  }

  private static func small(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }

  private static func isBreak(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: " "):
      true
    default: false
    }
  }
}
