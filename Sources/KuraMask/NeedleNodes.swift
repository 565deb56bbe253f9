// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Keeps the forms as a trie in guarded memory: each node stands for a beginning of one.
struct NeedleNodes: ~Copyable {
  /// The node of nothing.
  static let root: UInt32 = 0

  /// Names the numbers of a node.
  private enum Part: Int {
    /// The first node that is one byte longer; 0 for none.
    case child
    /// The next node with the same beginning but for its last byte; 0 for none.
    case sibling
    /// The longest other beginning that this one ends with.
    case fallback
    /// `length << 8 | last byte`.
    case text
    /// How many bytes the longest form has that this beginning ends with; 0 for none.
    case match
    /// Whose form that is.
    case owner
    /// Whose form it begins; in the highest bit, whether a value ends here.
    case origin

    static let count = 7
    /// In bytes.
    static let stride = count * 4
  }

  private static let whole: UInt32 = 1 << 31
  /// A node before it has anything.
  private static let none = [28 of UInt8](repeating: 0)

  private var numbers: SecretBuffer
  /// The children of the root, by their byte.
  private var first: SecretBytes

  init() throws(SecureMemoryError) {
    var numbers = try SecretBuffer(capacity: 64 * Part.stride)
    let first = try SecretBytes(count: 256 * 4)
    try NeedleNodes.append(text: 0, origin: 0, to: &numbers)
    self.numbers = numbers
    self.first = first
  }

  var count: Int { numbers.count / Part.stride }

  @inline(__always)
  private func value(_ part: Part, of node: UInt32) -> UInt32 {
    NeedleNodes.number(numbers.bytes, at: Int(node) * Part.stride + part.rawValue * 4)
  }

  @inline(__always)
  private static func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
      | UInt32(bytes[offset + 3]) << 24
  }

  private mutating func set(_ part: Part, of node: UInt32, to number: UInt32) {
    numbers.overwrite(number, at: Int(node) * Part.stride + part.rawValue * 4)
  }

  private static func append(
    text: UInt32, origin: UInt32, to numbers: inout SecretBuffer
  ) throws(SecureMemoryError) {
    let (text, origin) = (bytes(of: text), bytes(of: origin))
    try numbers.append(none.span)
    numbers.overwrite(at: numbers.count - Part.stride + Part.text.rawValue * 4, with: text.span)
    numbers.overwrite(at: numbers.count - Part.stride + Part.origin.rawValue * 4, with: origin.span)
  }

  // MARK: Building

  mutating func insert(_ form: Span<UInt8>, _ owner: UInt32) throws(SecureMemoryError) {
    var node = NeedleNodes.root
    for index in form.indices {
      let byte = form[index]
      if let child = child(of: node, byte) {
        node = child
        continue
      }
      guard numbers.count <= NeedleSet.longest else {
        throw .allocationFailed(byteCount: numbers.count)
      }
      let child = UInt32(count)
      try NeedleNodes.append(
        text: UInt32(index + 1) << 8 | UInt32(byte), origin: owner, to: &numbers)
      if node == NeedleNodes.root {
        first.overwrite(child, at: Int(byte) * 4)
      }
      set(.sibling, of: child, to: value(.child, of: node))
      set(.child, of: node, to: child)
      node = child
    }
    guard match(at: node) != form.count else { return }
    set(.match, of: node, to: UInt32(form.count))
    set(.owner, of: node, to: owner)
  }

  /// Gives each node what it falls back to, those of shorter beginnings first.
  mutating func link() {
    var queue: [UInt32] = [NeedleNodes.root]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      var child = value(.child, of: node)
      while child != 0 {
        queue.append(child)
        let byte = UInt8(truncatingIfNeeded: value(.text, of: child))
        let fallback =
          node == NeedleNodes.root
          ? NeedleNodes.root : step(from: value(.fallback, of: node), byte)
        set(.fallback, of: child, to: fallback)
        if match(at: child) != depth(of: child) {
          set(.match, of: child, to: value(.match, of: fallback))
          set(.owner, of: child, to: value(.owner, of: fallback))
        }
        child = value(.sibling, of: child)
      }
    }
  }

  /// Notes that a value was added in all its forms.
  mutating func markWhole(_ value: Span<UInt8>) {
    guard let node = node(of: value) else { return }
    set(.origin, of: node, to: self.value(.origin, of: node) | NeedleNodes.whole)
  }

  /// Whether a value was.
  func isWhole(_ value: Span<UInt8>) -> Bool {
    guard let node = node(of: value) else { return false }
    return self.value(.origin, of: node) & NeedleNodes.whole != 0
  }

  private func node(of text: Span<UInt8>) -> UInt32? {
    var node = NeedleNodes.root
    for index in text.indices {
      guard let child = child(of: node, text[index]) else { return nil }
      node = child
    }
    return node
  }

  // MARK: Walking

  private func child(of node: UInt32, _ byte: UInt8) -> UInt32? {
    if node == NeedleNodes.root {
      let child = NeedleNodes.number(first.bytes, at: Int(byte) * 4)
      return child == 0 ? nil : child
    }
    var child = value(.child, of: node)
    while child != 0 {
      if UInt8(truncatingIfNeeded: value(.text, of: child)) == byte { return child }
      child = value(.sibling, of: child)
    }
    return nil
  }

  /// The longest beginning that a text ends with, once a byte stands behind it.
  func step(from node: UInt32, _ byte: UInt8) -> UInt32 {
    var node = node
    while true {
      if let child = child(of: node, byte) { return child }
      if node == NeedleNodes.root { return node }
      node = value(.fallback, of: node)
    }
  }

  /// How many bytes a node stands for.
  func depth(of node: UInt32) -> Int { Int(value(.text, of: node) >> 8) }

  /// How many bytes the longest form has that a node's text ends with; 0 for none.
  func match(at node: UInt32) -> Int { Int(value(.match, of: node)) }

  /// Whose form that is.
  func owner(at node: UInt32) -> UInt32 { value(.owner, of: node) }

  /// Whose form the node's text begins.
  func origin(at node: UInt32) -> UInt32 { value(.origin, of: node) & ~NeedleNodes.whole }
}

extension NeedleNodes {
  fileprivate static func bytes(of number: UInt32) -> [4 of UInt8] {
    [
      UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8),
      UInt8(truncatingIfNeeded: number >> 16), UInt8(truncatingIfNeeded: number >> 24),
    ]
  }
}

extension SecretBuffer {
  fileprivate mutating func overwrite(_ number: UInt32, at offset: Int) {
    let bytes = NeedleNodes.bytes(of: number)
    overwrite(at: offset, with: bytes.span)
  }
}

extension SecretBytes {
  fileprivate mutating func overwrite(_ number: UInt32, at offset: Int) {
    let bytes = NeedleNodes.bytes(of: number)
    overwrite(at: offset, with: bytes.span)
  }
}
