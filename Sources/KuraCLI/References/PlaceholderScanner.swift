// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Finds the placeholders of a text, as kura(1) describes them under TEMPLATES.
struct PlaceholderScanner {
  /// Says what kind of text it is.
  enum Origin {
    /// A template, of a file or of stdin: nil. References stand in it without braces, too.
    case template(String?)
    /// A value of a variable, which a message calls by its place.
    case value(Place)
  }

  /// The most references.
  static let limit = 10_000

  private let origin: Origin
  private let dialect: ReferenceDialect
  private(set) var pieces: [Piece] = []
  private var count = 0

  private var position = 0
  /// Where the text begins that is not yet in a piece.
  private var pending = 0
  private var line = 1
  private var lineStart = 0

  /// Finds the pieces of a part of a text.
  static func pieces(
    of text: Span<UInt8>, in range: Range<Int>, _ origin: Origin, _ dialect: ReferenceDialect
  ) throws(CommandError) -> [Piece] {
    var scanner = PlaceholderScanner(origin, dialect, at: range.lowerBound)
    let text = text.extracting(..<range.upperBound)
    while scanner.position < text.count { try scanner.step(text) }
    scanner.endText(at: text.count)
    return scanner.pieces
  }

  private init(_ origin: Origin, _ dialect: ReferenceDialect, at start: Int) {
    self.origin = origin
    self.dialect = dialect
    (position, pending, lineStart) = (start, start, start)
  }
}

// MARK: - Reading

extension PlaceholderScanner {
  private static let backslash = UInt8(ascii: "\\")
  private static let open = UInt8(ascii: "{")
  private static let close = UInt8(ascii: "}")

  private mutating func step(_ text: Span<UInt8>) throws(CommandError) {
    switch text[position] {
    case Self.backslash: return try readBackslashes(text)
    case UInt8(ascii: "\n"):
      line += 1
      lineStart = position + 1
    case Self.open:
      if let start = enclosedStart(text, position) { return try readEnclosed(text, from: start) }
    default: if isBareStart(text, position) { return try readBare(text) }
    }
    position += 1
  }

  /// Where the reference begins that `{{` at a place introduces; nil where that is plain text.
  private func enclosedStart(_ text: Span<UInt8>, _ start: Int) -> Int? {
    guard start + 1 < text.count, text[start] == Self.open, text[start + 1] == Self.open else {
      return nil
    }
    var index = start + 2
    while index < text.count, Placeholder.isBlank(text[index]) { index += 1 }
    return dialect.begins(text, at: index) ? index : nil
  }

  private func isBareStart(_ text: Span<UInt8>, _ start: Int) -> Bool {
    guard dialect.begins(text, at: start) else { return false }
    switch origin {
    case .template: return start == 0 || !ItemReference.joins(text[start - 1])
    case .value: return true
    }
  }

  private mutating func readBare(_ text: Span<UInt8>) throws(CommandError) {
    let start = place(of: position, text)
    guard case .template = origin else { throw .placed(start, .syntax(.referenceInside)) }
    let end = ItemReference.end(in: text, from: position)
    let bytes = Array(copying: text.extracting(position..<end))
    try add(Placeholder(try dialect.read(bytes, at: start)), position..<end, text)
  }

  private mutating func readEnclosed(
    _ text: Span<UInt8>, from start: Int
  ) throws(CommandError) {
    let place = place(of: position, text)
    guard let end = enclosedEnd(text, from: start) else {
      throw .placed(place, .syntax(.openBraces))
    }
    let placeholder = try Placeholder(text, start..<end, dialect, at: place)
    try add(placeholder, position..<end + 2, text)
  }

  /// Where `}}` stands on the same line.
  private func enclosedEnd(_ text: Span<UInt8>, from start: Int) -> Int? {
    var end = start
    while end + 1 < text.count, text[end] != UInt8(ascii: "\n") {
      if text[end] == Self.close, text[end + 1] == Self.close { return end }
      end += 1
    }
    return nil
  }

  /// Backslashes before a reference: two stand for one, and one left over makes it plain text.
  private mutating func readBackslashes(_ text: Span<UInt8>) throws(CommandError) {
    let start = position
    while position < text.count, text[position] == Self.backslash { position += 1 }
    let enclosed = position < text.count ? enclosedStart(text, position) : nil
    guard enclosed != nil || isBareStart(text, position) else { return }
    let count = position - start
    endText(at: start + count / 2)
    pending = position
    guard count % 2 == 1 else { return }
    let reference = enclosed ?? position
    while text[position] != UInt8(ascii: "/") { position += 1 }
    position = max(position, reference) + 2
  }

  /// Ends the text before a place.
  private mutating func endText(at end: Int) {
    if pending < end { pieces.append(.text(pending..<end)) }
  }

  private mutating func add(
    _ placeholder: Placeholder, _ range: Range<Int>, _ text: Span<UInt8>
  ) throws(CommandError) {
    endText(at: range.lowerBound)
    guard count < Self.limit else {
      throw .placed(placeholder.source.place, .syntax(.tooMany(Self.limit)))
    }
    pieces.append(.placeholder(placeholder))
    count += 1
    (position, pending) = (range.upperBound, range.upperBound)
  }

  /// Columns count characters, from 1.
  private func place(of start: Int, _ text: Span<UInt8>) -> Place {
    switch origin {
    case .value(let place): return place
    case .template(let name):
      var column = 1
      for index in lineStart..<start where text[index] & 0xC0 != 0x80 { column += 1 }
      return .character(line: line, column: column, of: name)
    }
  }
}
