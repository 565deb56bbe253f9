// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Reads `NAME=VALUE` lines as kura(1) describes them under FILES OF VARIABLES. Nothing is
/// substituted, and no shell runs: where a shell would put in something else, reading ends, but at `${`
/// where references may have variables in them.
struct EnvironmentFile: ~Copyable {
  /// The most that is read of one file.
  static let limit = 1 << 20

  private let text: SecretBuffer
  private let expands: Bool
  private var position = 0
  /// The line that is being read, from 1.
  private(set) var line = 1
  /// Whether the last value has `${` where a shell would put in something else.
  private(set) var hasExpansion = false

  /// - Parameter expands: Whether a reference may have variables in it.
  init(_ text: consuming SecretBuffer, expands: Bool = false) {
    self.text = text
    self.expands = expands
    if self.text.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The next variable's name; nil at the end.
  ///
  /// - Parameters:
  ///   - value: Gets the value's bytes appended.
  ///   - start: The line that the variable begins in.
  mutating func next(
    into value: inout SecretBuffer, startingAt start: inout Int
  ) throws(CommandError) -> [UInt8]? {
    while let byte = peek() {
      switch byte {
      case Self.newline: advance()
      case Self.blank, Self.tab, Self.carriageReturn: position += 1
      case UInt8(ascii: "#"): skipLine()
      default:
        start = line
        hasExpansion = false
        let name = try name()
        try readValue(into: &value)
        return name
      }
    }
    return nil
  }

  static let newline = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let blank = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
}

// MARK: - Characters

extension EnvironmentFile {
  private func peek(_ ahead: Int = 0) -> UInt8? {
    let index = position + ahead
    return index < text.count ? text.bytes[index] : nil
  }

  private mutating func advance() {
    if peek() == Self.newline { line += 1 }
    position += 1
  }

  private mutating func skipBlanks() {
    while let byte = peek(), byte == Self.blank || byte == Self.tab { position += 1 }
  }

  private mutating func skipLine() {
    while let byte = peek(), byte != Self.newline { position += 1 }
  }

  /// Whether nothing but the line's end is left, which may be CR LF.
  private func isAtLineEnd() -> Bool {
    guard let byte = peek() else { return true }
    guard byte == Self.carriageReturn else { return byte == Self.newline }
    return peek(1) == nil || peek(1) == Self.newline
  }
}

// MARK: - Names

extension EnvironmentFile {
  private mutating func name() throws(CommandError) -> [UInt8] {
    var name = word()
    if name.elementsEqual("export".utf8), peek() == Self.blank || peek() == Self.tab {
      skipBlanks()
      if peek() != UInt8(ascii: "=") { name = word() }
    }
    skipBlanks()
    guard peek() == UInt8(ascii: "=") else { throw .syntax(isUTF16 ? .utf16 : .notAVariable) }
    guard VariableName.isValid(name) else { throw .syntax(.variableName) }
    position += 1
    return name
  }

  /// Whether it begins with the mark, or the first character, of a text in 16-bit units.
  private var isUTF16: Bool {
    guard text.count > 1 else { return false }
    let (first, second) = (text.bytes[0], text.bytes[1])
    return first == 0xFF && second == 0xFE || first == 0xFE && second == 0xFF || second == 0
      || first == 0
  }

  private mutating func word() -> [UInt8] {
    let start = position
    while let byte = peek(), byte != UInt8(ascii: "="), byte > Self.blank { position += 1 }
    return Array(copying: text.bytes.extracting(start..<position), limit: 256)
  }
}

/// Tells what a variable can be called.
enum VariableName {
  static func isValid(_ name: [UInt8]) -> Bool {
    guard let first = name.first, name.count < 256 else { return false }
    return name.allSatisfy { isLetter($0) || isDigit($0) } && !isDigit(first)
  }

  /// A text as a variable is called: in upper case, with `_` for all but ASCII letters and digits.
  static func made(of text: some Sequence<Unicode.Scalar>) -> [UInt8] {
    text.map { scalar in
      let byte = UInt8(truncatingIfNeeded: scalar.value)
      guard scalar.isASCII, isLetter(byte) || isDigit(byte) else { return UInt8(ascii: "_") }
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
  }
}

// MARK: - Values

extension EnvironmentFile {
  private mutating func readValue(into value: inout SecretBuffer) throws(CommandError) {
    skipBlanks()
    switch peek() {
    case UInt8(ascii: "'"):
      position += 1
      try readSingle(into: &value)
    case UInt8(ascii: "\""):
      position += 1
      try readDouble(into: &value)
    default: return try readPlain(into: &value)
    }
    try expectEnd()
  }

  /// To the end of the line or to a comment, without the blanks before that.
  private mutating func readPlain(into value: inout SecretBuffer) throws(CommandError) {
    var blanks = value.count
    while !isAtLineEnd(), let byte = peek() {
      let isBlank = byte == Self.blank || byte == Self.tab
      let afterBlank = value.count > blanks || peek(-1) == Self.blank || peek(-1) == Self.tab
      if byte == UInt8(ascii: "#"), afterBlank { break }
      // Lines that end in it alone would all be one value.
      if byte == Self.carriageReturn { throw .syntax(.carriageReturn) }
      try append(byte, to: &value)
      position += 1
      if !isBlank { blanks = value.count }
    }
    value.removeLast(value.count - blanks)
    skipLine()
  }

  private mutating func readSingle(into value: inout SecretBuffer) throws(CommandError) {
    while let byte = peek() {
      if byte == UInt8(ascii: "'") { return advance() }
      try append(byte, to: &value, substitutes: false)
      advance()
    }
    throw .syntax(.openQuote)
  }

  private mutating func readDouble(into value: inout SecretBuffer) throws(CommandError) {
    while let byte = peek() {
      if byte == UInt8(ascii: "\"") { return advance() }
      if byte == UInt8(ascii: "\\") {
        try append(try escaped(), to: &value, substitutes: false)
        position += 2
      } else {
        try append(byte, to: &value)
        advance()
      }
    }
    throw .syntax(.openQuote)
  }

  private func escaped() throws(CommandError) -> UInt8 {
    switch peek(1) {
    case UInt8(ascii: "n"): Self.newline
    case UInt8(ascii: "r"): Self.carriageReturn
    case UInt8(ascii: "t"): Self.tab
    case .some(let byte) where "\\\"$`".utf8.contains(byte): byte
    case nil: throw .syntax(.openQuote)
    default: throw .syntax(.escape)
    }
  }

  private mutating func expectEnd() throws(CommandError) {
    let closed = position
    skipBlanks()
    if peek() == UInt8(ascii: "#"), position > closed { return skipLine() }
    guard isAtLineEnd() else { throw .syntax(.behindQuote) }
  }

  private mutating func append(
    _ byte: UInt8, to value: inout SecretBuffer, substitutes: Bool = true
  ) throws(CommandError) {
    if byte == 0 { throw .syntax(.nul) }
    if substitutes, byte == UInt8(ascii: "`") || isExpansion(byte) {
      guard expands, byte == UInt8(ascii: "$"), peek(1) == UInt8(ascii: "{") else {
        throw .syntax(.substitution)
      }
      hasExpansion = true
    }
    do throws(SecureMemoryError) { try value.append(byte) } catch { throw .outOfMemory }
  }

  /// Whether a shell would put a value or a command's output here; a `$` before anything else
  /// stands for itself there, too.
  private func isExpansion(_ byte: UInt8) -> Bool {
    guard byte == UInt8(ascii: "$"), let following = peek(1) else { return false }
    return VariableName.isValid([following]) || "{(0123456789@*#?$!-".utf8.contains(following)
  }
}

extension Span<UInt8> {
  /// Whether these bytes come first.
  func starts(with other: [UInt8]) -> Bool {
    count >= other.count && other.indices.allSatisfy { self[$0] == other[$0] }
  }
}

extension [UInt8] {
  /// A copy of the first bytes, which are no secret.
  init(copying bytes: Span<UInt8>, limit: Int = .max) {
    self = []
    for index in bytes.indices where count < limit { append(bytes[index]) }
  }
}
