// SPDX-License-Identifier: MIT

/// Walks over the keys of a list that was proved before, in place.
struct TrailKeys: ~Escapable {
  /// Says what stands behind each key.
  enum List {
    /// The value's length.
    case secret
    /// A field.
    case deleted
    /// Nothing.
    case plain
  }

  private let bytes: Span<UInt8>
  private let list: List
  private var left: Int
  private var next: Int
  private var keyRange = 0..<0
  /// Where stands what is behind the key.
  private(set) var tail = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, from start: Int, of list: List) {
    self.bytes = bytes
    self.list = list
    left = Int(bytes[start]) | Int(bytes[start + 1]) << 8
    next = start + 2
  }

  /// The key that the walk is at.
  var key: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(keyRange) }
  }

  /// Goes to the next key.
  ///
  /// - Returns: Whether there is one.
  mutating func advance() -> Bool {
    guard left > 0 else { return false }
    left -= 1
    let count = Int(bytes[next]) | Int(bytes[next + 1]) << 8
    keyRange = (next + 2)..<(next + 2 + count)
    tail = keyRange.upperBound
    switch list {
    case .secret: next = tail + 4
    case .deleted: next = tail + 1 + 2 * Int(bytes[tail])
    case .plain: next = tail
    }
    return true
  }
}

/// Remembers which stamps some field has.
struct UsedStamps: Sendable {
  private var words = InlineArray<17, UInt64>(repeating: 0)

  /// Notes that a field has one; the revision's own is 0.
  mutating func note(_ stamp: Int) { words[stamp / 64] |= 1 << UInt64(stamp % 64) }

  /// How many there are beside the revision's own.
  var count: Int {
    var count = 0
    for index in words.indices { count += words[index].nonzeroBitCount }
    return count - Int(words[0] & 1)
  }
}
