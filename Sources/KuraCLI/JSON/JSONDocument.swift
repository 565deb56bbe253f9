// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Tells why a text is no JSON, or not the JSON that was expected, and at which byte.
struct JSONFlaw: Error, Equatable, Sendable {
  /// Names what can be wrong.
  enum Kind: Equatable, Sendable {
    /// Something stands there that cannot.
    case unexpected
    /// The text ends inside a value.
    case ended
    case controlCharacter
    case notUTF8
    /// A `\` with something behind it that is no escape.
    case escape
    /// Half of a surrogate pair.
    case surrogate
    case repeatedKey
    case tooDeep
    case tooMany
    /// A member is of another kind than it has to be.
    case otherKind
  }

  let kind: Kind
  let offset: Int
}

extension JSONFlaw.Kind {
  /// What it is, behind the name of the text.
  var words: String {
    switch self {
    case .unexpected: "it is no JSON"
    case .ended: "the JSON ends too early"
    case .controlCharacter: "a string has a control character"
    case .notUTF8: "a string is not UTF-8 text"
    case .escape: "a string has a \\ that is no escape"
    case .surrogate: "a string has half of a character"
    case .repeatedKey: "a key stands twice in one object"
    case .tooDeep: "it is nested too deep"
    case .tooMany: "it has too many values"
    case .otherKind: "a member is of the wrong kind"
    }
  }
}

/// Finds values in a JSON text (RFC 8259) that was read to its end and found whole. It is kept as
/// it came, in guarded memory; a string leaves it only for guarded memory or, where it is no
/// secret, as text.
///
/// It is strict, since two readers that disagree about one text are an attack: UTF-8 without a byte
/// order mark, no key twice in an object, no lone surrogates, nothing behind the value.
struct JSONDocument: ~Copyable {
  /// Tells values apart.
  enum Kind: Equatable, Sendable {
    case object, array, string, number, literal
  }

  /// Says of a value where it stands, and in what.
  struct Node: Sendable {
    let parent: Int
    /// Where its key stands, without the quotes; empty where it has none.
    let key: Range<Int>
    let kind: Kind
    /// Of a string, what is between the quotes.
    var range: Range<Int>
  }

  private let text: SecretBuffer
  private let nodes: [Node]
  /// The item whose value it is; nil of what another program says.
  private let item: String?

  /// Reads all of a text.
  init(_ text: consuming SecretBuffer, of item: String? = nil) throws(JSONFlaw) {
    var scanner = JSONScanner()
    try scanner.scan(text.bytes)
    self.text = text
    self.item = item
    nodes = scanner.nodes
  }
}

// MARK: - Members

extension JSONDocument {
  /// Whether the document is an object.
  var isObject: Bool { nodes[0].kind == .object }

  /// How many members the outermost object has.
  var memberCount: Int { nodes.indices.count { $0 > 0 && nodes[$0].parent == 0 } }

  /// Copies the string at a path of keys; false where nothing or `null` stands.
  ///
  /// - Parameter secret: What it held before goes.
  func read(_ path: [String], into secret: inout SecretBuffer) throws(CommandError) -> Bool {
    secret.removeAll()
    guard let node = try node(path, .string) else { return false }
    do throws(SecureMemoryError) {
      try secret.reserve(node.range.count)
      try JSONScanner.decode(text.bytes, node.range) { byte throws(SecureMemoryError) in
        try secret.append(byte)
      }
    } catch { throw .outOfMemory }
    return true
  }

  /// A string that is no secret; nil where nothing or `null` stands.
  func bytes(_ path: String...) throws(CommandError) -> [UInt8]? {
    guard let node = try node(path, .string) else { return nil }
    return JSONScanner.array(text.bytes, node.range)
  }

  /// A whole number that is not negative; nil where nothing or `null` stands.
  func number(_ path: String...) throws(CommandError) -> UInt64? {
    guard let node = try node(path, .number) else { return nil }
    var digits: [UInt8] = []
    for index in node.range { digits.append(text.bytes[index]) }
    guard let number = Decimal.parse(digits[...]) else { throw otherKind(node) }
    return number
  }

  private func node(_ path: [String], _ kind: Kind) throws(CommandError) -> Node? {
    var current = 0
    for key in path {
      guard
        let next = nodes.indices.first(where: {
          $0 > 0 && nodes[$0].parent == current && nodes[current].kind == .object
            && JSONScanner.isString(text.bytes, nodes[$0].key, key)
        })
      else { return nil }
      current = next
    }
    let found = nodes[current]
    if found.kind == .literal, text.bytes[found.range.lowerBound] == UInt8(ascii: "n") {
      return nil
    }
    guard found.kind == kind else { throw otherKind(found) }
    return found
  }

  private func otherKind(_ node: Node) -> CommandError {
    let flaw = JSONFlaw(kind: .otherKind, offset: node.range.lowerBound)
    return item.map { .notAValue($0, flaw) } ?? .notARequest(flaw)
  }
}

// MARK: - Requests

extension JSONDocument {
  /// Reads a request, which is an object.
  static func request(_ text: consuming SecretBuffer) throws(CommandError) -> JSONDocument {
    do throws(JSONFlaw) {
      let document = try JSONDocument(text)
      if document.isObject { return document }
    } catch { throw .notARequest(error) }
    throw .failure("the request is not as it must be: it is no JSON object")
  }
}

extension CommandError {
  /// What is wrong with an item's value that begins as JSON; nothing of it is told.
  static func notAValue(_ item: String, _ flaw: JSONFlaw) -> CommandError {
    .failure(
      "the value of " + Diagnostic.shown(item) + " begins as JSON, but " + flaw.kind.words
        + " (byte \(flaw.offset))")
  }

  fileprivate static func notARequest(_ flaw: JSONFlaw) -> CommandError {
    .failure("the request is not as it must be: " + flaw.kind.words + " (byte \(flaw.offset))")
  }
}
