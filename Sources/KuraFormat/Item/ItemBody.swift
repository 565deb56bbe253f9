// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Says where the chunks of a long value are, and holds the key that opens them.
public struct Manifest: ~Copyable, Sendable {
  /// The bytes of every chunk but the last, which has 1 to as many.
  public static let chunkByteCount = 65_536
  /// The longest value, in bytes: 1 TiB.
  public static let longestValue: UInt64 = 1 << 40

  static let byteCount = 64

  /// The value's bytes.
  public let length: UInt64
  /// What the chunks' rows are found by; fresh for each revision.
  public let value: ValueID
  /// The chunks' key; fresh for each revision.
  public let key: Key

  /// A manifest.
  ///
  /// - Parameter length: More than ``ItemBody/longestInline`` bytes, at most ``longestValue``.
  public init(length: UInt64, value: ValueID, key: consuming Key) {
    precondition(Manifest.holds(length), "a short value stands in the body itself")
    self.length = length
    self.value = value
    self.key = key
  }

  /// The number of chunks.
  public var chunkCount: UInt64 { Manifest.chunkCount(of: length) }

  /// The plaintext bytes of a chunk.
  ///
  /// - Parameter number: From 0, below ``chunkCount``.
  public func byteCount(ofChunk number: UInt64) -> Int {
    Manifest.byteCount(ofChunk: number, of: length)
  }

  /// The plaintext bytes of a chunk of a value.
  ///
  /// - Parameters:
  ///   - number: From 0, below the number of chunks.
  ///   - length: The value's bytes, one of ``lengths``.
  public static func byteCount(ofChunk number: UInt64, of length: UInt64) -> Int {
    let chunk = UInt64(chunkByteCount)
    return Int(min(length - number * chunk, chunk))
  }

  /// The number of chunks of a value.
  ///
  /// - Parameter length: The value's bytes, one of ``lengths``.
  public static func chunkCount(of length: UInt64) -> UInt64 {
    let chunk = UInt64(chunkByteCount)
    return length / chunk + (length.isMultiple(of: chunk) ? 0 : 1)
  }

  /// The lengths of values that have chunks, in bytes.
  public static let lengths = UInt64(ItemBody.longestInline) + 1...longestValue

  static func holds(_ length: UInt64) -> Bool { lengths.contains(length) }
}

/// Holds what an item's body has sealed: the value, or the manifest of a long one.
public enum ItemBody: ~Copyable, Sendable {
  /// The value itself.
  case inline(SecretBytes)
  /// Where the value is.
  case chunked(Manifest)

  /// The longest value that stands in the body itself, in bytes; longer ones are always chunked.
  public static let longestInline = 65_536

  private enum Form: UInt8 {
    case inline = 0
    case chunked = 1
  }

  /// Reads an opened body, which it takes over.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``; the bytes are gone.
  public static func decode(_ plaintext: consuming SecretBytes) throws(FormatError) -> ItemBody {
    guard plaintext.count >= 1, let form = Form(rawValue: plaintext.bytes[0]) else {
      throw .damaged
    }
    switch form {
    case .inline:
      guard plaintext.count <= longestInline + 1 else { throw .damaged }
      plaintext.removeFirst(1)
      return .inline(plaintext)
    case .chunked:
      return .chunked(try manifest(plaintext.bytes))
    }
  }

  private static func manifest(_ plaintext: Span<UInt8>) throws(FormatError) -> Manifest {
    var reader = ByteReader(plaintext)
    _ = try reader.integer(UInt8.self)
    let length = try reader.integer(UInt64.self)
    let count = try reader.integer(UInt64.self)
    guard Manifest.holds(length), count == Manifest.chunkCount(of: length) else {
      throw .damaged
    }
    let value: ValueID = try reader.identifier()
    let key = try reader.take(Key.byteCount)
    try reader.finish()
    return Manifest(length: length, value: value, key: try copiedKey(key))
  }

  /// The bytes to seal for a value that stands in the body itself.
  ///
  /// - Parameter value: At most ``longestInline`` bytes; only borrowed.
  /// - Throws: ``FormatError/outOfMemory``.
  public static func encode(inline value: Span<UInt8>) throws(FormatError) -> SecretBytes {
    var buffer: SecretBuffer
    do { buffer = try SecretBuffer(capacity: value.count + 1) } catch { throw .outOfMemory }
    try encode(inline: value, into: &buffer)
    return buffer.finish()
  }

  /// Appends the bytes to seal for a value that stands in the body itself.
  ///
  /// - Parameters:
  ///   - value: As for ``encode(inline:)``.
  ///   - buffer: They go to its end.
  /// - Throws: As that does.
  public static func encode(
    inline value: Span<UInt8>, into buffer: inout SecretBuffer
  ) throws(FormatError) {
    do throws(SecureMemoryError) { try append(inline: value, to: &buffer) } catch {
      throw .outOfMemory
    }
  }

  /// The same with the error of the memory.
  public static func append(
    inline value: Span<UInt8>, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    precondition(value.count <= longestInline, "a longer value is chunked")
    try buffer.append(Form.inline.rawValue)
    try buffer.append(value)
  }

  /// Whether a body has the value in it.
  static func isInline(_ body: Span<UInt8>) -> Bool {
    (1...(longestInline + 1)).contains(body.count) && body[0] == Form.inline.rawValue
  }

  /// The bytes to seal for a chunked value.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func encode(_ manifest: borrowing Manifest) throws(FormatError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: 1 + Manifest.byteCount)
      try buffer.append(Form.chunked.rawValue)
      try buffer.append(integer: manifest.length)
      try buffer.append(integer: manifest.chunkCount)
      try buffer.append(manifest.value)
      try buffer.append(manifest.key.bytes)
      return buffer.finish()
    } catch {
      throw .outOfMemory
    }
  }
}
