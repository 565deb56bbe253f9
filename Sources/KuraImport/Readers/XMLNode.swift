// SPDX-License-Identifier: MIT

/// Holds an element of an XML document.
final class XMLNode {
  let name: String
  let attributes: [String: String]
  private(set) var children: [XMLNode] = []
  /// What stands in it beside its children.
  private(set) var text: [UInt8] = []
  /// The line that it begins on.
  let line: UInt64

  init(_ name: String, _ attributes: [String: String], line: UInt64) {
    (self.name, self.attributes, self.line) = (name, attributes, line)
  }

  func add(_ child: XMLNode) { children.append(child) }

  func add(_ bytes: UnsafeRawBufferPointer) { unsafe text.append(contentsOf: bytes) }

  /// The first child of that name.
  subscript(_ name: String) -> XMLNode? { children.first { $0.name == name } }

  /// All children of that name.
  func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }
}
