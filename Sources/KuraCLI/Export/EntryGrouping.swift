// SPDX-License-Identifier: MIT

/// Finds out which items make one entry: an item, and all whose names go on behind its own and a `/`.
enum EntryGrouping {
  /// The names of each entry, its own first.
  ///
  /// - Parameter names: Sorted by their bytes.
  static func groups(of names: [String]) -> [[String]] {
    var places: [Int] = []
    var groups: [[String]] = []
    for name in names {
      if let owner = owner(of: name, names) {
        // It was before this one, as a name is before all that goes on behind it.
        groups[places[owner]].append(name)
        places.append(places[owner])
      } else {
        places.append(groups.count)
        groups.append([name])
      }
    }
    return groups
  }

  /// The place of the outermost item that a name goes on behind.
  private static func owner(of name: String, _ names: [String]) -> Int? {
    let bytes = Array(name.utf8)
    for index in bytes.indices where bytes[index] == UInt8(ascii: "/") {
      if let found = place(of: bytes[..<index], names) { return found }
    }
    return nil
  }

  private static func place(of wanted: ArraySlice<UInt8>, _ names: [String]) -> Int? {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle].utf8.lexicographicallyPrecedes(wanted) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < names.count, names[low].utf8.elementsEqual(wanted) else { return nil }
    return low
  }
}
