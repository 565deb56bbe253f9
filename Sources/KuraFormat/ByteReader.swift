// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Reads a record front to back; what is not there is damage, never a trap.
struct ByteReader: ~Escapable {
  private let bytes: Span<UInt8>
  private(set) var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  var remaining: Int { bytes.count - offset }

  /// The next `count` bytes, in place.
  @_lifetime(copy self)
  mutating func take(_ count: Int) throws(FormatError) -> Span<UInt8> {
    guard count >= 0, count <= remaining else { throw .damaged }
    let start = offset
    offset += count
    return bytes.extracting(start..<(start + count))
  }

  /// The next integer, least significant byte first.
  mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(FormatError) -> Integer {
    let part = try take(Integer.bitWidth / 8)
    var value: Integer = 0
    for index in part.indices { value |= Integer(part[index]) << Integer(8 * index) }
    return value
  }

  /// Bytes behind a 16-bit length of at most `limit`.
  @_lifetime(copy self)
  mutating func counted16(limit: Int) throws(FormatError) -> Span<UInt8> {
    let count = Int(try integer(UInt16.self))
    guard count <= limit else { throw .damaged }
    return try take(count)
  }

  mutating func identifier<Subject>() throws(FormatError) -> Identifier<Subject> {
    Identifier(try take(identifierByteCount))
  }

  mutating func digest() throws(FormatError) -> Digest {
    Digest(try take(Digest.byteCount))
  }

  /// Reserved bytes, which have to be zero.
  mutating func zeros(_ count: Int) throws(FormatError) {
    let part = try take(count)
    for index in part.indices where part[index] != 0 { throw .damaged }
  }

  /// Nothing may follow.
  func finish() throws(FormatError) {
    guard remaining == 0 else { throw .damaged }
  }
}
