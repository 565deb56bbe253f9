// SPDX-License-Identifier: MIT

internal import CSodium
internal import SecureMemory

/// libsodium, started once before its first use.
enum Sodium {
  private static let isReady = sodium_init() >= 0

  /// Starts libsodium, which picks its routines for this processor and opens the random source.
  static func start() throws(CryptoError) {
    guard isReady else { throw .entropyUnavailable }
  }
}

extension SecretBytes {
  /// A zeroed secret, its failure told in this module's words.
  static func make(count: Int) throws(CryptoError) -> SecretBytes {
    do { return try SecretBytes(count: count) } catch { throw .outOfMemory }
  }
}
