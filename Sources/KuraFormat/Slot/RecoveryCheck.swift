// SPDX-License-Identifier: MIT

/// Writes five bits as a symbol of Crockford's base32 alphabet, and reads it back as people write it.
enum RecoveryAlphabet {
  private static let characters: [UInt8] = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  static func character(of symbol: UInt8) -> UInt8 { characters[Int(symbol)] }

  /// The symbol that a person meant, `nil` when it is none.
  static func symbol(of character: UInt8) -> UInt8? {
    switch character & 0xDF {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: break
    }
    let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
    let upper = isLower ? character & 0xDF : character
    return characters.firstIndex(of: upper).map { UInt8($0) }
  }

  static func isSeparator(_ character: UInt8) -> Bool {
    character == UInt8(ascii: "-") || character == UInt8(ascii: " ")
      || character == UInt8(ascii: "\t") || character == UInt8(ascii: "\n")
      || character == UInt8(ascii: "\r")
  }
}

/// Finds a symbol of a recovery key that was written down wrong: two Reed-Solomon words over GF(32), one of the
/// even data symbols and one of the odd ones, each of which locates one wrong symbol.
enum RecoveryCheck {
  private static let dataCount = 16
  private static let wordCount = 18

  /// Powers of 2 modulo x⁵ + x² + 1; the field's 31 elements but zero.
  private static let powers: [UInt8] = {
    var powers: [UInt8] = [1]
    while powers.count < 31 {
      let next = powers[powers.count - 1] << 1
      powers.append(next & 32 == 0 ? next : next ^ 0b100101)
    }
    return powers
  }()

  private static func logarithm(_ value: UInt8) -> Int { powers.firstIndex(of: value) ?? 0 }

  /// `value · 2^exponent`.
  private static func multiply(_ value: UInt8, power exponent: Int) -> UInt8 {
    value == 0 ? 0 : powers[(logarithm(value) + exponent) % 31]
  }

  /// Where the symbol `index` of a word stands among the 36.
  private static func place(_ index: Int, word: Int) -> Int { 2 * index + word }

  /// The two sums that are zero for a right word.
  private static func sums(
    _ symbols: Span<UInt8>, word: Int, count: Int
  ) -> (plain: UInt8, weighted: UInt8) {
    var sums: (plain: UInt8, weighted: UInt8) = (0, 0)
    for index in 0..<count {
      let symbol = symbols[place(index, word: word)]
      sums.plain ^= symbol
      sums.weighted ^= multiply(symbol, power: index)
    }
    return sums
  }

  /// The check symbols of a word.
  static func symbols(of data: Span<UInt8>, word: Int) -> (first: UInt8, second: UInt8) {
    let sums = sums(data, word: word, count: dataCount)
    let right = sums.weighted ^ multiply(sums.plain, power: dataCount)
    let divisor = logarithm(powers[dataCount] ^ powers[dataCount + 1])
    let second = multiply(right, power: 31 - divisor)
    return (sums.plain ^ second, second)
  }

  /// Checks 36 symbols.
  ///
  /// - Throws: ``FormatError/recoveryKeyInvalid(_:)``.
  static func verify(_ symbols: Span<UInt8>) throws(FormatError) {
    var group: Int?
    for word in 0..<2 {
      let sums = sums(symbols, word: word, count: wordCount)
      if sums.plain == 0, sums.weighted == 0 { continue }
      let index = (logarithm(sums.weighted) - logarithm(sums.plain) + 31) % 31
      guard sums.plain != 0, sums.weighted != 0, index < wordCount else {
        throw .recoveryKeyInvalid(.severalGroups)
      }
      let found = place(index, word: word) / 4 + 1
      guard group == nil || group == found else { throw .recoveryKeyInvalid(.severalGroups) }
      group = found
    }
    if let group { throw .recoveryKeyInvalid(.group(group)) }
  }
}
