// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Says how a cell is shown.
struct Style: OptionSet, Sendable {
  let rawValue: UInt8
  static let bold = Style(rawValue: 1)
  static let reverse = Style(rawValue: 2)
  static let dim = Style(rawValue: 4)
}

/// Holds one cell: a character, what combines with it, and its style.
struct Cell: Equatable {
  /// 0: blank.
  var base: UInt32 = 0
  var marks: (UInt32, UInt32) = (0, 0)
  var style: Style = []
  /// Whether it is the right half of the character before it.
  var isTail = false

  static func == (left: Cell, right: Cell) -> Bool {
    left.base == right.base && left.marks == right.marks && left.style == right.style
      && left.isTail == right.isTail
  }
}

/// Holds a screen's cells in guarded memory, as a view draws them: a value may stand among them.
struct Grid: ~Copyable {
  let rows: Int
  let columns: Int
  let glyph: Glyph
  /// Where the cursor stands; nil: nowhere.
  var cursor: (row: Int, column: Int)?
  /// Whether something of a value was drawn.
  private(set) var isSecret = false
  private var cells: SecretBuffer

  private static let size = 16

  /// An empty grid.
  init(rows: Int, columns: Int, isUnicode: Bool) throws(SecureMemoryError) {
    self.rows = max(rows, 1)
    self.columns = max(columns, 1)
    glyph = Glyph(isUnicode: isUnicode)
    cells = try SecretBuffer(capacity: self.rows * self.columns * Self.size)
    erase()
  }

  /// Blanks every cell.
  mutating func erase() {
    cells.removeAll()
    let count = rows * columns * Self.size
    // What was wiped is zero, and zero is blank.
    cells.append(upTo: count) { _ in count }
    cursor = nil
    isSecret = false
  }

  /// What stands in a cell.
  func cell(_ row: Int, _ column: Int) -> Cell {
    let at = (row * columns + column) * Self.size
    let bytes = cells.bytes
    func number(_ offset: Int) -> UInt32 {
      UInt32(bytes[at + offset]) | UInt32(bytes[at + offset + 1]) << 8
        | UInt32(bytes[at + offset + 2]) << 16
    }
    return Cell(
      base: number(0), marks: (number(4), number(8)), style: Style(rawValue: bytes[at + 12]),
      isTail: bytes[at + 13] == 1)
  }

  /// A number that stands for what a row shows, in this process alone.
  func mark(ofRow row: Int) -> Int {
    var hasher = Hasher()
    let bytes = cells.bytes
    for index in (row * columns * Self.size)..<((row + 1) * columns * Self.size) {
      hasher.combine(bytes[index])
    }
    return hasher.finalize()
  }

  private mutating func set(_ row: Int, _ column: Int, _ cell: Cell) {
    func bytes(_ value: UInt32) -> (UInt8, UInt8, UInt8) {
      (UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value >> 16 & 0xFF))
    }
    let (base, first, second) = (bytes(cell.base), bytes(cell.marks.0), bytes(cell.marks.1))
    let raw: InlineArray<16, UInt8> = [
      base.0, base.1, base.2, 0, first.0, first.1, first.2, 0, second.0, second.1, second.2, 0,
      cell.style.rawValue, cell.isTail ? 1 : 0, 0, 0,
    ]
    cells.overwrite(at: (row * columns + column) * Self.size, with: raw.span)
  }
}

// MARK: - Drawing

extension Grid {
  /// Says where drawing goes on, and how far it may go.
  struct Pen {
    var row: Int
    var column: Int
    /// The first column that it may not draw in.
    var end: Int
    var style: Style = []
    /// The column at which a next line begins; nil: there is none.
    var wrap: Int?
    /// The first row that it may not draw in.
    var bottom: Int
    /// Lines to be passed over before one is drawn.
    var skipped = 0
    /// Lines that have begun.
    var lines = 1
  }

  /// A pen for a part of one line.
  func pen(_ row: Int, _ column: Int, width: Int? = nil, style: Style = []) -> Pen {
    let end = width.map { min(column + $0, columns) } ?? columns
    return Pen(row: row, column: column, end: end, style: style, bottom: row + 1)
  }

  /// Draws text that is no secret; what has no room is cut, with `~` as the last character.
  ///
  /// - Returns: The column behind it.
  @discardableResult
  mutating func put(
    _ text: String, _ row: Int, _ column: Int, width: Int? = nil, style: Style = []
  ) -> Int {
    guard row >= 0, row < rows, column < columns else { return column }
    var pen = pen(row, max(column, 0), width: width, style: style)
    let isCut = glyph.width(text) > pen.end - pen.column
    for scalar in text.unicodeScalars { draw(scalar.value, &pen) }
    if isCut, pen.end > 0, pen.end > column { mark("~", row, pen.end - 1, style) }
    return pen.column
  }

  /// Draws a secret text, UTF-8; bytes that are none are spelled out.
  mutating func put(secret bytes: Span<UInt8>, _ pen: inout Pen) {
    isSecret = true
    var index = 0
    while index < bytes.count {
      let (value, count) = Self.scalar(bytes, index)
      index += count
      guard let value else {
        for scalar in Glyph.spelling(UInt32(bytes[index - 1])) { draw(scalar.value, &pen) }
        continue
      }
      if value == 0x0A, pen.wrap != nil { next(&pen) } else { draw(value, &pen) }
    }
  }

  /// Fills a part of a line.
  mutating func fill(
    _ character: Unicode.Scalar, _ row: Int, _ from: Int, _ to: Int, _ style: Style
  ) {
    guard row >= 0, row < rows else { return }
    for column in max(from, 0)..<max(min(to, columns), max(from, 0)) {
      mark(character, row, column, style)
    }
  }

  private mutating func mark(_ character: Unicode.Scalar, _ row: Int, _ column: Int, _ style: Style)
  {
    clear(row, column)
    set(row, column, Cell(base: character.value, style: style))
  }

  /// A half of a wide character does not stand alone.
  private mutating func clear(_ row: Int, _ column: Int) {
    if cell(row, column).isTail, column > 0 { set(row, column - 1, Cell(base: 0x20)) }
    if column + 1 < columns, cell(row, column + 1).isTail { set(row, column + 1, Cell(base: 0x20)) }
  }

  private mutating func next(_ pen: inout Pen) {
    pen.lines += 1
    guard let wrap = pen.wrap else { return }
    pen.column = wrap
    if pen.skipped > 0 { pen.skipped -= 1 } else { pen.row += 1 }
  }

  private mutating func draw(_ value: UInt32, _ pen: inout Pen) {
    guard let scalar = Unicode.Scalar(value), let width = glyph.width(scalar) else {
      for part in Glyph.spelling(value) { draw(part.value, &pen) }
      return
    }
    if width == 0 { return combine(value, pen) }
    if pen.column + width > pen.end {
      guard pen.wrap != nil else {
        pen.column = pen.end
        return
      }
      next(&pen)
      guard pen.column + width <= pen.end else { return }
    }
    defer { pen.column += width }
    guard pen.skipped == 0, pen.row < min(pen.bottom, rows), pen.row >= 0 else { return }
    mark(scalar, pen.row, pen.column, pen.style)
    if width == 2 {
      clear(pen.row, pen.column + 1)
      set(pen.row, pen.column, Cell(base: value, style: pen.style))
      set(pen.row, pen.column + 1, Cell(style: pen.style, isTail: true))
    }
  }

  /// Puts a mark on the character before; a third one, and one without a character, is left out.
  private mutating func combine(_ value: UInt32, _ pen: Pen) {
    guard pen.skipped == 0, pen.row < min(pen.bottom, rows), pen.row >= 0, pen.column > 0 else {
      return
    }
    var column = min(pen.column, columns) - 1
    if cell(pen.row, column).isTail, column > 0 { column -= 1 }
    var cell = cell(pen.row, column)
    guard cell.base > 0x20 else { return }
    if cell.marks.0 == 0 { cell.marks.0 = value } else if cell.marks.1 == 0 { cell.marks.1 = value }
    set(pen.row, column, cell)
  }

  /// The character that begins at a byte, and how many bytes it has; nil: the byte is none.
  static func scalar(_ bytes: Span<UInt8>, _ index: Int) -> (UInt32?, Int) {
    let first = bytes[index]
    if first < 0x80 { return (UInt32(first), 1) }
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0
    guard count > 0, first < 0xF5, index + count <= bytes.count else { return (nil, 1) }
    var value = UInt32(first) & (0xFF >> UInt32(count + 1))
    for offset in 1..<count {
      guard bytes[index + offset] & 0xC0 == 0x80 else { return (nil, 1) }
      value = value << 6 | UInt32(bytes[index + offset] & 0x3F)
    }
    let least: UInt32 = count == 4 ? 0x1_0000 : count == 3 ? 0x800 : 0x80
    guard value >= least, Unicode.Scalar(value) != nil else { return (nil, 1) }
    return (value, count)
  }
}
