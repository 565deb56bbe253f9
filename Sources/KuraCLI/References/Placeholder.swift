// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Holds what stands in a text where a value goes: `{{ kura://NAME ?? DEFAULT | FILTER }}`.
struct Placeholder: Equatable, Sendable {
  let source: PlacedReference
  /// Which bytes of the text stand in where there is no such item or attribute; nil: that is an error.
  let fallback: Range<Int>?
  /// How the value is written for the place that it stands in; nil: as it is.
  let filter: Filter?

  init(_ source: PlacedReference, fallback: Range<Int>? = nil, filter: Filter? = nil) {
    self.source = source
    self.fallback = fallback
    self.filter = filter
  }

  /// Reads what stands between the braces, from the reference on.
  init(
    _ text: Span<UInt8>, _ inner: Range<Int>, _ dialect: ReferenceDialect, at place: Place
  ) throws(CommandError) {
    var end = Self.operatorStart(text, inner) ?? inner.upperBound
    let bytes = Array(copying: text.extracting(inner.lowerBound..<Self.trimmed(text, inner, end)))
    var fallback: Range<Int>?
    var filter: Filter?
    do throws(SyntaxFlaw) {
      if end < inner.upperBound, text[end] == Self.question {
        (fallback, end) = try Self.fallback(text, end + 2..<inner.upperBound)
      }
      if end < inner.upperBound { filter = try Self.filter(text, end + 1..<inner.upperBound) }
    } catch { throw .placed(place, .syntax(error)) }
    self.init(try dialect.read(bytes, at: place), fallback: fallback, filter: filter)
  }
}

// MARK: - Reading

extension Placeholder {
  private static let question = UInt8(ascii: "?")
  private static let quote = UInt8(ascii: "\"")
  private static let bar = UInt8(ascii: "|")

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// Where `??` or `|` stands behind a blank: only there they are no part of a name.
  private static func operatorStart(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
    range.first { index in
      guard index > range.lowerBound, isBlank(text[index - 1]) else { return false }
      if text[index] == bar { return true }
      return text[index] == question && index + 1 < range.upperBound && text[index + 1] == question
    }
  }

  /// Where a text ends without the blanks behind it.
  private static func trimmed(_ text: Span<UInt8>, _ range: Range<Int>, _ end: Int) -> Int {
    var end = end
    while end > range.lowerBound, isBlank(text[end - 1]) { end -= 1 }
    return end
  }

  /// The text behind `??`, in quotes or up to a filter, and where it ends.
  private static func fallback(
    _ text: Span<UInt8>, _ range: Range<Int>
  ) throws(SyntaxFlaw) -> (Range<Int>, end: Int) {
    guard let start = range.first(where: { !isBlank(text[$0]) }) else { throw .fallbackMissing }
    guard text[start] == quote else {
      // A bar directly behind `??` begins a filter: there is no text.
      let rest = start - 1..<range.upperBound
      let end = operatorStart(text, rest) ?? range.upperBound
      let last = trimmed(text, range, end)
      guard last > start, end == range.upperBound || text[end] == bar else {
        throw .fallbackMissing
      }
      return (start..<last, end)
    }
    guard let close = (start + 1..<range.upperBound).first(where: { text[$0] == quote }) else {
      throw .openQuote
    }
    guard let next = (close + 1..<range.upperBound).first(where: { !isBlank(text[$0]) }) else {
      return (start + 1..<close, range.upperBound)
    }
    guard next > close + 1, text[next] == bar else { throw .behindFallback }
    return (start + 1..<close, next)
  }

  private static func filter(
    _ text: Span<UInt8>, _ range: Range<Int>
  ) throws(SyntaxFlaw) -> Filter {
    guard let start = range.first(where: { !isBlank(text[$0]) }) else { throw .filterUnknown }
    let name = Array(copying: text.extracting(start..<trimmed(text, range, range.upperBound)))
    guard let filter = Filter.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) else {
      throw .filterUnknown
    }
    return filter
  }
}
