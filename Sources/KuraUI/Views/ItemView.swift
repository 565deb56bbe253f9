// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

extension View {
  /// Draws an item: its value only while that is shown.
  func drawItem(_ model: borrowing Model, into grid: inout Grid) {
    switch model.item {
    case .some(let open): draw(open, of: model, into: &grid)
    case .none: drawHead(model.vault, "", into: &grid)
    }
  }

  private func draw(_ open: borrowing OpenItem, of model: borrowing Model, into grid: inout Grid) {
    let facts = open.item.facts
    drawHead(open.item.name, model.vault, into: &grid)
    let isTight = grid.rows < 14
    var row = isTight ? 1 : 2
    grid.put(open.field ?? "value", row, 1, width: 14, style: .dim)
    let bottom = drawValue(open, row, into: &grid)
    row = max(bottom, row + 1)
    if open.givesCodes {
      label("code", row, into: &grid)
      drawCode(open, row, into: &grid)
      row += 1
    }
    if !isTight { row += 1 }
    for attribute in open.item.attributes where row < grid.rows - 3 {
      grid.put(attribute.key, row, 1, width: 14, style: .dim)
      grid.put(String(decoding: attribute.value, as: UTF8.self), row, 16)
      row += 1
    }
    for secret in open.secrets where row < grid.rows - 3 {
      let isChosen = secret.key == open.field
      grid.put(secret.key, row, 1, width: 14, style: isChosen ? .bold : .dim)
      grid.put("secret, " + Amount.size(secret.size), row, 16)
      row += 1
    }
    if !isTight { row += 1 }
    draw(facts, row, of: open, into: &grid)
    drawKeys(
      [
        ("Enter", open.isShown ? "hide" : "show"), ("c", "copy"), ("e", "edit"), ("a", "attribute"),
        ("h", "history"), ("d", "delete"), ("Esc", "back"), ("?", "help"),
      ] + (open.secrets.isEmpty ? [] : [("Tab", "next secret")]), into: &grid)
  }

  private func draw(
    _ facts: ItemFacts, _ row: Int, of open: borrowing OpenItem, into grid: inout Grid
  ) {
    let lines = [
      (
        "revision",
        "\(facts.revision)" + (open.revisions.isEmpty ? "" : ", \(open.revisions.count) earlier")
      ),
      ("changed", Clock.local(facts.modified, "%Y-%m-%d %H:%M")),
      ("size", Amount.size(facts.size)),
      ("protection", facts.protection.name),
    ]
    for (index, line) in lines.enumerated() where row + index < grid.rows - 2 {
      grid.put(line.0, row + index, 1, style: .dim)
      grid.put(line.1, row + index, 16)
    }
  }

  private func label(_ text: String, _ row: Int, into grid: inout Grid) {
    grid.put(text, row, 1, style: .dim)
  }

  /// - Returns: The row below it.
  private func drawValue(_ open: borrowing OpenItem, _ row: Int, into grid: inout Grid) -> Int {
    switch open.value {
    case .some(let value):
      let bottom = max(min(row + max(grid.rows / 2 - 2, 1), grid.rows - 3), row + 1)
      var pen = Grid.Pen(
        row: row, column: 16, end: grid.columns, wrap: min(16, grid.columns / 3), bottom: bottom,
        skipped: open.scroll)
      if grid.columns < 48 { pen.column = pen.wrap ?? 16 }
      grid.put(secret: value.bytes, &pen)
      let end = min(max(pen.row, row) + 1, bottom)
      let seconds = ((open.hideAt ?? now) - min(now, open.hideAt ?? now) + 999) / 1_000
      let words =
        (open.revision == 0 ? "" : "revision \(open.revision); ") + "hidden again in \(seconds) s"
      grid.put(words, end, 16, style: .dim)
      return end + 1
    case .none:
      let size = open.size
      let words =
        size > OpenItem.longest
        ? "\(Amount.size(size)), not shown; s saves it to a file"
        : String(repeating: grid.glyph.isUnicode ? "•" : "*", count: 8)
      grid.put(words, row, 16)
      return row + 1
    }
  }

  private func drawCode(_ open: borrowing OpenItem, _ row: Int, into grid: inout Grid) {
    switch open.code {
    case .some(let code):
      var pen = grid.pen(row, 16, style: .bold)
      grid.put(secret: code.bytes, &pen)
      guard open.codeUntil > now else { return }
      grid.put(
        "good for \((open.codeUntil - now + 999) / 1_000) s", row, pen.column + 2, style: .dim)
    case .none: grid.put("...", row, 16, style: .dim)
    }
  }
}

// MARK: - The other pages

extension View {
  /// Draws the revisions that are kept of an item, the newest first.
  func drawHistory(_ model: borrowing Model, into grid: inout Grid) {
    drawHead((model.openName ?? "") + ": history", model.vault, into: &grid)
    let top = max(model.version - max(grid.rows - 6, 0), 0)
    for (index, item) in model.versions.enumerated()
    where index >= top && 2 + index - top < grid.rows - 2 {
      let isChosen = index == model.version
      let facts = item.facts
      let text =
        "\(facts.revision)  " + Clock.local(facts.modified, "%Y-%m-%d %H:%M") + "  "
        + (facts.kind == .deleted ? "deleted" : Amount.size(facts.size))
        + (index == 0 ? "  current" : "")
      grid.put((isChosen ? "> " : "  ") + text, 2 + index - top, 1, style: isChosen ? .reverse : [])
    }
    drawKeys([("Enter", "show"), ("R", "restore"), ("Esc", "back")], into: &grid)
  }

  /// Draws the settings that the vault keeps.
  func drawSettings(_ model: borrowing Model, into grid: inout Grid) {
    drawHead(model.vault + ": settings", "", into: &grid)
    let top = max(model.setting - max(grid.rows - 5, 0), 0)
    for (index, value) in model.settings.enumerated()
    where index >= top && 2 + index - top < grid.rows - 2 {
      guard let setting = Setting(rawValue: value.key) else { continue }
      let isChosen = index == model.setting
      let gap = String(repeating: " ", count: max(20 - setting.name.utf8.count, 1))
      let text = setting.name + gap + Amount.words(value.value, setting)
      grid.put((isChosen ? "> " : "  ") + text, 2 + index - top, 1, style: isChosen ? .reverse : [])
    }
    drawKeys([("Enter", "change"), ("Esc", "back")], into: &grid)
  }

  /// Draws what the keys do.
  func drawHelp(_ model: borrowing Model, into grid: inout Grid) {
    drawHead("keys", "any key goes back", into: &grid)
    let half =
      grid.columns >= 72 && grid.rows < Self.keys.count + 4
      ? (Self.keys.count + 1) / 2 : Self.keys.count
    for (index, line) in Self.keys.enumerated() {
      let row = 2 + index % half
      let column = index / half * (grid.columns / 2)
      guard row < grid.rows - 1 else { continue }
      grid.put(line.0, row, column + 1, style: .bold)
      grid.put(
        line.1, row, column + 11, width: grid.columns / (half < Self.keys.count ? 2 : 1) - 12)
    }
  }

  private static let keys = [
    ("Enter", "open; show or hide a value"), ("Esc", "back"), ("/", "search as you type"),
    ("Tab", "the next secret of an item"), ("o", "copy the code"),
    ("t", "folders, or all names"), ("c", "copy the value or code"), ("n", "new item"),
    ("e", "edit the value"), ("E", "edit in your editor"), ("a", "set an attribute"),
    ("Ctrl-G", "while editing: make one by chance"), ("Tab", "while editing: show or hide"),
    ("p", "protect, or end that"), ("h", "history"), ("R", "in the history: restore"),
    ("d", "delete"), ("u", "bring back what was deleted"), ("s", "save the value to a file"),
    ("S", "settings"), ("r", "read the list anew"), ("L", "cover the screen"),
    ("l", "lock the vault"), ("Ctrl-Z", "stop; fg goes on"), ("q", "quit"),
  ]
}
