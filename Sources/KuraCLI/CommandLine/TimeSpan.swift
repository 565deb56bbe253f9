// SPDX-License-Identifier: MIT

/// Reads and writes a length of time as people do: `15m`, `8h`, `1h30m`.
struct TimeSpan: Equatable, Sendable {
  let milliseconds: UInt64

  /// In ms; nothing that is counted down to is further away.
  static let year: UInt64 = 366 * 86_400_000

  init(milliseconds: UInt64) { self.milliseconds = milliseconds }

  /// The units, largest first.
  private static let units: [(letter: String, word: String, milliseconds: UInt64)] = [
    ("d", "d", 86_400_000), ("h", "h", 3_600_000), ("m", "min", 60_000), ("s", "s", 1_000),
    ("ms", "ms", 1),
  ]

  /// Reads numbers with a unit each, largest unit first; a number without a unit is refused,
  /// since nobody agrees on what it counts.
  init?(_ text: [UInt8]) {
    var rest = text[...]
    var total: UInt64 = 0
    var next = 0
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      let word = rest[digits.endIndex...].prefix { $0 >= UInt8(ascii: "a") }
      rest = rest[word.endIndex...]
      guard let number = Decimal.parse(digits),
        let unit = Self.units.firstIndex(where: { $0.letter.utf8.elementsEqual(word) }),
        unit >= next
      else { return nil }
      next = unit + 1
      let (part, isTooLarge) = number.multipliedReportingOverflow(by: Self.units[unit].milliseconds)
      let (sum, isOver) = total.addingReportingOverflow(part)
      guard !isTooLarge, !isOver else { return nil }
      total = sum
    }
    milliseconds = total
  }

  /// The shortest text that ``init(_:)`` reads back: `1h30m`.
  var text: String {
    parts(limit: Self.units.count).reduce("") { $0 + "\($1.number)" + $1.letter }.orZero("0s")
  }

  /// For people: `15 min`, `1 h 30 min`; at most two units, the rest dropped.
  var words: String {
    parts(limit: 2).reduce("") { ($0.isEmpty ? "" : $0 + " ") + "\($1.number) " + $1.word }
      .orZero("0 s")
  }

  private func parts(limit: Int) -> [(number: UInt64, letter: String, word: String)] {
    var rest = milliseconds
    var parts: [(number: UInt64, letter: String, word: String)] = []
    for unit in Self.units where rest >= unit.milliseconds && parts.count < limit {
      parts.append((rest / unit.milliseconds, unit.letter, unit.word))
      rest %= unit.milliseconds
    }
    return parts
  }
}

extension String {
  fileprivate func orZero(_ zero: String) -> String { isEmpty ? zero : self }
}
