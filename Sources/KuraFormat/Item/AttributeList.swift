// SPDX-License-Identifier: MIT

/// Shows attributes as they stand encoded in guarded memory: `key=value` pairs, ascending by key.
///
/// Encoded they are `u16 count ‖ count × (u16 length ‖ key ‖ u32 length ‖ value)`.
public struct AttributeList: ~Escapable {
  /// The longest key, in bytes.
  public static let longestKey = 255
  /// How many an item may have.
  public static let mostAttributes = 256

  /// The encoded attributes.
  public let bytes: Span<UInt8>

  /// How many there are.
  public let count: Int

  /// A list that was decoded or built before, and so is known to be whole.
  @_lifetime(copy bytes)
  init(trusted bytes: Span<UInt8>) {
    self.bytes = bytes
    count = Int(bytes[0]) | Int(bytes[1]) << 8
  }

  /// Checks encoded attributes that end a record: order, rules and that nothing follows.
  ///
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    let count = Int(try reader.integer(UInt16.self))
    guard count <= AttributeList.mostAttributes else { throw .damaged }
    var last = Span<UInt8>()
    for index in 0..<count {
      let key = try reader.counted16(limit: AttributeList.longestKey)
      let value = try reader.take(Int(try reader.integer(UInt32.self)))
      guard Attributes.brokenRule(key: key) == nil, Text.isUTF8(value),
        Text.isCanonical(key, limit: AttributeList.longestKey)
      else { throw .damaged }
      guard index == 0 || isAscending(last, key) else { throw .damaged }
      last = key
    }
    try reader.finish()
    self.bytes = bytes
    self.count = count
  }

  /// Where encoded attributes end that something follows; whether they are such is not looked at.
  static func end(of bytes: Span<UInt8>, from start: Int) throws(FormatError) -> Int {
    var reader = ByteReader(bytes)
    _ = try reader.take(start)
    let count = Int(try reader.integer(UInt16.self))
    guard count <= AttributeList.mostAttributes else { throw .damaged }
    for _ in 0..<count {
      _ = try reader.take(Int(try reader.integer(UInt16.self)))
      _ = try reader.take(Int(try reader.integer(UInt32.self)))
    }
    return reader.offset
  }

  /// The value of a key, in place; `nil` when there is none.
  ///
  /// - Parameter key: In normal form C.
  @_lifetime(copy self)
  public func value(of key: Span<UInt8>) -> Span<UInt8>? {
    var cursor = makeCursor()
    while cursor.advance() {
      if isEqual(cursor.key, key) { return cursor.value }
    }
    return nil
  }

  /// A cursor before the first attribute.
  @_lifetime(copy self)
  public func makeCursor() -> AttributeCursor { AttributeCursor(self) }
}

/// Walks attributes in order, in place.
public struct AttributeCursor: ~Escapable {
  private let bytes: Span<UInt8>
  private var left: Int
  private var next = 2

  /// Where the attribute that the cursor stands on begins.
  private var start = 2
  private var keyRange = 0..<0
  private var valueRange = 0..<0

  @_lifetime(copy list)
  init(_ list: AttributeList) {
    bytes = list.bytes
    left = list.count
  }

  /// The key that the cursor stands on.
  public var key: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(keyRange) }
  }

  /// The value that the cursor stands on.
  public var value: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(valueRange) }
  }

  /// The attribute that the cursor stands on, as it is encoded.
  var entry: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(start..<next) }
  }

  /// Moves to the next attribute.
  ///
  /// - Returns: Whether there is one.
  public mutating func advance() -> Bool {
    guard left > 0 else { return false }
    left -= 1
    start = next
    keyRange = range(width: 2)
    valueRange = range(width: 4)
    return true
  }

  /// Where the bytes behind the next length are.
  private mutating func range(width: Int) -> Range<Int> {
    var count = 0
    for index in 0..<width { count |= Int(bytes[next + index]) << (8 * index) }
    let first = next + width
    next = first + count
    return first..<next
  }
}

/// Whether both hold the same bytes; not in constant time.
func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  for index in left.indices where left[index] != right[index] { return false }
  return true
}

/// Whether `left` stands before `right`, byte for byte.
func isAscending(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  for index in 0..<min(left.count, right.count) where left[index] != right[index] {
    return left[index] < right[index]
  }
  return left.count < right.count
}
