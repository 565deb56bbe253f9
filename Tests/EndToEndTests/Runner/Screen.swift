// SPDX-License-Identifier: MIT

/// What a terminal shows: as much of one as prompts and messages need.
///
/// It knows carriage return, line feed, backspace, tab, cursor movement and erasing. Other escape
/// sequences change nothing.
struct Screen {
  /// All that was ever printed, without escape sequences and carriage returns.
  private(set) var text = ""
  /// The lines as they stand.
  private(set) var lines: [[Unicode.Scalar]] = [[]]
  private var row = 0
  private var column = 0
  private var pending: [UInt8] = []
  private var escape: Escape = .none

  private enum Escape {
    case none
    case began
    case control([UInt8])
    case systemCommand
  }

  /// The line that holds the cursor, without blanks at its end.
  var currentLine: String {
    var scalars = lines[row]
    while scalars.last == " " { scalars.removeLast() }
    return String(String.UnicodeScalarView(scalars))
  }

  mutating func show(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { show(byte) }
  }

  private mutating func show(_ byte: UInt8) {
    switch escape {
    case .none: plain(byte)
    case .began:
      switch byte {
      case UInt8(ascii: "["): escape = .control([])
      case UInt8(ascii: "]"): escape = .systemCommand
      default: escape = .none
      }
    case .control(let parameters):
      if (0x40...0x7e).contains(byte) {
        escape = .none
        control(Unicode.Scalar(byte), parameters)
      } else {
        escape = .control(parameters + [byte])
      }
    case .systemCommand:
      if byte == 7 || byte == UInt8(ascii: "\\") { escape = .none }
    }
  }

  private mutating func plain(_ byte: UInt8) {
    switch byte {
    case 0x1b: escape = .began
    case 0x0d: column = 0
    case 0x0a: lineFeed()
    case 0x08: column = max(0, column - 1)
    case 0x07: break
    default:
      pending.append(byte)
      guard let scalar = String(validating: pending, as: UTF8.self)?.unicodeScalars.first else {
        if pending.count == 4 { pending = [] }
        return
      }
      pending = []
      text.unicodeScalars.append(scalar)
      put(scalar)
    }
  }

  private mutating func lineFeed() {
    text += "\n"
    row += 1
    if row == lines.count { lines.append([]) }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    while lines[row].count <= column { lines[row].append(" ") }
    lines[row][column] = scalar
    column += 1
  }

  private mutating func control(_ final: Unicode.Scalar, _ parameters: [UInt8]) {
    let number = Int(String(decoding: parameters, as: UTF8.self))
    let count = max(1, number ?? 1)
    switch final {
    case "A": row = max(0, row - count)
    case "B": row = min(lines.count - 1, row + count)
    case "C": column += count
    case "D": column = max(0, column - count)
    case "G": column = count - 1
    case "K": eraseLine(number ?? 0)
    case "J":
      eraseLine(number ?? 0)
      if number ?? 0 == 0 { lines.removeSubrange((row + 1)...) }
    default: break
    }
  }

  private mutating func eraseLine(_ part: Int) {
    switch part {
    case 0: lines[row] = Array(lines[row].prefix(column))
    case 1:
      let end = min(column + 1, lines[row].count)
      for index in 0..<end { lines[row][index] = " " }
    default: lines[row] = []
    }
  }
}
