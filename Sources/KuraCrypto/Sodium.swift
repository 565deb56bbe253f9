// SPDX-License-Identifier: MIT

internal import CSodium
internal import SecureMemory

/// Starts libsodium once, before its first use.
enum Sodium {
  private static let isReady = sodium_init() >= 0

  /// Starts libsodium, which picks its routines for this processor and opens the random source.
  static func start() throws(CryptoError) {
    guard isReady else { throw .entropyUnavailable }
  }

  /// Whether both hold the same bytes, in time that depends on their lengths only.
  static func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    if left.count == 32 { return isEqual32(left, right) }
    return unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        guard let left = left.baseAddress, let start = right.baseAddress else { return true }
        return unsafe sodium_memcmp(left, start, right.count) == 0
      }
    }
  }

  /// The same for what is compared most, digests and commitments, by the word instead of by the byte.
  private static func isEqual32(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        var difference: UInt64 = 0
        for offset in stride(from: 0, to: 32, by: 8) {
          difference |=
            unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            ^ right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        return difference == 0
      }
    }
  }
}

extension SecretBytes {
  /// A zeroed secret, its failure told in this module's words.
  static func make(count: Int) throws(CryptoError) -> SecretBytes {
    do { return try SecretBytes(count: count) } catch { throw .outOfMemory }
  }
}
