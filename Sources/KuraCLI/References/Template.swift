// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Fills in the references that stand in a text, as kura(1) describes it under TEMPLATES.
struct Template: ~Copyable {
  /// The most bytes that are read, and that are written.
  static let limit = 16 << 20
  /// The most references.
  static let referenceLimit = 10_000

  static var tooLong: CommandError {
    .failure("the result has more than \(limit >> 20) MiB; nothing was written")
  }

  /// Tells a reference from the text around it.
  private enum Part {
    /// Bytes of the template, as they stand.
    case text(Range<Int>)
    /// The value of the next reference.
    case value
  }

  private let text: SecretBuffer
  private let name: String?
  private var parts: [Part] = []
  private(set) var references: [PlacedReference] = []

  private var position = 0
  /// Where the text begins that is not yet in a part.
  private var pending = 0
  private var line = 1
  private var lineStart = 0

  /// Finds the references in a text.
  ///
  /// - Parameter name: The file it stands in, for messages; nil: stdin.
  init(_ text: consuming SecretBuffer, name: String?) throws(CommandError) {
    self.text = text
    self.name = name
    while position < self.text.count { try step() }
    endText(at: position)
  }

  /// The text with the values in the place of their references.
  ///
  /// - Parameter ranges: Where each reference's value stands among the values.
  consuming func filled(
    _ values: borrowing SecretBuffer, _ ranges: [Range<Int>]
  ) throws(CommandError) -> SecretBuffer {
    var result = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: text.count + values.count)
    }
    var next = 0
    do throws(SecureMemoryError) {
      for part in parts {
        switch part {
        case .text(let range): try result.append(text.bytes.extracting(range))
        case .value:
          try result.append(values.bytes.extracting(ranges[next]))
          next += 1
        }
      }
    } catch { throw .outOfMemory }
    guard result.count <= Self.limit else { throw Self.tooLong }
    return result
  }
}

// MARK: - Reading

extension Template {
  private static let backslash = UInt8(ascii: "\\")
  private static let open = UInt8(ascii: "{")
  private static let close = UInt8(ascii: "}")

  private mutating func step() throws(CommandError) {
    let byte = text.bytes[position]
    switch byte {
    case Self.backslash: return try readBackslashes()
    case UInt8(ascii: "\n"):
      line += 1
      lineStart = position + 1
    case Self.open:
      if let start = enclosedStart(position) { return try readEnclosed(from: start) }
    case UInt8(ascii: "k"), UInt8(ascii: "K"):
      if isBareStart(position) { return try readBare() }
    default: break
    }
    position += 1
  }

  /// Where the reference begins that `{{` at a place introduces; nil where that is plain text.
  private func enclosedStart(_ start: Int) -> Int? {
    let bytes = text.bytes
    guard start + 1 < bytes.count, bytes[start] == Self.open, bytes[start + 1] == Self.open else {
      return nil
    }
    var index = start + 2
    while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    return ItemReference.begins(bytes, at: index) ? index : nil
  }

  private func isBareStart(_ start: Int) -> Bool {
    guard ItemReference.begins(text.bytes, at: start) else { return false }
    return start == 0 || !ItemReference.joins(text.bytes[start - 1])
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private mutating func readBare() throws(CommandError) {
    let end = ItemReference.end(in: text.bytes, from: position)
    try add(position..<end, at: position)
    position = end
    pending = end
  }

  private mutating func readEnclosed(from start: Int) throws(CommandError) {
    guard let end = enclosedEnd(from: start) else {
      throw .placed(place(of: position), .syntax(.openBraces))
    }
    var last = end
    while last > start, Self.isBlank(text.bytes[last - 1]) { last -= 1 }
    try add(start..<last, at: position)
    position = end + 2
    pending = position
  }

  /// Where `}}` stands on the same line.
  private func enclosedEnd(from start: Int) -> Int? {
    let bytes = text.bytes
    var end = start
    while end + 1 < bytes.count, bytes[end] != UInt8(ascii: "\n") {
      if bytes[end] == Self.close, bytes[end + 1] == Self.close { return end }
      end += 1
    }
    return nil
  }

  /// Backslashes before a reference: two stand for one, and one left over makes it plain text.
  private mutating func readBackslashes() throws(CommandError) {
    let start = position
    while position < text.count, text.bytes[position] == Self.backslash { position += 1 }
    let enclosed = position < text.count ? enclosedStart(position) : nil
    guard enclosed != nil || isBareStart(position) else { return }
    let count = position - start
    endText(at: start + count / 2)
    pending = position
    guard count % 2 == 1 else { return }
    position = (enclosed ?? position) + ItemReference.scheme.utf8.count
  }

  /// Ends the text before a place.
  private mutating func endText(at end: Int) {
    if pending < end { parts.append(.text(pending..<end)) }
  }

  private mutating func add(_ range: Range<Int>, at start: Int) throws(CommandError) {
    endText(at: start)
    let place = place(of: start)
    guard references.count < Self.referenceLimit else {
      throw .placed(place, .syntax(.tooMany(Self.referenceLimit)))
    }
    let bytes = Array(copying: text.bytes.extracting(range))
    references.append(try PlacedReference(bytes, at: place))
    parts.append(.value)
  }

  /// Columns count characters, from 1.
  private func place(of start: Int) -> Place {
    var column = 1
    for index in lineStart..<start where text.bytes[index] & 0xC0 != 0x80 { column += 1 }
    return .character(line: line, column: column, of: name)
  }
}
