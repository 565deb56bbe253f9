// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Keeps the names there are, sorted, in one block of bytes that goes as a whole.
struct NameTable {
  /// Says of an item what a list shows beside its name.
  struct Mark: OptionSet, Sendable {
    let rawValue: UInt8
    static let protected = Mark(rawValue: 1)
    static let code = Mark(rawValue: 2)
  }

  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var marks: [Mark] = []

  /// A table of these names, in any order.
  init(_ names: [(name: String, mark: Mark)] = []) {
    let sorted = names.sorted { $0.name < $1.name }
    bytes.reserveCapacity(names.reduce(0) { $0 + $1.name.utf8.count })
    ends.reserveCapacity(names.count)
    for (name, mark) in sorted {
      bytes.append(contentsOf: name.utf8)
      ends.append(bytes.count)
      marks.append(mark)
    }
  }

  var count: Int { ends.count }

  /// The bytes of a name.
  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  func utf8(_ index: Int) -> ArraySlice<UInt8> { bytes[range(index)] }

  func name(_ index: Int) -> String { String(decoding: utf8(index), as: UTF8.self) }

  func mark(_ index: Int) -> Mark { marks[index] }

  /// The place of a name, or where it would stand.
  func place(of name: some Collection<UInt8>) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if utf8(middle).lexicographicallyPrecedes(name) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: - Folders

extension NameTable {
  /// A line of a list: an item, or a folder, which is a part of the names of the items in it.
  struct Row: Equatable {
    /// The item, or the first one in the folder.
    let index: Int
    /// How many bytes of that item's name are the folder's; 0: it is an item.
    var folder = 0
    /// How many items are in it.
    var count = 1
  }

  /// What stands directly in a folder: folders first.
  func rows(in folder: String) -> [Row] {
    let prefix = Array(folder.utf8)
    var (folders, items): ([Row], [Row]) = ([], [])
    var index = place(of: prefix)
    while index < count, utf8(index).starts(with: prefix) {
      let name = utf8(index)
      let rest = name.dropFirst(prefix.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
        items.append(Row(index: index))
        index += 1
        continue
      }
      let inner = name[..<(slash + 1)]
      let first = index
      while index < count, utf8(index).starts(with: inner) { index += 1 }
      folders.append(Row(index: first, folder: inner.count, count: index - first))
    }
    return folders + items
  }

  /// The folder that a row is.
  func folder(_ row: Row) -> String {
    String(decoding: utf8(row.index).prefix(row.folder), as: UTF8.self)
  }
}
