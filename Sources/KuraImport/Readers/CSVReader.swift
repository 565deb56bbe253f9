// SPDX-License-Identifier: MIT

/// Reads records of comma-separated values (RFC 4180), whatever ends the lines and whatever stands within quotes.
struct CSVReader {
  private let bytes: [UInt8]
  private var offset = 0
  /// The line at hand, from 1.
  private var line: UInt64 = 1
  /// The line that the last record began on.
  private(set) var place: UInt64 = 0

  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")
  private static let newline = UInt8(ascii: "\n")
  private static let carriage = UInt8(ascii: "\r")

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The fields of the next record; nil when there is none. Empty lines are none.
  mutating func next() throws(ReadingFlaw) -> [[UInt8]]? {
    while offset < bytes.count, isEnd(bytes[offset]) { endLine() }
    guard offset < bytes.count else { return nil }
    place = line
    var fields: [[UInt8]] = []
    while true {
      fields.append(try field())
      guard offset < bytes.count else { return fields }
      if isEnd(bytes[offset]) {
        endLine()
        return fields
      }
      // A comma, or `field` would have gone on.
      offset += 1
      if offset == bytes.count {
        fields.append([])
        return fields
      }
    }
  }

  private func isEnd(_ byte: UInt8) -> Bool { byte == Self.newline || byte == Self.carriage }

  private mutating func endLine() {
    let isPair =
      bytes[offset] == Self.carriage && offset + 1 < bytes.count
      && bytes[offset + 1] == Self.newline
    offset += isPair ? 2 : 1
    line += 1
  }

  private mutating func field() throws(ReadingFlaw) -> [UInt8] {
    guard offset < bytes.count, bytes[offset] == Self.quote else { return plain() }
    let begun = line
    offset += 1
    var field: [UInt8] = []
    while true {
      guard offset < bytes.count else { throw ReadingFlaw(.quoting, at: begun) }
      let byte = bytes[offset]
      offset += 1
      if byte == Self.quote {
        guard offset < bytes.count, bytes[offset] == Self.quote else { break }
        offset += 1
      } else if byte == Self.newline {
        line += 1
      }
      field.append(byte)
    }
    guard offset == bytes.count || bytes[offset] == Self.comma || isEnd(bytes[offset]) else {
      throw ReadingFlaw(.quoting, at: line)
    }
    return field
  }

  /// A field without quotes around it; those within it stand for themselves.
  private mutating func plain() -> [UInt8] {
    let start = offset
    while offset < bytes.count, bytes[offset] != Self.comma, !isEnd(bytes[offset]) { offset += 1 }
    return Array(bytes[start..<offset])
  }
}
