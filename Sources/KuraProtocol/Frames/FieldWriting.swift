// SPDX-License-Identifier: MIT

public import SecureMemory

/// Fields are written into guarded memory: a message may hold a passcode or a value, and
/// growing leaves nothing behind.
extension SecretBuffer {
  /// Writes a number, little-endian.
  public mutating func put<Number: FixedWidthInteger>(_ number: Number) throws(ProtocolError) {
    do throws(SecureMemoryError) { try append(integer: number) } catch { throw .outOfMemory }
  }

  /// Writes bytes as they are.
  public mutating func put(_ bytes: Span<UInt8>) throws(ProtocolError) {
    do throws(SecureMemoryError) { try append(bytes) } catch { throw .outOfMemory }
  }

  /// Writes a two-byte length and that many bytes (`b16`).
  public mutating func put16(
    _ bytes: Span<UInt8>, limit: Int = Int(UInt16.max)
  ) throws(ProtocolError) {
    guard bytes.count <= limit else { throw .fieldTooLong(limit: limit) }
    try put(UInt16(bytes.count))
    try put(bytes)
  }

  /// Writes a four-byte length and that many bytes (`b32`).
  public mutating func put32(
    _ bytes: Span<UInt8>, limit: Int = ProtocolLimit.frame
  ) throws(ProtocolError) {
    guard bytes.count <= limit else { throw .fieldTooLong(limit: limit) }
    try put(UInt32(bytes.count))
    try put(bytes)
  }

  /// Writes what a machine left, for a list of such.
  public mutating func putOffer(
    head: Span<UInt8>, header: Span<UInt8>, record: Span<UInt8>
  ) throws(ProtocolError) {
    try put32(head)
    try put32(header)
    try put32(record)
  }

  /// Writes the UTF-8 of a text that is no secret as a `b16`.
  public mutating func put16(
    text: String, limit: Int = Int(UInt16.max)
  ) throws(ProtocolError) {
    try put16(text.utf8.span, limit: limit)
  }

  /// Replaces a number that was written before.
  mutating func overwrite<Number: FixedWidthInteger>(integer number: Number, at offset: Int) {
    for index in 0..<(Number.bitWidth / 8) {
      let byte = UInt8(truncatingIfNeeded: number >> Number(8 * index))
      let one: InlineArray<1, UInt8> = [byte]
      overwrite(at: offset + index, with: one.span)
    }
  }
}

/// A counted list that is being written: where its count stands.
public struct OpenCount: Sendable {
  let offset: Int
}

// MARK: - Counted lists

extension SecretBuffer {
  /// Writes a two-byte count that is filled in later.
  public mutating func openCount() throws(ProtocolError) -> OpenCount {
    let place = OpenCount(offset: count)
    try put(UInt16(0))
    return place
  }

  /// Fills in the count of a list.
  public mutating func closeCount(_ place: OpenCount, _ number: Int) throws(ProtocolError) {
    guard let number = UInt16(exactly: number) else {
      throw .fieldTooLong(limit: Int(UInt16.max))
    }
    overwrite(integer: number, at: place.offset)
  }

  /// Writes one attribute: key as `b16`, value as `b32`.
  public mutating func putPair(
    key: Span<UInt8>, value: Span<UInt8>
  ) throws(ProtocolError) {
    try put16(key)
    try put32(value)
  }
}
