// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Says how a value is made up, and makes it.
enum Recipe: Equatable, Sendable {
  /// So many characters, at least one out of each class.
  case characters(Int, [CharacterClass], isUnambiguous: Bool)
  /// So many words that can be said, which mean nothing.
  case words(Int)

  /// What is made where nothing else is asked for.
  static let standard = Recipe.characters(20, CharacterClass.allCases, isUnambiguous: false)

  static let lengths = 1...1_024
  static let wordCounts = 1...64
}

/// Lists characters of one sort.
enum CharacterClass: String, CaseIterable, Sendable {
  case lower, upper, digits, symbols

  /// The characters, ASCII. Quotes, backquote and backslash are none of the symbols: they are what
  /// breaks when a value is pasted between quotes.
  func characters(isUnambiguous: Bool) -> [UInt8] {
    let all: String =
      switch self {
      case .lower: "abcdefghijklmnopqrstuvwxyz"
      case .upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
      case .digits: "0123456789"
      case .symbols: "!#$%&()*+,-./:;<=>?@[]^_{|}~"
      }
    guard isUnambiguous else { return Array(all.utf8) }
    let alike = Array("0O1lI|".utf8)
    return all.utf8.filter { !alike.contains($0) }
  }
}

// MARK: - As text

extension Recipe {
  /// Reads what stands behind `--generate=`: a length, names of classes, `no-ambiguous` or `words:N`,
  /// with commas between.
  init(_ text: [UInt8]) throws(UsageError) {
    var length: Int?
    var classes: [CharacterClass] = []
    var isUnambiguous = false
    for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      if part.starts(with: "words:".utf8) {
        guard part.count == text.count, let count = Decimal.parse(part.dropFirst(6)) else {
          throw Self.notARecipe(text)
        }
        self = try Recipe(words: count)
        return
      }
      if let found = CharacterClass.allCases.first(where: { $0.rawValue.utf8.elementsEqual(part) })
      {
        classes.append(found)
      } else if part.elementsEqual("no-ambiguous".utf8) {
        isUnambiguous = true
      } else if length == nil, let number = Decimal.parse(part) {
        length = Int(clamping: number)
      } else {
        throw Self.notARecipe(text)
      }
    }
    try self.init(length: length, classes, isUnambiguous: isUnambiguous)
  }

  private static func notARecipe(_ text: [UInt8]) -> UsageError {
    UsageError(
      "a value cannot be made by " + Diagnostic.quoted(text),
      hint:
        "write a length, lower, upper, digits, symbols, no-ambiguous, or words:N, as in 24,lower,digits"
    )
  }

  /// Characters; without any class all of them.
  init(
    length: Int?, _ classes: [CharacterClass], isUnambiguous: Bool
  ) throws(UsageError) {
    let length = length ?? 20
    guard Self.lengths.contains(length) else {
      throw UsageError(
        "a value is made with \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) characters")
    }
    let wanted = CharacterClass.allCases.filter { classes.isEmpty || classes.contains($0) }
    guard length >= wanted.count else {
      throw UsageError(
        "\(length) characters have no room for one out of each of \(wanted.count) classes",
        hint: "name fewer classes, or a greater length")
    }
    self = .characters(length, wanted, isUnambiguous: isUnambiguous)
  }

  init(words count: UInt64) throws(UsageError) {
    guard let count = Int(exactly: count), Self.wordCounts.contains(count) else {
      throw UsageError("a value is made of 1 to \(Self.wordCounts.upperBound) words")
    }
    self = .words(count)
  }
}

// MARK: - Making

extension Recipe {
  /// A new value, each that the recipe allows as likely as any other.
  func make() throws(CommandError) -> SecretBytes {
    var source = try RandomSource()
    switch self {
    case .characters(let length, let classes, let isUnambiguous):
      return try Self.characters(
        length, classes.map { $0.characters(isUnambiguous: isUnambiguous) }, &source)
    case .words(let count): return try Self.words(count, &source)
    }
  }

  /// A value that lacks a class is thrown away whole: to mend it would make some likelier than others.
  private static func characters(
    _ length: Int, _ classes: [[UInt8]], _ source: inout RandomSource
  ) throws(CommandError) -> SecretBytes {
    let alphabet = classes.flatMap { $0 }
    var value = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: length) }
    while true {
      for index in 0..<length {
        let one: InlineArray<1, UInt8> = [alphabet[try source.number(below: alphabet.count)]]
        value.overwrite(at: index, with: one.span)
      }
      if hasAll(classes, value.bytes) { return value }
    }
  }

  private static func hasAll(_ classes: [[UInt8]], _ value: Span<UInt8>) -> Bool {
    classes.allSatisfy { characters in
      for index in value.indices where characters.contains(value[index]) { return true }
      return false
    }
  }

  /// Proquints (D. S. Wilkerson, arXiv:0901.4016): consonant and vowel by turns, 16 bits a word.
  private static func words(
    _ count: Int, _ source: inout RandomSource
  ) throws(CommandError) -> SecretBytes {
    let (consonants, vowels) = (Array("bdfghjklmnprstvz".utf8), Array("aiou".utf8))
    let length = 6 * count - 1
    var value = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: length) }
    for index in 0..<length {
      let character: UInt8 =
        switch index % 6 {
        case 5: UInt8(ascii: "-")
        case 1, 3: vowels[try source.number(below: vowels.count)]
        default: consonants[try source.number(below: consonants.count)]
        }
      let one: InlineArray<1, UInt8> = [character]
      value.overwrite(at: index, with: one.span)
    }
    return value
  }
}

// MARK: - Entropy

extension Recipe {
  /// The bits of entropy that a made value has, in tenths, rounded down: the logarithm of how many the
  /// recipe allows, which are equally likely.
  var entropyTenths: Int {
    switch self {
    case .words(let count): return 160 * count
    case .characters(let length, let classes, let isUnambiguous):
      let counts = classes.map { $0.characters(isUnambiguous: isUnambiguous).count }
      let all = counts.reduce(0, +)
      let bits =
        Double(length) * Self.log2(Double(all)) + Self.log2(Self.share(length, counts, of: all))
      return Int(bits * 10 + 1e-6)
    }
  }

  /// The part of all values that have each class in them, by inclusion and exclusion.
  private static func share(_ length: Int, _ counts: [Int], of all: Int) -> Double {
    var share = 0.0
    for missing in 0..<(1 << counts.count) {
      var (left, sign) = (all, 1.0)
      for index in counts.indices where missing & (1 << index) != 0 {
        left -= counts[index]
        sign = -sign
      }
      var part = sign
      for _ in 0..<length { part *= Double(left) / Double(all) }
      share += part
    }
    return share
  }

  /// The logarithm to base 2 of a positive number, exact to some 40 bits; the client links no libm.
  private static func log2(_ number: Double) -> Double {
    var (rest, result) = (number, 0.0)
    while rest >= 2 { (rest, result) = (rest / 2, result + 1) }
    while rest < 1 { (rest, result) = (rest * 2, result - 1) }
    var bit = 0.5
    for _ in 0..<40 {
      rest *= rest
      if rest >= 2 { (rest, result) = (rest / 2, result + bit) }
      bit /= 2
    }
    return result
  }

  /// The entropy, in words.
  var entropyWords: String {
    "entropy: \(entropyTenths / 10).\(entropyTenths % 10) bits"
  }
}
