// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Draws what a model holds: the same model at the same time gives the same cells.
struct View {
  let now: UInt64

  func draw(_ model: borrowing Model, into grid: inout Grid) {
    grid.erase()
    if let cover = model.cover {
      draw(cover, model, into: &grid)
      return
    }
    switch model.page {
    case .list: drawList(model, into: &grid)
    case .item: drawItem(model, into: &grid)
    case .history: drawHistory(model, into: &grid)
    case .settings: drawSettings(model, into: &grid)
    case .help: drawHelp(model, into: &grid)
    }
    drawLast(model, into: &grid)
  }

  /// The first line: where one is.
  func drawHead(_ left: String, _ right: String, into grid: inout Grid) {
    grid.fill(" ", 0, 0, grid.columns, .reverse)
    let width = grid.glyph.width(right)
    let isRoom = width + 2 < grid.columns / 2
    grid.put(" " + left, 0, 0, width: isRoom ? grid.columns - width - 2 : nil, style: .reverse)
    if isRoom { grid.put(right, 0, grid.columns - width - 1, style: .reverse) }
  }

  /// The line above the last: keys.
  func drawKeys(_ keys: [(String, String)], into grid: inout Grid) {
    guard grid.rows > 3 else { return }
    var column = 1
    for (key, words) in keys {
      let width = grid.glyph.width(key + " " + words)
      guard column + width < grid.columns else { break }
      let next = grid.put(key, grid.rows - 2, column, style: .bold)
      column = grid.put(" " + words, grid.rows - 2, next, style: .dim) + 2
    }
  }

  /// The last line: what is typed, asked or said.
  private func drawLast(_ model: borrowing Model, into grid: inout Grid) {
    let row = grid.rows - 1
    switch model.field {
    case .some(let field):
      if !model.message.isEmpty, grid.rows > 3 {
        grid.fill(" ", row - 1, 0, grid.columns, [])
        grid.put(model.message, row - 1, 1)
      }
      draw(field, row, 1, into: &grid)
    case .none:
      if let question = model.question {
        grid.put(words(question), row, 1, style: .bold)
      } else {
        grid.put(model.message, row, 1)
      }
    }
  }

  /// A line that is typed: its end is what stays in view.
  func draw(_ field: borrowing Field, _ row: Int, _ column: Int, into grid: inout Grid) {
    let start = grid.put(field.label + ": ", row, column, style: .bold)
    let room = max(grid.columns - start - 1, 1)
    if field.isHidden {
      let count = min(field.count, room)
      grid.fill(grid.glyph.isUnicode ? "•" : "*", row, start, start + count, [])
      grid.cursor = (row, min(start + count, grid.columns - 1))
      return
    }
    let bytes = field.bytes
    // Each character takes at least a byte; those that are wide or spelled out are cut at the end.
    var first = 0
    var left = max(field.count - room, 0)
    while left > 0, first < bytes.count {
      first += Grid.scalar(bytes, first).1
      left -= 1
    }
    var pen = grid.pen(row, start)
    grid.put(secret: bytes.extracting(first..<bytes.count), &pen)
    grid.cursor = (row, min(pen.column, grid.columns - 1))
  }

  /// A question as it is asked.
  func words(_ question: Question) -> String {
    switch question {
    case .remove(let name, _): "delete " + name + "? y/n"
    case .overwrite:
      "somebody else changed it meanwhile: store yours over it? theirs stays in the history. y/n"
    case .unprotect(let name): "end the protection of " + name + "? y/n"
    }
  }
}
