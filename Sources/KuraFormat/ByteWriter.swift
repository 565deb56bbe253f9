// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

extension [UInt8] {
  /// Appends an integer, least significant byte first.
  mutating func append<Integer: FixedWidthInteger>(integer: Integer) {
    for index in 0..<(Integer.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: integer >> Integer(8 * index)))
    }
  }

  mutating func append(span: Span<UInt8>) {
    append(bytes: span)
  }

  mutating func append<Subject>(_ identifier: Identifier<Subject>) {
    append(integer: identifier.high.byteSwapped)
    append(integer: identifier.low.byteSwapped)
  }

  mutating func append(_ digest: Digest) { append(span: digest.span) }

  mutating func append(zeros count: Int) { append(contentsOf: repeatElement(0, count: count)) }
}

extension SecretBuffer {
  mutating func append<Subject>(
    _ identifier: Identifier<Subject>
  ) throws(SecureMemoryError) {
    try append(integer: identifier.high.byteSwapped)
    try append(integer: identifier.low.byteSwapped)
  }
}

extension SecretBytes {
  /// A zeroed secret, its failure told in this module's words.
  static func allocate(_ count: Int) throws(FormatError) -> SecretBytes {
    do { return try SecretBytes(count: count) } catch { throw .outOfMemory }
  }

  /// A copy, its failure told in this module's words.
  static func duplicate(_ bytes: Span<UInt8>) throws(FormatError) -> SecretBytes {
    do { return try SecretBytes(copying: bytes) } catch { throw .outOfMemory }
  }
}
