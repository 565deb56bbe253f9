// SPDX-License-Identifier: MIT

internal import CArgon2
internal import CNettle

/// Calls the libraries that open what a password seals: Nettle, and Argon2's own, since its lanes are more than one.
enum Digest {
  private static let count = 32

  /// SHA-256.
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var context = sha256_ctx()
    var digest = [UInt8](repeating: 0, count: count)
    unsafe nettle_sha256_init(&context)
    unsafe nettle_sha256_update(&context, bytes.count, bytes)
    unsafe nettle_sha256_digest(&context, digest.count, &digest)
    return digest
  }

  /// HMAC with SHA-256 (RFC 2104).
  static func authenticate(_ bytes: [UInt8], with key: [UInt8]) -> [UInt8] {
    var context = hmac_sha256_ctx()
    var digest = [UInt8](repeating: 0, count: count)
    unsafe nettle_hmac_sha256_set_key(&context, key.count, key)
    unsafe nettle_hmac_sha256_update(&context, bytes.count, bytes)
    unsafe nettle_hmac_sha256_digest(&context, digest.count, &digest)
    return digest
  }

  /// A key for one use out of a key: HKDF-Expand (RFC 5869) to 32 bytes, which is its first block.
  static func expand(_ key: [UInt8], _ use: String) -> [UInt8] {
    authenticate(Array(use.utf8) + [1], with: key)
  }

  /// A key out of a password by PBKDF2 (RFC 8018) with HMAC-SHA-256.
  static func stretch(_ password: [UInt8], salt: [UInt8], rounds: UInt32) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: count)
    unsafe nettle_pbkdf2_hmac_sha256(
      password.count, password, rounds, salt.count, salt, key.count, &key)
    return key
  }

  /// A key out of a password by Argon2id (RFC 9106), in this thread alone.
  ///
  /// - Parameter memory: In KiB.
  /// - Returns: Nil where there is not so much memory, or it is too little for the lanes.
  static func stretch(
    _ password: [UInt8], salt: [UInt8], memory: UInt32, passes: UInt32, lanes: UInt32
  ) -> [UInt8]? {
    var (password, salt) = (password, salt)
    var key = [UInt8](repeating: 0, count: count)
    let (passwordCount, saltCount) = (UInt32(password.count), UInt32(salt.count))
    let status = unsafe password.withUnsafeMutableBufferPointer { password in
      unsafe salt.withUnsafeMutableBufferPointer { salt in
        unsafe key.withUnsafeMutableBufferPointer { key in
          var context = unsafe argon2_context()
          unsafe (context.out, context.outlen) = (key.baseAddress, UInt32(key.count))
          unsafe (context.pwd, context.pwdlen) = (password.baseAddress, passwordCount)
          unsafe (context.salt, context.saltlen) = (salt.baseAddress, saltCount)
          unsafe (context.m_cost, context.t_cost, context.lanes) = (memory, passes, lanes)
          // A process that reads a source makes no other.
          unsafe context.threads = 1
          unsafe context.version = ARGON2_VERSION_13.rawValue
          return unsafe argon2_ctx(&context, Argon2_id)
        }
      }
    }
    return status == ARGON2_OK.rawValue ? key : nil
  }

  /// What AES-256 in CBC mode decrypts to, without its padding (PKCS #7).
  ///
  /// - Returns: Nil where the padding is none.
  static func decrypt(
    _ sealed: [UInt8], from block: [UInt8], with key: [UInt8]
  ) -> [UInt8]? {
    guard !sealed.isEmpty, sealed.count.isMultiple(of: block.count) else { return nil }
    var (chain, plain) = (block, [UInt8](repeating: 0, count: sealed.count))
    var context = aes256_ctx()
    unsafe nettle_aes256.set_decrypt_key(&context, key)
    unsafe nettle_cbc_decrypt(
      &context, nettle_aes256.decrypt, block.count, &chain, sealed.count, &plain, sealed)
    guard let padding = plain.last, (1...block.count).contains(Int(padding)),
      plain.suffix(Int(padding)).allSatisfy({ $0 == padding })
    else { return nil }
    return Array(plain.dropLast(Int(padding)))
  }
}
