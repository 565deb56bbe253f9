// SPDX-License-Identifier: MIT

/// Finds values in a JSON text that holds no secret.
struct PlainJSON {
  /// Says where a value stands.
  struct Place: Equatable {
    fileprivate let index: Int
  }

  private let text: [UInt8]
  private let nodes: [JSONDocument.Node]

  init(_ text: [UInt8]) throws(JSONFlaw) {
    var scanner = JSONScanner()
    try scanner.scan(text.span)
    self.text = text
    nodes = scanner.nodes
  }

  /// The whole.
  var root: Place { Place(index: 0) }

  func kind(_ place: Place) -> JSONDocument.Kind { nodes[place.index].kind }

  /// What stands in an object or an array, in the order of the text.
  func children(_ place: Place) -> [Place] {
    nodes.indices.filter { $0 > 0 && nodes[$0].parent == place.index }.map { Place(index: $0) }
  }

  /// The key of a member.
  func key(_ place: Place) -> String { text(nodes[place.index].key) }

  /// The member of that key; nil where there is none, or `null`.
  func member(_ place: Place, _ key: String) -> Place? {
    guard kind(place) == .object else { return nil }
    return children(place).first {
      JSONScanner.isString(text.span, nodes[$0.index].key, key) && !isNull($0)
    }
  }

  func string(_ place: Place?) -> String? {
    guard let place, kind(place) == .string else { return nil }
    return text(nodes[place.index].range)
  }

  /// The strings of an array; nil where it is none, or has anything else.
  func strings(_ place: Place?) -> [String]? {
    guard let place, kind(place) == .array else { return nil }
    var all: [String] = []
    for child in children(place) {
      guard let text = string(child) else { return nil }
      all.append(text)
    }
    return all
  }

  func truth(_ place: Place?) -> Bool? {
    guard let place, kind(place) == .literal, !isNull(place) else { return nil }
    return text[nodes[place.index].range.lowerBound] == UInt8(ascii: "t")
  }

  /// A value as it stands in the text.
  func written(_ place: Place) -> [UInt8] {
    let range = nodes[place.index].range
    guard kind(place) == .string else { return Array(text[range]) }
    return Array(text[(range.lowerBound - 1)...range.upperBound])
  }

  private func isNull(_ place: Place) -> Bool {
    kind(place) == .literal && text[nodes[place.index].range.lowerBound] == UInt8(ascii: "n")
  }

  private func text(_ range: Range<Int>) -> String {
    let bytes = JSONScanner.array(text.span, range)
    return String(validating: bytes, as: UTF8.self) ?? ""
  }
}
