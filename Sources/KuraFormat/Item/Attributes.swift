// SPDX-License-Identifier: MIT

public import SecureMemory

/// Owns an item's attributes; in the engine keys and values are secrets alike.
public struct Attributes: ~Copyable, Sendable {
  /// The most bytes that attributes may have encoded; with the name they have to fit an item's meta.
  public static let longest = ItemMeta.longest
  /// The bytes of a list without any.
  public static let emptyByteCount = 2

  /// How many bytes one takes.
  public static func byteCount(key: Int, value: Int) -> Int { 2 + key + 4 + value }

  private let secret: SecretBytes

  private init(trusted secret: consuming SecretBytes) { self.secret = secret }

  /// No attributes.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func empty() throws(FormatError) -> Attributes {
    Attributes(trusted: try .allocate(2))
  }

  /// Takes attributes in any order, as a client sends them: the encoding of ``AttributeList``, not
  /// sorted. Keys are brought to normal form C.
  ///
  /// - Parameter entries: Ends with the last attribute; only borrowed.
  /// - Throws: ``FormatError/attributesInvalid(_:)``, ``FormatError/damaged`` when the bytes are no
  ///   such list, ``FormatError/outOfMemory``.
  public init(unsorted entries: Span<UInt8>) throws(FormatError) {
    guard entries.count <= 2 * Attributes.longest else { throw .attributesInvalid(.tooLarge) }
    var reader = ByteReader(entries)
    let count = Int(try reader.integer(UInt16.self))
    var result = try Attributes.empty()
    for _ in 0..<count {
      let key = try reader.take(Int(try reader.integer(UInt16.self)))
      let value = try reader.take(Int(try reader.integer(UInt32.self)))
      let normal = try Attributes.normalize(key: key)
      guard result.list.value(of: normal.bytes) == nil else {
        throw .attributesInvalid(.keyRepeated)
      }
      result = try result.setting(normal.bytes, to: value)
    }
    try reader.finish()
    self = result
  }

  /// A copy of a list.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public init(copying list: AttributeList) throws(FormatError) {
    secret = try .duplicate(list.bytes)
  }

  /// The attributes, to look at; the view cannot outlive its owner.
  public var list: AttributeList {
    @_lifetime(borrow self) borrowing get { AttributeList(trusted: secret.bytes) }
  }

  /// Checks a key and brings it to normal form C.
  ///
  /// - Throws: ``FormatError/attributesInvalid(_:)``, ``FormatError/outOfMemory``.
  public static func normalize(key: Span<UInt8>) throws(FormatError) -> SecretBytes {
    try checked(key: try composed(key: key))
  }

  private static func checked(key: consuming SecretBytes) throws(FormatError) -> SecretBytes {
    if let rule = brokenRule(key: key.bytes) { throw .attributesInvalid(rule) }
    return key
  }

  /// The rule for keys that a normalised text breaks.
  static func brokenRule(key: Span<UInt8>) -> AttributeRule? {
    if key.isEmpty { return .keyEmpty }
    for index in key.indices where key[index] == UInt8(ascii: "=") { return .keyCharacter }
    return nil
  }

  private static func composed(key: Span<UInt8>) throws(FormatError) -> SecretBytes {
    do {
      return try Text.normalize(key, limit: AttributeList.longestKey)
    } catch {
      switch error {
      case .rule(let rule): throw .attributesInvalid(AttributeRule(key: rule))
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}

// MARK: - Changing

extension Attributes {
  /// The same attributes with one set.
  ///
  /// - Parameters:
  ///   - key: As ``normalize(key:)`` gives it.
  ///   - value: UTF-8 without NUL.
  /// - Throws: ``FormatError/attributesInvalid(_:)``, ``FormatError/outOfMemory``.
  public borrowing func setting(
    _ key: Span<UInt8>, to value: Span<UInt8>
  ) throws(FormatError) -> Attributes {
    guard value.count <= Attributes.longest else { throw .attributesInvalid(.tooLarge) }
    guard Text.isUTF8(value) else { throw .attributesInvalid(.valueNotText) }
    return try rebuilt(without: key, adding: value)
  }

  /// The same attributes without one; the same attributes when it is not there.
  ///
  /// - Parameter key: As ``normalize(key:)`` gives it.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func removing(_ key: Span<UInt8>) throws(FormatError) -> Attributes {
    try rebuilt(without: key, adding: nil)
  }

  /// The same attributes with all of another list set.
  ///
  /// - Throws: ``FormatError/attributesInvalid(_:)``, ``FormatError/outOfMemory``.
  public borrowing func merging(_ other: AttributeList) throws(FormatError) -> Attributes {
    var result = try Attributes(copying: list)
    var cursor = other.makeCursor()
    while cursor.advance() { result = try result.setting(cursor.key, to: cursor.value) }
    return result
  }

  /// Copies all attributes but the one of `key`; a given value goes to its place in the order.
  private borrowing func rebuilt(
    without key: Span<UInt8>, adding value: Span<UInt8>?
  ) throws(FormatError) -> Attributes {
    let room = secret.count + key.count + (value?.count ?? 0) + 6
    var builder = try AttributeBuilder(capacity: room)
    var cursor = list.makeCursor()
    var isDue = value != nil
    while cursor.advance() {
      if isEqual(cursor.key, key) { continue }
      if isDue, let value, isAscending(key, cursor.key) {
        try builder.append(key: key, value: value)
        isDue = false
      }
      try builder.append(entry: cursor.entry)
    }
    if isDue, let value { try builder.append(key: key, value: value) }
    return Attributes(trusted: try builder.finish())
  }
}

/// Puts attributes one behind the other.
private struct AttributeBuilder: ~Copyable {
  private var buffer: SecretBuffer
  private var count: UInt16 = 0

  init(capacity: Int) throws(FormatError) {
    buffer = try AttributeBuilder.begin(capacity: capacity)
  }

  private static func begin(capacity: Int) throws(FormatError) -> SecretBuffer {
    do {
      var buffer = try SecretBuffer(capacity: capacity)
      try buffer.append(integer: UInt16(0))
      return buffer
    } catch {
      throw .outOfMemory
    }
  }

  mutating func append(entry: Span<UInt8>) throws(FormatError) {
    do { try buffer.append(entry) } catch { throw .outOfMemory }
    try finishEntry()
  }

  mutating func append(key: Span<UInt8>, value: Span<UInt8>) throws(FormatError) {
    do {
      try buffer.append(integer: UInt16(key.count))
      try buffer.append(key)
      try buffer.append(integer: UInt32(value.count))
      try buffer.append(value)
    } catch {
      throw .outOfMemory
    }
    try finishEntry()
  }

  private mutating func finishEntry() throws(FormatError) {
    guard count < AttributeList.mostAttributes else { throw .attributesInvalid(.tooMany) }
    guard buffer.count <= Attributes.longest else { throw .attributesInvalid(.tooLarge) }
    count += 1
  }

  consuming func finish() throws(FormatError) -> SecretBytes {
    let low = [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
    buffer.overwrite(at: 0, with: low.span)
    return buffer.finish()
  }
}
