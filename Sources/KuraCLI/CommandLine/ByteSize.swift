// SPDX-License-Identifier: MIT

/// Reads and writes a size in bytes as people do: `256MiB`, `4.9 MiB`.
struct ByteSize: Equatable, Sendable {
  let count: UInt64

  init(count: UInt64) { self.count = count }

  private static let units: [(word: String, shift: UInt64)] = [
    ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0), ("", 0),
  ]

  /// Reads a whole number with `KiB`, `MiB`, `GiB`, `B` or nothing behind it. `MB` is refused:
  /// half the world means something else by it.
  init?(_ text: [UInt8]) {
    let digits = text.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let word = text[digits.endIndex...]
    guard let number = Decimal.parse(digits),
      let unit = Self.units.first(where: { $0.word.utf8.elementsEqual(word) })
    else { return nil }
    let (count, isTooLarge) = number.multipliedReportingOverflow(by: 1 << unit.shift)
    guard !isTooLarge else { return nil }
    self.count = count
  }

  /// For people: `44 B`, `4.9 MiB`, rounded down to a tenth.
  var words: String {
    guard let unit = Self.units.first(where: { $0.shift > 0 && count >> $0.shift > 0 }) else {
      return "\(count) B"
    }
    let tenths = ((count >> (unit.shift - 10)) * 10) >> 10
    return "\(tenths / 10).\(tenths % 10) " + unit.word
  }
}
