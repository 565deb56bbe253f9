// SPDX-License-Identifier: MIT

extension View {
  /// Draws the list, and what is looked for.
  func drawList(_ model: borrowing Model, into grid: inout Grid) {
    let list = model.list
    let total = list.names.count
    let count = list.rows.count == total ? "\(total)" : "\(list.rows.count) of \(total)"
    drawHead(
      model.vault + (model.isPicker ? ": pick one" : ""), count + (total == 1 ? " item" : " items"),
      into: &grid)
    drawSearch(list, into: &grid)
    let height = model.listHeight
    for line in 0..<height where list.top + line < list.rows.count {
      draw(
        list.rows[list.top + line], of: list, 2 + line, isChosen: list.top + line == list.selected,
        into: &grid)
    }
    if list.rows.isEmpty, grid.rows > 4 {
      grid.put(total == 0 ? "nothing is stored here yet" : "nothing fits", 2, 3, style: .dim)
    }
    if model.isPicker {
      drawKeys([("Enter", "pick"), ("Esc", "leave")], into: &grid)
    } else if list.isSearching {
      drawKeys([("Enter", "open"), ("Esc", "back to keys"), ("Ctrl-U", "empty")], into: &grid)
    } else {
      drawKeys(
        [
          ("Enter", "open"), ("/", "search"), ("?", "help"), ("q", "quit"), ("n", "new"),
          ("c", "copy"), ("t", list.isTree ? "flat" : "tree"), ("L", "cover"), ("l", "lock"),
        ], into: &grid)
    }
  }

  private func drawSearch(_ list: ItemList, into grid: inout Grid) {
    guard grid.rows > 2 else { return }
    guard list.isSearching || !list.search.isEmpty else {
      grid.put(list.isTree ? "/" + list.folder : "", 1, 1, style: .dim)
      return
    }
    let start = grid.put("search: ", 1, 1, style: .bold)
    let end = grid.put(list.search, 1, start, width: max(grid.columns - start - 1, 1))
    if list.isSearching { grid.cursor = (1, min(end, grid.columns - 1)) }
  }

  private func draw(
    _ row: NameTable.Row, of list: ItemList, _ line: Int, isChosen: Bool, into grid: inout Grid
  ) {
    let style: Style = isChosen ? .reverse : []
    let isFolder = row.folder > 0
    let whole = isFolder ? list.names.folder(row) : list.names.name(row.index)
    let name =
      list.isTree && list.search.isEmpty ? String(whole.dropFirst(list.folder.count)) : whole
    let mark = list.names.mark(row.index)
    var words = isFolder ? "\(row.count)" : ""
    if !isFolder, mark.contains(.code) { words += "codes" }
    if !isFolder, mark.contains(.protected) { words += words.isEmpty ? "protected" : ", protected" }
    if isChosen { grid.fill(" ", line, 0, grid.columns, .reverse) }
    grid.put(isChosen ? ">" : " ", line, 1, style: style)
    let room = words.isEmpty ? 0 : words.utf8.count + 2
    grid.put(name, line, 3, width: max(grid.columns - 4 - room, 1), style: style)
    if room > 0, grid.columns > 2 * room + 8 {
      grid.put(words, line, grid.columns - room + 1, style: isChosen ? .reverse : .dim)
    }
  }
}
