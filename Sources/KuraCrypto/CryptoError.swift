// SPDX-License-Identifier: MIT

/// Says what went wrong with a key or a ciphertext.
public enum CryptoError: Error, Equatable, Sendable {
  /// The ciphertext was sealed under another key, or for another place (its associated data).
  case wrongKey
  /// The key fits, but the ciphertext or its padding was changed.
  case damaged
  /// The system has no memory left; the passcode may well be right.
  case outOfMemory
  /// The kernel gives no random bytes, or libsodium does not start; nothing can be sealed.
  case entropyUnavailable
}
