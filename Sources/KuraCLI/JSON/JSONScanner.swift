// SPDX-License-Identifier: MIT

/// Checks a JSON text from its first byte to its last, and notes where its values stand. For the texts
/// behind the first it needs no more memory than for the longest.
struct JSONScanner {
  /// How deep values may stand in each other.
  static let depth = 16
  /// How many values there may be.
  static let limit = 1_024

  /// In the order of the text; the first is the whole.
  private(set) var nodes: [JSONDocument.Node] = []
  private var index = 0

  /// Reads one value and what space is around it.
  mutating func scan(_ text: Span<UInt8>) throws(JSONFlaw) {
    nodes.removeAll(keepingCapacity: true)
    index = 0
    skipSpace(text)
    try value(text, parent: -1, key: 0..<0, depth: 0)
    skipSpace(text)
    if index < text.count { throw flaw(.unexpected) }
  }

  private func flaw(_ kind: JSONFlaw.Kind) -> JSONFlaw { JSONFlaw(kind: kind, offset: index) }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while index < text.count {
      switch text[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return
      }
    }
  }

  private func next(_ text: Span<UInt8>) throws(JSONFlaw) -> UInt8 {
    guard index < text.count else { throw flaw(.ended) }
    return text[index]
  }

  private mutating func takes(_ byte: Unicode.Scalar, _ text: Span<UInt8>) -> Bool {
    guard index < text.count, text[index] == UInt8(ascii: byte) else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ byte: Unicode.Scalar, _ text: Span<UInt8>) throws(JSONFlaw) {
    _ = try next(text)
    guard takes(byte, text) else { throw flaw(.unexpected) }
  }
}

// MARK: - Values

extension JSONScanner {
  private mutating func value(
    _ text: Span<UInt8>, parent: Int, key: Range<Int>, depth: Int
  ) throws(JSONFlaw) {
    guard nodes.count < Self.limit else { throw flaw(.tooMany) }
    let own = nodes.count
    let kind: JSONDocument.Kind
    switch try next(text) {
    case UInt8(ascii: "{"): kind = .object
    case UInt8(ascii: "["): kind = .array
    case UInt8(ascii: "\""): kind = .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .number
    default: kind = .literal
    }
    let start = index
    nodes.append(JSONDocument.Node(parent: parent, key: key, kind: kind, range: start..<start))
    switch kind {
    case .object: try object(text, own, depth: depth + 1)
    case .array: try array(text, own, depth: depth + 1)
    case .string: nodes[own].range = try string(text)
    case .number: try number(text)
    case .literal: try literal(text)
    }
    if kind != .string { nodes[own].range = start..<index }
  }

  private mutating func object(
    _ text: Span<UInt8>, _ own: Int, depth: Int
  ) throws(JSONFlaw) {
    guard depth <= Self.depth else { throw flaw(.tooDeep) }
    index += 1
    skipSpace(text)
    if takes("}", text) { return }
    repeat {
      skipSpace(text)
      let start = index
      guard try next(text) == UInt8(ascii: "\"") else { throw flaw(.unexpected) }
      let key = try string(text)
      for node in nodes[own...] where node.parent == own && Self.isSame(text, node.key, key) {
        throw JSONFlaw(kind: .repeatedKey, offset: start)
      }
      skipSpace(text)
      try expect(":", text)
      skipSpace(text)
      try value(text, parent: own, key: key, depth: depth)
      skipSpace(text)
    } while takes(",", text)
    try expect("}", text)
  }

  private mutating func array(
    _ text: Span<UInt8>, _ own: Int, depth: Int
  ) throws(JSONFlaw) {
    guard depth <= Self.depth else { throw flaw(.tooDeep) }
    index += 1
    skipSpace(text)
    if takes("]", text) { return }
    repeat {
      skipSpace(text)
      try value(text, parent: own, key: 0..<0, depth: depth)
      skipSpace(text)
    } while takes(",", text)
    try expect("]", text)
  }

  private mutating func number(_ text: Span<UInt8>) throws(JSONFlaw) {
    _ = takes("-", text)
    if !takes("0", text) { try digits(text) }
    if takes(".", text) { try digits(text) }
    if takes("e", text) || takes("E", text) {
      _ = takes("+", text) || takes("-", text)
      try digits(text)
    }
  }

  private mutating func digits(_ text: Span<UInt8>) throws(JSONFlaw) {
    let start = index
    while index < text.count, text[index] >= 0x30, text[index] <= 0x39 { index += 1 }
    guard index > start else { throw flaw(index < text.count ? .unexpected : .ended) }
  }

  private mutating func literal(_ text: Span<UInt8>) throws(JSONFlaw) {
    for word in ["true", "false", "null"] {
      let end = index + word.utf8.count
      guard end <= text.count else { continue }
      var offset = index
      guard
        word.utf8.allSatisfy({ byte in
          defer { offset += 1 }
          return text[offset] == byte
        })
      else { continue }
      index = end
      return
    }
    throw flaw(.unexpected)
  }
}

// MARK: - Strings

extension JSONScanner {
  /// Where the content of a string stands that begins here.
  private mutating func string(_ text: Span<UInt8>) throws(JSONFlaw) -> Range<Int> {
    index += 1
    let start = index
    var scanner = UTF8Scanner()
    while true {
      if scanner.count == 0 { skipPlain(text) }
      let byte = try next(text)
      if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        switch scanner.take(byte) {
        case .pending, .character: index += 1
        case .broken, .invalid: throw flaw(.notUTF8)
        }
        continue
      }
      if scanner.count > 0 { throw flaw(.notUTF8) }
      if byte < 0x20 { throw flaw(.controlCharacter) }
      if byte == UInt8(ascii: "\"") {
        index += 1
        return start..<(index - 1)
      }
      try escape(text)
    }
  }

  /// Passes over what a string mostly consists of: ASCII that stands for itself.
  private mutating func skipPlain(_ text: Span<UInt8>) {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): return
      case 0x20..<0x80: index += 1
      default: return
      }
    }
  }

  private mutating func escape(_ text: Span<UInt8>) throws(JSONFlaw) {
    index += 1
    let letter = try next(text)
    guard letter == UInt8(ascii: "u") else {
      guard Self.plain(letter) != nil else { throw flaw(.escape) }
      index += 1
      return
    }
    let first = try hexadecimal(text)
    guard first & 0xF800 == 0xD800 else { return }
    guard first < 0xDC00, takes("\\", text), index < text.count,
      text[index] == UInt8(ascii: "u")
    else { throw flaw(.surrogate) }
    guard try hexadecimal(text) & 0xFC00 == 0xDC00 else { throw flaw(.surrogate) }
  }

  /// The number behind a `u`.
  private mutating func hexadecimal(_ text: Span<UInt8>) throws(JSONFlaw) -> UInt32 {
    index += 1
    for _ in 0..<4 {
      guard Hex.value(try next(text)) != nil else { throw flaw(.escape) }
      index += 1
    }
    return Self.unit(text, index - 4)
  }

  private static func unit(_ text: Span<UInt8>, _ start: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in start..<(start + 4) { value = value << 4 | UInt32(Hex.value(text[index]) ?? 0) }
    return value
  }

  private static func plain(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }
}

// MARK: - What strings stand for

extension JSONScanner {
  /// The bytes of a string that was found whole, which is no secret.
  static func array(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    decode(text, range) { bytes.append($0) }
    return bytes
  }

  /// Whether a string that was found whole stands for these bytes.
  static func isString(_ text: Span<UInt8>, _ range: Range<Int>, _ wanted: String) -> Bool {
    // No escape is shorter than what it stands for.
    guard range.count >= wanted.utf8.count else { return false }
    var rest = wanted.utf8.makeIterator()
    var isSame = true
    decode(text, range) { byte in if rest.next() != byte { isSame = false } }
    return isSame && rest.next() == nil
  }

  /// Whether two strings that were found whole stand for the same.
  private static func isSame(_ text: Span<UInt8>, _ one: Range<Int>, _ other: Range<Int>) -> Bool {
    guard hasEscapes(text, one) || hasEscapes(text, other) else {
      guard one.count == other.count else { return false }
      for offset in 0..<one.count
      where text[one.lowerBound + offset] != text[other.lowerBound + offset] { return false }
      return true
    }
    return array(text, one) == array(text, other)
  }

  /// Whether a string is not as it stands there.
  static func hasEscapes(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in range where text[index] == UInt8(ascii: "\\") { return true }
    return false
  }

  /// Hands out the bytes of a string that was found whole.
  static func decode<Failure: Error>(
    _ text: Span<UInt8>, _ range: Range<Int>, _ put: (UInt8) throws(Failure) -> Void
  ) throws(Failure) {
    var index = range.lowerBound
    while index < range.upperBound {
      guard text[index] == UInt8(ascii: "\\") else {
        try put(text[index])
        index += 1
        continue
      }
      if let byte = plain(text[index + 1]) {
        try put(byte)
        index += 2
        continue
      }
      var value = unit(text, index + 2)
      index += 6
      if value & 0xFC00 == 0xD800 {
        value = 0x10000 + (value & 0x3FF) << 10 + unit(text, index + 2) & 0x3FF
        index += 6
      }
      try encode(value, put)
    }
  }

  private static func encode<Failure: Error>(
    _ value: UInt32, _ put: (UInt8) throws(Failure) -> Void
  ) throws(Failure) {
    guard value > 0x7F else { return try put(UInt8(value)) }
    let trailing = value > 0xFFFF ? 3 : value > 0x7FF ? 2 : 1
    let marks: [UInt8] = [0, 0xC0, 0xE0, 0xF0]
    try put(marks[trailing] | UInt8(value >> UInt32(6 * trailing)))
    for left in stride(from: trailing - 1, through: 0, by: -1) {
      try put(0x80 | UInt8(value >> UInt32(6 * left) & 0x3F))
    }
  }
}
