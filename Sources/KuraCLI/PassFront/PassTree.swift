// SPDX-License-Identifier: MIT

/// Draws names as a tree of folders, as pass has `tree` draw them.
struct PassTree {
  private final class Node {
    let name: [UInt8]
    var isItem = false
    var inner: [Node] = []

    init(_ name: [UInt8]) { self.name = name }
  }

  private let root = Node([])
  private let isUTF8: Bool

  init(isUTF8: Bool) { self.isUTF8 = isUTF8 }

  /// Adds a name; names come sorted.
  func add(_ name: String) {
    var node = root
    for part in name.utf8.split(separator: UInt8(ascii: "/")) {
      if let known = node.inner.last(where: { $0.name.elementsEqual(part) }) {
        node = known
      } else {
        let made = Node(Array(part))
        node.inner.append(made)
        node = made
      }
    }
    node.isItem = true
  }

  var isEmpty: Bool { root.inner.isEmpty }

  /// Writes it, a line a name.
  func write(to output: inout Output) throws(CommandError) {
    try write(root, "", &output)
  }

  private func write(
    _ node: Node, _ indent: String, _ output: inout Output
  ) throws(CommandError) {
    let sorted = node.inner.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    for (index, inner) in sorted.enumerated() {
      let isLast = index == sorted.count - 1
      let branch = isUTF8 ? (isLast ? "└── " : "├── ") : (isLast ? "`-- " : "|-- ")
      try output.write(indent + branch)
      let name = inner.name
      try output.write(wholeLine: name.span)
      let further = isLast ? "    " : (isUTF8 ? "│   " : "|   ")
      try write(inner, indent + further, &output)
    }
  }
}

extension Output {
  /// Writes a line of text, and its end.
  mutating func write(ended text: String) throws(CommandError) {
    try write(line: text)
    try write("\n")
  }
}
