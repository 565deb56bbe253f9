// SPDX-License-Identifier: MIT

internal import CSodium

/// Draws bytes from the kernel's random source (`getrandom`, through `randombytes_buf`).
public enum RandomBytes {
  /// Fills a view with random bytes.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public static func fill(_ target: inout MutableSpan<UInt8>) throws(CryptoError) {
    try Sodium.start()
    unsafe target.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe randombytes_buf(start, bytes.count)
    }
  }

  /// Random bytes that need not be secret: ids and salts.
  ///
  /// - Parameter count: How many, not negative.
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    try fill(&span)
    return bytes
  }
}
