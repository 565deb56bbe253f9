// SPDX-License-Identifier: MIT

public import SecureMemory

/// Rounds plaintexts up, so that a ciphertext's length tells little of the plaintext's.
///
/// A padded plaintext is `m ‖ 0x80 ‖ 0x00…` (ISO/IEC 7816-4).
public enum Padding {
  /// Up to here lengths are multiples of ``step``; from here on they follow Padmé.
  static let limit = 4096
  static let step = 256

  /// The length that a plaintext is padded to.
  ///
  /// Padmé (PoPETs 2019/4, §4): at most 12 % more, and only O(log log n) bits told.
  ///
  /// - Parameter count: The plaintext's bytes with the marker byte; at least 1.
  public static func paddedCount(_ count: Int) -> Int {
    precondition(count >= 1, "the marker byte counts")
    if count <= limit { return (count + step - 1) / step * step }
    let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
    let significant = Int.bitWidth - exponent.leadingZeroBitCount
    let mask = (1 << (exponent - significant)) - 1
    return (count + mask) & ~mask
  }

  /// A padded copy of a plaintext.
  ///
  /// - Throws: ``CryptoError/outOfMemory``.
  static func pad(_ plaintext: Span<UInt8>) throws(CryptoError) -> SecretBytes {
    var padded = try SecretBytes.make(count: paddedCount(plaintext.count + 1))
    padded.overwrite(at: 0, with: plaintext)
    var bytes = padded.mutableBytes
    bytes[plaintext.count] = 0x80
    return padded
  }

  /// Pads a plaintext in its place, which has room for it where ``paddedCount(_:)`` was asked.
  ///
  /// - Throws: `SecureMemoryError.allocationFailed(byteCount:)`; the plaintext is as it was.
  public static func pad(_ plaintext: inout SecretBuffer) throws(SecureMemoryError) {
    let missing = paddedCount(plaintext.count + 1) - plaintext.count
    try plaintext.reserve(missing)
    plaintext.append(upTo: missing) { tail in
      tail[0] = 0x80
      for index in 1..<missing { tail[index] = 0 }
      return missing
    }
  }

  /// Takes the padding off an opened plaintext.
  ///
  /// Only the one padding that ``paddedCount(_:)`` gives is accepted.
  ///
  /// - Throws: ``CryptoError/damaged``; the plaintext is gone.
  static func strip(_ plaintext: inout SecretBytes) throws(CryptoError) {
    plaintext.shrink(to: try strippedCount(plaintext.bytes))
  }

  /// The length of a plaintext without its padding.
  ///
  /// - Throws: As ``strip(_:)``.
  static func strippedCount(_ padded: Span<UInt8>) throws(CryptoError) -> Int {
    var end = padded.count - zeroWords(atEndOf: padded)
    while end > 0, padded[end - 1] == 0 { end -= 1 }
    guard end > 0, padded[end - 1] == 0x80, paddedCount(end) == padded.count else {
      throw .damaged
    }
    return end - 1
  }

  /// How many of the last bytes are whole words of zeros, of which a padding mostly consists.
  private static func zeroWords(atEndOf padded: Span<UInt8>) -> Int {
    unsafe padded.withUnsafeBytes { bytes in
      var count = 0
      while count + 8 <= bytes.count,
        unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - count - 8, as: UInt64.self) == 0
      {
        count += 8
      }
      return count
    }
  }
}
