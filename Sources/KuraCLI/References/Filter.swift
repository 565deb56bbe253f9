// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Writes a value so that the place it stands in takes it for the value and nothing else.
enum Filter: String, CaseIterable, Sendable {
  /// All but unreserved characters as `%XX` (RFC 3986, 2.3).
  case url
  /// A JSON string, quotes included (RFC 8259, 7).
  case json
  /// One word of a POSIX shell, in single quotes.
  case shell
  /// One value of a dotenv file, in quotes.
  case dotenv
  /// Base64, padded (RFC 4648, 4).
  case base64

  /// Appends the value as this filter writes it.
  ///
  /// - Throws: What the value holds that cannot stand there.
  func write(_ value: Span<UInt8>, to result: inout SecretBuffer) throws(CommandError) {
    if let flaw = flaw(of: value) { throw flaw }
    do throws(SecureMemoryError) {
      switch self {
      case .url: try Self.writeURL(value, to: &result)
      case .json: try Self.writeJSON(value, to: &result)
      case .shell: try Self.writeShell(value, to: &result)
      case .dotenv: try Self.writeDotenv(value, to: &result)
      case .base64: try Self.writeBase64(value, to: &result)
      }
    } catch { throw .outOfMemory }
  }
}

// MARK: - What cannot be written

extension Filter {
  private func flaw(of value: Span<UInt8>) -> CommandError? {
    let hasNUL = value.indices.contains { value[$0] == 0 }
    switch self {
    case .url, .base64: return nil
    case .json: return UTF8Scanner.isText(value) ? nil : Self.noText("JSON string")
    case .shell: return hasNUL ? Self.nul("word of a shell") : nil
    case .dotenv:
      if hasNUL { return Self.nul("dotenv file") }
      if !UTF8Scanner.isText(value) { return Self.noText("dotenv file") }
      return Self.isAmbiguous(value) ? Self.ambiguous : nil
    }
  }

  private static func noText(_ holder: String) -> CommandError {
    .failure(
      "the value is no UTF-8 text, which a \(holder) must be", hint: "| base64 takes any bytes")
  }

  private static func nul(_ holder: String) -> CommandError {
    .failure(
      "the value has a NUL byte, which no \(holder) can hold", hint: "| base64 takes any bytes")
  }

  private static let ambiguous = CommandError.failure(
    "readers of dotenv files do not agree on this value: it has ${, kura://, a \\ at its end, or $ or ` "
      + "beside ' or \\",
    hint: "run --env gives any text to a program, | base64 writes any bytes")

  /// Whether no way to write it means the same to all readers: some put variables in the place of `${`
  /// in all quotes, and of `$` in double ones, which a quote or a backslash needs.
  private static func isAmbiguous(_ value: Span<UInt8>) -> Bool {
    let dollar = UInt8(ascii: "$")
    let expands = value.indices.contains {
      value[$0] == dollar && $0 + 1 < value.count && value[$0 + 1] == UInt8(ascii: "{")
    }
    let isSubstituted = value.indices.contains {
      value[$0] == dollar || value[$0] == UInt8(ascii: "`")
    }
    // Python's dotenv takes the quote behind a last backslash for a part of the value.
    let endsInBackslash = value.count > 0 && value[value.count - 1] == UInt8(ascii: "\\")
    // What reads a reference there would put another item's value in its place.
    let refers = value.indices.contains { ItemReference.begins(value, at: $0) }
    return refers || expands || endsInBackslash || needsDoubleQuotes(value) && isSubstituted
  }

  private static func needsDoubleQuotes(_ value: Span<UInt8>) -> Bool {
    value.indices.contains { "'\\\r".utf8.contains(value[$0]) }
  }
}

// MARK: - Writing

extension Filter {
  private static func writeURL(
    _ value: Span<UInt8>, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for index in value.indices {
      let byte = value[index]
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if isLetter || isDigit || "-._~".utf8.contains(byte) {
        try result.append(byte)
      } else {
        try result.append(UInt8(ascii: "%"))
        try appendHex(byte, to: &result)
      }
    }
  }

  private static func appendHex(
    _ byte: UInt8, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for digit in [byte >> 4, byte & 0xF] {
      try result.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }
  }

  private static func writeJSON(
    _ value: Span<UInt8>, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try result.append(UInt8(ascii: "\""))
    for index in value.indices {
      let byte = value[index]
      if "\"\\".utf8.contains(byte) {
        try result.append(UInt8(ascii: "\\"))
        try result.append(byte)
      } else if byte < 0x20 {
        try append("\\u00", to: &result)
        try appendHex(byte, to: &result)
      } else {
        try result.append(byte)
      }
    }
    try result.append(UInt8(ascii: "\""))
  }

  private static func writeShell(
    _ value: Span<UInt8>, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    let quote = UInt8(ascii: "'")
    try result.append(quote)
    for index in value.indices {
      if value[index] == quote {
        try append("'\\''", to: &result)
      } else {
        try result.append(value[index])
      }
    }
    try result.append(quote)
  }

  private static func writeDotenv(
    _ value: Span<UInt8>, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    guard needsDoubleQuotes(value) else { return try writeShell(value, to: &result) }
    try result.append(UInt8(ascii: "\""))
    for index in value.indices {
      let byte = value[index]
      if byte == UInt8(ascii: "\r") {
        try append("\\r", to: &result)
      } else {
        if "\"\\".utf8.contains(byte) { try result.append(UInt8(ascii: "\\")) }
        try result.append(byte)
      }
    }
    try result.append(UInt8(ascii: "\""))
  }

  private static func writeBase64(
    _ value: Span<UInt8>, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    var base64 = Base64()
    for index in value.indices {
      if let group = base64.take(value[index]) { try result.append(group.span) }
    }
    if let group = base64.finish() { try result.append(group.span) }
  }

  private static func append(
    _ text: String, to result: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for byte in text.utf8 { try result.append(byte) }
  }
}
