// SPDX-License-Identifier: MIT

public import SecureMemory

/// Seals and opens everything there is: key-committing authenticated encryption with associated data.
///
/// `nonce 24 ‖ commitment 32 ‖ XChaCha20-Poly1305-IETF(one-use key, nonce 0, AD, m)`. One-use key and
/// commitment are BLAKE2b-512 of nonce and associated data under the key. Without the commitment a
/// ciphertext can be made that opens under two keys (Len, Grubbs, Ristenpart, USENIX Security 2021).
public enum Seal {
  /// How much longer a ciphertext is than its plaintext, in bytes.
  public static let overhead = nonceCount + commitmentCount + tagCount

  static let nonceCount = AEAD.nonceCount
  static let commitmentCount = 32
  /// The Poly1305 tag's bytes, at the end.
  public static let tagCount = AEAD.tagCount

  /// Nonce and commitment's bytes, at the front; with the tag they name a ciphertext in the tree.
  public static let headCount = nonceCount + commitmentCount

  /// Seals a plaintext.
  ///
  /// - Parameters:
  ///   - plaintext: What to seal; only borrowed.
  ///   - associated: An injective encoding of what the record is and where it belongs.
  ///   - key: The key; a fresh one-use key is derived from it.
  /// - Returns: ``overhead`` bytes more than the plaintext.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func seal(
    _ plaintext: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: overhead + plaintext.count)
    var bytes = sealed.mutableSpan
    try seal(
      plaintext, authenticating: associated, under: key, nonce: try .random(), into: &bytes)
    return sealed
  }

  /// Seals a plaintext into memory that is there already.
  ///
  /// - Parameters:
  ///   - plaintext, associated, key: As for ``seal(_:authenticating:under:)``.
  ///   - nonce: One that was drawn for this.
  ///   - sealed: ``overhead`` bytes more than the plaintext.
  /// - Throws: As ``seal(_:authenticating:under:)`` does.
  public static func seal(
    _ plaintext: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key,
    nonce: consuming Nonce, into sealed: inout MutableSpan<UInt8>
  ) throws(CryptoError) {
    precondition(sealed.count == overhead + plaintext.count, "room for just the ciphertext")
    try Sodium.start()
    for index in 0..<nonceCount { sealed[index] = nonce.bytes[index] }
    let keys = try deriveKeys(
      nonce: sealed.span.extracting(first: nonceCount), associated: associated, key: key)
    for index in 0..<commitmentCount {
      sealed[nonceCount + index] = keys.bytes[Key.byteCount + index]
    }
    AEAD.encrypt(
      plaintext, authenticating: associated, nonce: zeroNonce.span,
      key: keys.bytes.extracting(first: Key.byteCount), into: &sealed, at: headCount)
  }

  /// Opens a ciphertext.
  ///
  /// - Parameters:
  ///   - sealed: What ``seal(_:authenticating:under:)`` gave.
  ///   - associated: The same associated data.
  ///   - key: The same key.
  /// - Returns: The plaintext, in guarded memory.
  /// - Throws: ``CryptoError/wrongKey`` when key or associated data are others,
  ///   ``CryptoError/damaged`` when bytes were changed, ``CryptoError/outOfMemory``.
  public static func open(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> SecretBytes {
    guard sealed.count >= overhead else { throw .damaged }
    var plaintext = try SecretBytes.make(count: sealed.count - overhead)
    var target = plaintext.mutableBytes
    try open(sealed, authenticating: associated, under: key, into: &target)
    return plaintext
  }

  /// Opens a ciphertext into memory that is there already.
  ///
  /// - Parameters:
  ///   - sealed, associated, key: As for ``open(_:authenticating:under:)``.
  ///   - target: Guarded memory of ``overhead`` bytes less than the ciphertext; zero after an error, or
  ///     as it was.
  /// - Throws: As ``open(_:authenticating:under:)`` does.
  public static func open(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key,
    into target: inout MutableSpan<UInt8>
  ) throws(CryptoError) {
    let keys = try keys(of: sealed, authenticating: associated, under: key)
    let isAuthentic = AEAD.decrypt(
      sealed.extracting(droppingFirst: headCount), authenticating: associated,
      nonce: zeroNonce.span, key: keys.bytes.extracting(first: Key.byteCount), into: &target)
    guard isAuthentic else { throw .damaged }
  }
}

extension Seal {
  /// Proves that a ciphertext would open, which takes a quarter of the time.
  ///
  /// - Parameters: As for ``open(_:authenticating:under:)``.
  /// - Throws: As ``open(_:authenticating:under:)`` does.
  public static func verify(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) {
    let keys = try keys(of: sealed, authenticating: associated, under: key)
    let isAuthentic = AEAD.isAuthentic(
      sealed.extracting(droppingFirst: headCount), authenticating: associated,
      nonce: zeroNonce.span, key: keys.bytes.extracting(first: Key.byteCount))
    guard isAuthentic else { throw .damaged }
  }

  /// One-use key and commitment of a ciphertext, which commits to that key.
  private static func keys(
    of sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> SecretBytes {
    try Sodium.start()
    guard sealed.count >= overhead else { throw .damaged }
    let keys = try deriveKeys(
      nonce: sealed.extracting(first: nonceCount), associated: associated, key: key)
    guard commits(sealed, to: keys) else { throw .wrongKey }
    return keys
  }

  private static func commits(_ sealed: Span<UInt8>, to keys: borrowing SecretBytes) -> Bool {
    Sodium.isEqual(
      sealed.extracting(nonceCount..<headCount), keys.bytes.extracting(last: commitmentCount))
  }
}

// MARK: - Padded

extension Seal {
  /// Seals a plaintext rounded up by ``Padding``.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func sealPadded(
    _ plaintext: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> [UInt8] {
    let padded = try Padding.pad(plaintext)
    return try seal(padded.bytes, authenticating: associated, under: key)
  }

  /// Opens a ciphertext of ``sealPadded(_:authenticating:under:)`` and takes its padding off.
  ///
  /// - Throws: ``CryptoError/wrongKey``, ``CryptoError/damaged``, ``CryptoError/outOfMemory``.
  public static func openPadded(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> SecretBytes {
    var plaintext = try open(sealed, authenticating: associated, under: key)
    try Padding.strip(&plaintext)
    return plaintext
  }

  /// Seals as ``sealPadded(_:authenticating:under:)`` does what is no secret, since all of it is sealed already: in
  /// memory like any other, which costs less where there is much of it.
  public static func sealPadded(
    again ciphertext: consuming [UInt8], authenticating associated: Span<UInt8>,
    under key: borrowing Key
  ) throws(CryptoError) -> [UInt8] {
    let missing = Padding.paddedCount(ciphertext.count + 1) - ciphertext.count
    ciphertext.append(0x80)
    ciphertext.append(contentsOf: repeatElement(0, count: missing - 1))
    return try seal(ciphertext.span, authenticating: associated, under: key)
  }

  /// Opens what was sealed so, in memory like any other.
  ///
  /// - Throws: As ``openPadded(_:authenticating:under:)`` does.
  public static func openPaddedAgain(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> [UInt8] {
    guard sealed.count >= overhead else { throw .damaged }
    var ciphertext = [UInt8](repeating: 0, count: sealed.count - overhead)
    var target = ciphertext.mutableSpan
    try open(sealed, authenticating: associated, under: key, into: &target)
    let count = try Padding.strippedCount(ciphertext.span)
    ciphertext.removeLast(ciphertext.count - count)
    return ciphertext
  }

  /// The length of ``sealPadded(_:authenticating:under:)``'s result, in bytes.
  public static func sealedPaddedCount(_ count: Int) -> Int {
    overhead + Padding.paddedCount(count + 1)
  }
}

// MARK: - Inside

extension Seal {
  /// The one-use key is used once, so that its nonce can be a constant.
  static let zeroNonce = [UInt8](repeating: 0, count: AEAD.nonceCount)

  /// One-use key ‖ commitment: `H(key, 64; "kura1/seal" ‖ nonce ‖ u32 length ‖ associated data)`.
  private static func deriveKeys(
    nonce: Span<UInt8>, associated: Span<UInt8>, key: borrowing Key
  ) throws(CryptoError) -> SecretBytes {
    var hash = try KeyedHash(key: key, byteCount: Key.byteCount + commitmentCount)
    hash.update(.seal)
    hash.update(nonce)
    hash.update(integer: UInt32(associated.count))
    hash.update(associated)
    return try hash.finalizeSecret()
  }
}
