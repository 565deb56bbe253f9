// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// One JSON document (RFC 8259), written member by member.
///
/// Every document is an object whose first member is `"schema": 1`. Bytes that are UTF-8 are
/// strings, others `{"base64": "…"}`.
extension Output {
  /// Raised when a member changes its meaning or goes; a new member changes nothing.
  static var schema: UInt64 { 1 }

  /// Begins a document.
  mutating func openDocument() throws(CommandError) {
    try openObject()
    try member("schema", Self.schema)
  }

  /// Ends a document.
  mutating func closeDocument() throws(CommandError) {
    try close("}")
    try write("\n")
    needsComma = false
  }

  mutating func openObject() throws(CommandError) { try open("{") }

  mutating func closeObject() throws(CommandError) { try close("}") }

  mutating func openArray() throws(CommandError) { try open("[") }

  mutating func closeArray() throws(CommandError) { try close("]") }

  /// Begins a member; its value comes next.
  mutating func key(_ name: String) throws(CommandError) {
    try element(name)
    try write(":")
    needsComma = false
  }

  private mutating func open(_ bracket: String) throws(CommandError) {
    try separate()
    try write(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: String) throws(CommandError) {
    try write(bracket)
    needsComma = true
  }

  private mutating func separate() throws(CommandError) {
    if needsComma { try write(",") }
    needsComma = true
  }
}

// MARK: - Members

extension Output {
  mutating func member(_ name: String, _ value: String) throws(CommandError) {
    try key(name)
    try element(value)
  }

  mutating func member(_ name: String, _ value: UInt64) throws(CommandError) {
    try key(name)
    try element(value)
  }

  mutating func member(_ name: String, _ value: Bool) throws(CommandError) {
    try key(name)
    try separate()
    try write(value ? "true" : "false")
  }

  /// Bytes: a string when they are UTF-8.
  mutating func member(_ name: String, bytes: Span<UInt8>) throws(CommandError) {
    try key(name)
    try element(bytes: bytes)
  }

  /// A moment, as RFC 3339 writes it, in UTC.
  mutating func member(_ name: String, moment: UInt64) throws(CommandError) {
    try member(name, Moment.rfc3339(moment))
  }
}

// MARK: - Values

extension Output {
  mutating func element(_ number: UInt64) throws(CommandError) {
    try separate()
    try write("\(number)")
  }

  mutating func elementNull() throws(CommandError) {
    try separate()
    try write("null")
  }

  mutating func element(_ text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    try element(text: bytes.span)
  }

  mutating func element(bytes: Span<UInt8>) throws(CommandError) {
    guard !UTF8Scanner.isText(bytes) else { return try element(text: bytes) }
    try element(base64: bytes)
  }

  mutating func element(base64 bytes: Span<UInt8>) throws(CommandError) {
    try openObject()
    try key("base64")
    try openString()
    var base64 = Base64()
    try append(bytes, &base64)
    try finish(&base64)
    try closeString()
    try closeObject()
  }

  /// An element that was written before.
  mutating func element(written bytes: Span<UInt8>, isJSON: Bool) throws(CommandError) {
    if isJSON { try separate() }
    try write(bytes)
  }

  private mutating func element(text: Span<UInt8>) throws(CommandError) {
    try openString()
    var scanner = UTF8Scanner()
    try append(text, &scanner)
    try closeString()
  }
}

// MARK: - Strings

extension Output {
  mutating func openString() throws(CommandError) {
    try separate()
    try write("\"")
  }

  mutating func closeString() throws(CommandError) { try write("\"") }

  /// Writes the next part of a string, which must be UTF-8 as a whole.
  ///
  /// - Parameter scanner: Carries a character over from one part to the next.
  mutating func append(
    _ text: Span<UInt8>, _ scanner: inout UTF8Scanner
  ) throws(CommandError) {
    guard isTerminal else { return try append(exact: text) }
    for index in text.indices {
      let held = scanner
      guard case .character(let value) = scanner.take(text[index]) else { continue }
      if let escape = Self.escape(value, isTerminal: true) {
        try write(escape)
      } else {
        for earlier in 0..<held.count { try write(byte: held.byte(earlier)) }
        try write(byte: text[index])
      }
    }
  }

  private mutating func append(exact text: Span<UInt8>) throws(CommandError) {
    var start = 0
    for index in text.indices {
      guard let escape = Self.escape(UInt32(text[index]), isTerminal: false) else { continue }
      try write(text.extracting(start..<index))
      try write(escape)
      start = index + 1
    }
    try write(text.extracting(start..<text.count))
  }

  private mutating func write(byte: UInt8) throws(CommandError) {
    let bytes: [1 of UInt8] = [byte]
    try write(bytes.span)
  }

  /// RFC 8259, 7; on a terminal, also what it would obey, all of which is below U+10000.
  private static func escape(_ value: UInt32, isTerminal: Bool) -> String? {
    switch value {
    case 0x22: return "\\\""
    case 0x5C: return "\\\\"
    case 0x0A: return "\\n"
    case 0x0D: return "\\r"
    case 0x09: return "\\t"
    default:
      guard value < 0x20 || isTerminal && Escaping.isHarmful(value, .line) else { return nil }
      return [12, 8, 4, 0].reduce("\\u") {
        $0 + String(Unicode.Scalar(Hex.digit(UInt8(value >> UInt32($1) & 0xF))))
      }
    }
  }
}
