// SPDX-License-Identifier: MIT

public import SecureMemory

/// Finds many values at once, in all their forms, in one walk over a text (Aho and Corasick, 1975).
///
/// It holds the values, and is wiped with its memory.
public struct NeedleSet: ~Copyable {
  /// The most bytes that a value may have to be found.
  public static var longestValue: Int { NeedleForms.longest }
  /// The most bytes that all forms together may take.
  static let longest = 256 << 20

  /// The forms as a trie.
  var nodes: NeedleNodes
  /// A bit for each of the first windows of a form.
  var beginnings: SecretBytes
  /// The names, one behind the other.
  private var names: SecretBuffer
  private var nameEnds: [Int] = []
  private var isLinked = true

  /// Without any value it finds nothing.
  ///
  /// - Throws: ``SecureMemoryError``.
  public init() throws(SecureMemoryError) {
    let nodes = try NeedleNodes()
    let beginnings = try SecretBytes(count: NeedleSet.bitCount / 8)
    let names = try SecretBuffer(capacity: 64)
    self.nodes = nodes
    self.beginnings = beginnings
    self.names = names
  }

  /// How many values it finds.
  public var count: Int { nameEnds.count }

  /// Says what becomes of a value that is added.
  public enum Outcome: Sendable {
    /// It is found from now on.
    case added
    /// It was found before, under the name that it was given first.
    case known
    /// It has too few bytes: too much that is no secret would look like it.
    case tooShort
    /// It has more than 64 KiB; none of its forms is looked for.
    case tooLong
  }

  /// Adds a value; ``finish()`` must follow before anything is looked for.
  ///
  /// - Parameters:
  ///   - value: The bytes; copied.
  ///   - name: What is said in its place.
  /// - Throws: ``SecureMemoryError``; some forms may be found, and all of what was added before.
  public mutating func add(
    _ value: Span<UInt8>, named name: Span<UInt8>
  ) throws(SecureMemoryError) -> Outcome {
    guard value.count >= NeedleForms.shortest else { return .tooShort }
    guard value.count <= NeedleForms.longest else { return .tooLong }
    guard !nodes.isWhole(value) else { return .known }
    isLinked = false
    let owner = UInt32(nameEnds.count)
    try names.append(name)
    nameEnds.append(names.count)
    var forms = try NeedleForms()
    try forms.each(of: value) { form throws(SecureMemoryError) in
      try nodes.insert(form, owner)
      var bits = beginnings.mutableBytes
      for place in 0..<NeedleSet.windowStep {
        let number = NeedleSet.bit(of: NeedleSet.window(form, at: place))
        bits[number >> 3] |= 1 << UInt8(number & 7)
      }
    }
    nodes.markWhole(value)
    return .added
  }

  /// Links the forms with each other, where some are new. What was begun with fewer values goes on.
  public mutating func finish() {
    guard !isLinked else { return }
    nodes.link()
    isLinked = true
  }

  /// The name of a value.
  @_lifetime(borrow self)
  borrowing func name(_ owner: UInt32) -> Span<UInt8> {
    names.bytes.extracting((owner == 0 ? 0 : nameEnds[Int(owner) - 1])..<nameEnds[Int(owner)])
  }
}

extension NeedleSet {
  /// How many windows are told apart: so few that they stay in the cache.
  private static let bitCount = 1 << 20
  /// How far windows are apart; one step and a window are as long as the shortest form.
  static let windowStep = NeedleForms.shortest - 3

  @inline(__always)
  static func bit(of window: UInt32) -> Int {
    Int((window &* 0x9E37_79B1) >> 12)
  }

  /// Four bytes of a text.
  @inline(__always)
  static func window(_ text: Span<UInt8>, at place: Int) -> UInt32 {
    UInt32(text[place]) | UInt32(text[place &+ 1]) << 8 | UInt32(text[place &+ 2]) << 16
      | UInt32(text[place &+ 3]) << 24
  }
}
