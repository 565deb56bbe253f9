// SPDX-License-Identifier: MIT

/// Holds the list of items: what is looked for, what is chosen, and which part is in view.
struct ItemList {
  private(set) var names = NameTable()
  private(set) var rows: [NameTable.Row] = []
  private(set) var search = ""
  /// Whether what is typed goes to the search.
  var isSearching = false
  private(set) var isTree = false
  /// The folder that the tree shows, with a `/` at its end; empty: all.
  private(set) var folder = ""
  private(set) var selected = 0
  /// The first row in view.
  private(set) var top = 0
  /// Stands for the chosen item while no names are kept.
  private var place: Int?

  /// The chosen item's name; nil: a folder, or none.
  var name: String? {
    guard rows.indices.contains(selected), rows[selected].folder == 0 else { return nil }
    return names.name(rows[selected].index)
  }

  // MARK: Names

  /// Takes the names of an unlocked vault, and goes where one stood.
  mutating func load(_ table: NameTable) {
    let wanted = place ?? name.map(Self.mark)
    names = table
    find()
    if let wanted,
      let row = rows.firstIndex(where: {
        $0.folder == 0 && Self.mark(names.name($0.index)) == wanted
      })
    {
      selected = row
    } else {
      selected = min(selected, max(rows.count - 1, 0))
    }
    place = nil
  }

  /// Forgets the names; what is kept is no name.
  mutating func forget() {
    place = name.map(Self.mark) ?? place
    names = NameTable()
    rows = []
  }

  /// Chooses an item by its name, in the whole list.
  mutating func choose(_ name: String) {
    if let row = rows.firstIndex(where: { $0.folder == 0 && names.name($0.index) == name }) {
      selected = row
    }
  }

  /// A number that stands for a name in this process alone.
  static func mark(_ name: String) -> Int { name.hashValue }

  // MARK: Searching

  mutating func look(for text: String) {
    let old = search
    search = text
    // What did not fit less does not fit more.
    let narrows = !old.isEmpty && text.hasPrefix(old) && !isTree
    find(among: narrows ? rows : nil)
    (selected, top) = (0, 0)
  }

  private mutating func find(among candidates: [NameTable.Row]? = nil) {
    if !search.utf8.allSatisfy({ $0 == 0x20 }) {
      rows = FuzzySearch(search).matches(in: names, among: candidates)
    } else if isTree {
      rows = names.rows(in: folder)
    } else {
      rows = (0..<names.count).map { NameTable.Row(index: $0) }
    }
  }

  // MARK: Folders

  mutating func toggleTree() {
    isTree.toggle()
    folder = ""
    find()
    (selected, top) = (0, 0)
  }

  /// Enters the chosen folder; false where none is chosen.
  mutating func enter() -> Bool {
    guard rows.indices.contains(selected), rows[selected].folder > 0 else { return false }
    folder = names.folder(rows[selected])
    find()
    (selected, top) = (0, 0)
    return true
  }

  /// Goes to the folder that holds this one; false at the top.
  mutating func leave() -> Bool {
    guard isTree, !folder.isEmpty else { return false }
    let inner = folder
    let parts = folder.dropLast().split(separator: "/").dropLast()
    folder = parts.map { $0 + "/" }.joined()
    find()
    selected = rows.firstIndex { $0.folder > 0 && names.folder($0) == inner } ?? 0
    top = 0
    return true
  }

  // MARK: Moving

  mutating func move(by count: Int) {
    selected = min(max(selected + count, 0), max(rows.count - 1, 0))
  }

  mutating func select(_ row: Int) { selected = min(max(row, 0), max(rows.count - 1, 0)) }

  /// Brings the chosen row into a view of so many rows.
  mutating func show(height: Int) {
    let height = max(height, 1)
    if selected < top { top = selected }
    if selected >= top + height { top = selected - height + 1 }
    top = max(min(top, rows.count - height), 0)
  }
}
