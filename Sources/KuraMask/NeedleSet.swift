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
  /// Of the first four bytes of each form a bit.
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
      guard form.count >= 4 else { return }
      let number = NeedleSet.bit(of: form[0], form[1], form[2], form[3])
      var bits = beginnings.mutableBytes
      bits[number >> 3] |= 1 << UInt8(number & 7)
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
  /// How many beginnings are told apart: so few that they stay in the cache.
  private static let bitCount = 1 << 20

  @inline(__always)
  static func bit(of window: UInt32) -> Int {
    Int((window &* 0x9E37_79B1) >> 12)
  }

  private static func bit(of a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> Int {
    bit(of: UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d))
  }
}
