// SPDX-License-Identifier: MIT

/// Turns `NAME=VALUE` lines into entries. What a shell would put in for something else stays as it stands.
struct DotenvSource {
  private let bytes: [UInt8]
  private var offset = 0
  private var line: UInt64 = 1

  private static let newline = UInt8(ascii: "\n")
  private static let word = Array("export".utf8)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads all of it.
  mutating func read(_ sink: inout EntrySink) throws(ReadingFlaw) {
    while let byte = peek() {
      switch byte {
      case Self.newline, UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): advance()
      case UInt8(ascii: "#"): skipLine()
      default:
        var entry = SourceEntry()
        entry.place = line
        entry.title = try name()
        entry.value = try value()
        try sink.take(entry)
      }
    }
  }

  private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func advance() {
    if bytes[offset] == Self.newline { line += 1 }
    offset += 1
  }

  private mutating func skipLine() { while let byte = peek(), byte != Self.newline { offset += 1 } }

  private mutating func skipBlanks() {
    while let byte = peek(), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { offset += 1 }
  }

  private func isName(_ byte: UInt8) -> Bool {
    switch byte | 0x20 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default:
      byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".")
        || byte == UInt8(ascii: "-")
    }
  }

  private mutating func token() -> [UInt8] {
    let start = offset
    while let byte = peek(), isName(byte) { offset += 1 }
    return Array(bytes[start..<offset])
  }

  private mutating func name() throws(ReadingFlaw) -> [UInt8] {
    var name = token()
    if name == Self.word, let byte = peek(), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    {
      skipBlanks()
      name = token()
    }
    skipBlanks()
    guard !name.isEmpty, peek() == UInt8(ascii: "=") else {
      throw ReadingFlaw(.assignment, at: line)
    }
    offset += 1
    skipBlanks()
    return name
  }

  private mutating func value() throws(ReadingFlaw) -> [UInt8] {
    switch peek() {
    case UInt8(ascii: "'"): return try quoted(UInt8(ascii: "'"), escapes: false)
    case UInt8(ascii: "\""): return try quoted(UInt8(ascii: "\""), escapes: true)
    default: return plain()
    }
  }

  /// To the end of the line, or a `#` behind a blank; blanks at the end are dropped.
  private mutating func plain() -> [UInt8] {
    var value: [UInt8] = []
    while let byte = peek(), byte != Self.newline {
      let isBehindBlank =
        value.isEmpty || value.last == UInt8(ascii: " ") || value.last == UInt8(ascii: "\t")
      if byte == UInt8(ascii: "#"), isBehindBlank {
        skipLine()
        break
      }
      value.append(byte)
      offset += 1
    }
    while let last = value.last,
      last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") || last == UInt8(ascii: "\r")
    {
      value.removeLast()
    }
    return value
  }

  private mutating func quoted(_ quote: UInt8, escapes: Bool) throws(ReadingFlaw) -> [UInt8] {
    let begun = line
    offset += 1
    var value: [UInt8] = []
    while let byte = peek(), byte != quote {
      advance()
      guard escapes, byte == UInt8(ascii: "\\"), let next = peek() else {
        value.append(byte)
        continue
      }
      advance()
      value += Self.escaped(next)
    }
    guard peek() == quote else { throw ReadingFlaw(.quoting, at: begun) }
    offset += 1
    while let byte = peek(),
      byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    {
      offset += 1
    }
    if peek() == UInt8(ascii: "#") { skipLine() }
    guard peek() == nil || peek() == Self.newline else { throw ReadingFlaw(.quoting, at: line) }
    return value
  }

  /// What stands for itself behind a backslash; the rest keeps the backslash.
  private static func escaped(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "n"): [newline]
    case UInt8(ascii: "r"): [0x0D]
    case UInt8(ascii: "t"): [0x09]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"): [byte]
    default: [UInt8(ascii: "\\"), byte]
    }
  }
}
