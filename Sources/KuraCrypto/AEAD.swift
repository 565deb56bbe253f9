// SPDX-License-Identifier: MIT

internal import CSodium

/// Encrypts and authenticates by libsodium's XChaCha20-Poly1305-IETF, which does not commit to its key, so that
/// only ``Seal`` may call it.
enum AEAD {
  static let keyCount = 32
  static let nonceCount = 24
  static let tagCount = 16

  /// Encrypts; `target` ends with the plaintext's bytes and the tag, from `offset` on.
  static func encrypt(
    _ plaintext: Span<UInt8>, authenticating associated: Span<UInt8>, nonce: Span<UInt8>,
    key: Span<UInt8>, into target: inout MutableSpan<UInt8>, at offset: Int
  ) {
    precondition(key.count == keyCount && nonce.count == nonceCount)
    precondition(offset >= 0 && target.count == offset + plaintext.count + tagCount)
    let status = unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe plaintext.withUnsafeBufferPointer { plaintext in
        unsafe associated.withUnsafeBufferPointer { associated in
          unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe key.withUnsafeBufferPointer { key in
              unsafe encrypt(plaintext, associated, nonce, key, start(of: target, offset))
            }
          }
        }
      }
    }
    precondition(status == 0, "lengths were checked")
  }

  /// Decrypts to the front of `target`, which has room for the ciphertext without its tag.
  ///
  /// - Returns: Whether the tag is right; what would have been written is zero if not.
  static func decrypt(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, nonce: Span<UInt8>,
    key: Span<UInt8>, into target: inout MutableSpan<UInt8>
  ) -> Bool {
    precondition(key.count == keyCount && nonce.count == nonceCount)
    precondition(sealed.count >= tagCount && sealed.count <= target.count + tagCount)
    return unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe sealed.withUnsafeBufferPointer { sealed in
        unsafe associated.withUnsafeBufferPointer { associated in
          unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe key.withUnsafeBufferPointer { key in
              guard let target = target.baseAddress else { return false }
              return unsafe decrypt(sealed, associated, nonce, key, target) == 0
            }
          }
        }
      }
    }
  }

  /// Whether the tag is right; nothing is decrypted.
  static func isAuthentic(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, nonce: Span<UInt8>,
    key: Span<UInt8>
  ) -> Bool {
    precondition(key.count == keyCount && nonce.count == nonceCount && sealed.count >= tagCount)
    return unsafe sealed.withUnsafeBufferPointer { sealed in
      unsafe associated.withUnsafeBufferPointer { associated in
        unsafe nonce.withUnsafeBufferPointer { nonce in
          unsafe key.withUnsafeBufferPointer { key in
            unsafe decrypt(sealed, associated, nonce, key, nil) == 0
          }
        }
      }
    }
  }

  private static func start(
    of buffer: UnsafeMutableBufferPointer<UInt8>, _ offset: Int
  ) -> UnsafeMutablePointer<UInt8>? {
    guard let start = buffer.baseAddress else { return nil }
    return unsafe start + offset
  }

  private static func encrypt(
    _ plaintext: UnsafeBufferPointer<UInt8>, _ associated: UnsafeBufferPointer<UInt8>,
    _ nonce: UnsafeBufferPointer<UInt8>, _ key: UnsafeBufferPointer<UInt8>,
    _ target: UnsafeMutablePointer<UInt8>?
  ) -> Int32 {
    guard let target = unsafe target, let nonce = nonce.baseAddress, let key = key.baseAddress
    else { return -1 }
    return unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
      target, nil, plaintext.baseAddress, UInt64(plaintext.count), associated.baseAddress,
      UInt64(associated.count), nil, nonce, key)
  }

  private static func decrypt(
    _ sealed: UnsafeBufferPointer<UInt8>, _ associated: UnsafeBufferPointer<UInt8>,
    _ nonce: UnsafeBufferPointer<UInt8>, _ key: UnsafeBufferPointer<UInt8>,
    _ target: UnsafeMutablePointer<UInt8>?
  ) -> Int32 {
    guard let source = sealed.baseAddress, let nonce = nonce.baseAddress,
      let key = key.baseAddress
    else { return -1 }
    // Without a target libsodium looks at the tag alone.
    return unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
      target, nil, nil, source, UInt64(sealed.count), associated.baseAddress,
      UInt64(associated.count), nonce, key)
  }
}
