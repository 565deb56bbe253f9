// SPDX-License-Identifier: MIT

/// Reads JSON (RFC 8259) strictly: UTF-8, nothing behind it, nothing deeper than is needed.
struct JSONReader {
  /// How deep arrays and objects may stand in one another.
  static let deepest = 64

  private let bytes: ArraySlice<UInt8>
  private var offset: Int
  private var line: UInt64

  private init(_ bytes: ArraySlice<UInt8>, at line: UInt64) {
    (self.bytes, offset, self.line) = (bytes, bytes.startIndex, line)
  }

  /// Reads a text that was found to be UTF-8.
  ///
  /// - Parameter line: The line that it begins on.
  static func read(_ bytes: ArraySlice<UInt8>, at line: UInt64 = 1) throws(ReadingFlaw) -> JSONValue
  {
    var reader = JSONReader(bytes, at: line)
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.offset == bytes.endIndex else { throw reader.flaw }
    return value
  }

  private var flaw: ReadingFlaw { ReadingFlaw(.notJSON, at: line) }

  private func peek() -> UInt8? { offset < bytes.endIndex ? bytes[offset] : nil }

  private mutating func skipBlanks() {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      default: return
      }
      offset += 1
    }
  }

  private mutating func expect(_ byte: UInt8) throws(ReadingFlaw) {
    guard peek() == byte else { throw flaw }
    offset += 1
  }

  private mutating func value(depth: Int) throws(ReadingFlaw) -> JSONValue {
    skipBlanks()
    guard depth <= Self.deepest else { throw ReadingFlaw(.tooDeep, at: line) }
    switch peek() {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(ReadingFlaw) -> JSONValue {
    for byte in text.utf8 { try expect(byte) }
    return value
  }

  private mutating func object(_ depth: Int) throws(ReadingFlaw) -> JSONValue {
    try expect(UInt8(ascii: "{"))
    var members: [(key: [UInt8], value: JSONValue)] = []
    skipBlanks()
    if peek() == UInt8(ascii: "}") {
      offset += 1
      return .object(members)
    }
    while true {
      skipBlanks()
      let key = try string()
      skipBlanks()
      try expect(UInt8(ascii: ":"))
      members.append((key, try value(depth: depth + 1)))
      if try isLast(UInt8(ascii: "}")) { return .object(members) }
    }
  }

  private mutating func array(_ depth: Int) throws(ReadingFlaw) -> JSONValue {
    try expect(UInt8(ascii: "["))
    var elements: [JSONValue] = []
    skipBlanks()
    if peek() == UInt8(ascii: "]") {
      offset += 1
      return .array(elements)
    }
    while true {
      elements.append(try value(depth: depth + 1))
      if try isLast(UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  /// Whether what was read was the last one, or a comma follows.
  private mutating func isLast(_ end: UInt8) throws(ReadingFlaw) -> Bool {
    skipBlanks()
    if peek() == end {
      offset += 1
      return true
    }
    try expect(UInt8(ascii: ","))
    return false
  }

  private mutating func number() throws(ReadingFlaw) -> [UInt8] {
    let start = offset
    if peek() == UInt8(ascii: "-") { offset += 1 }
    if peek() == UInt8(ascii: "0") { offset += 1 } else { try digits() }
    if peek() == UInt8(ascii: ".") {
      offset += 1
      try digits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    return Array(bytes[start..<offset])
  }

  private mutating func digits() throws(ReadingFlaw) {
    let start = offset
    while let byte = peek(), (0x30...0x39).contains(byte) { offset += 1 }
    guard offset > start else { throw flaw }
  }

  private mutating func string() throws(ReadingFlaw) -> [UInt8] {
    try expect(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while let byte = peek() {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0..<0x20: throw flaw
      default: text.append(byte)
      }
    }
    throw flaw
  }

  private mutating func escape(into text: inout [UInt8]) throws(ReadingFlaw) {
    guard let byte = peek() else { throw flaw }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var unit = try hex()
      if (0xD800..<0xDC00).contains(unit) {
        try expect(UInt8(ascii: "\\"))
        try expect(UInt8(ascii: "u"))
        let low = try hex()
        guard (0xDC00..<0xE000).contains(low) else { throw flaw }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { throw flaw }
      text += Array(String(Character(scalar)).utf8)
    default: throw flaw
    }
  }

  private mutating func hex() throws(ReadingFlaw) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw flaw
      }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}
