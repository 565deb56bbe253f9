// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Opens ciphertexts of ``Seal`` under one key, one after the other, in memory that is taken once: what
/// walks over many rows would otherwise take and wipe a handful of blocks for each.
public struct SealOpener: ~Copyable, Sendable {
  private var keys: OneUseKeys
  private var opened: SecretBytes
  private var count = 0

  /// - Parameter key: What everything to open was sealed under; only borrowed.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(key: borrowing Key) throws(CryptoError) {
    let keys = try OneUseKeys(key: key)
    let opened = try SecretBytes.make(count: 512)
    self.keys = keys
    self.opened = opened
  }

  /// What was opened last, in guarded memory; the next ciphertext takes its place.
  public var plaintext: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { opened.bytes.extracting(first: count) }
  }

  /// Opens a ciphertext of ``Seal/sealPadded(_:authenticating:under:)`` into ``plaintext``, without
  /// its padding.
  ///
  /// - Throws: As ``Seal/openPadded(_:authenticating:under:)``; ``plaintext`` is empty then.
  public mutating func openPadded(
    _ sealed: Span<UInt8>, authenticating associated: Span<UInt8>
  ) throws(CryptoError) {
    count = 0
    guard sealed.count >= Seal.overhead else { throw .damaged }
    let paddedCount = sealed.count - Seal.overhead
    if opened.count < paddedCount { opened = try SecretBytes.make(count: paddedCount) }
    keys.derive(nonce: sealed.extracting(first: Seal.nonceCount), associated)
    try SealOpener.decrypt(sealed, associated, under: keys.bytes, into: &opened)
    count = try Padding.strippedCount(opened.bytes.extracting(first: paddedCount))
  }

  private static func decrypt(
    _ sealed: Span<UInt8>, _ associated: Span<UInt8>, under keys: borrowing SecretBytes,
    into plaintext: inout SecretBytes
  ) throws(CryptoError) {
    let commitment = keys.bytes.extracting(last: Seal.commitmentCount)
    guard Sodium.isEqual(sealed.extracting(Seal.nonceCount..<Seal.headCount), commitment) else {
      throw .wrongKey
    }
    let nonce = Seal.zeroNonce
    var target = plaintext.mutableBytes
    let isAuthentic = AEAD.decrypt(
      sealed.extracting(droppingFirst: Seal.headCount), authenticating: associated,
      nonce: nonce.span, key: keys.bytes.extracting(first: Key.byteCount), into: &target)
    guard isAuthentic else { throw .damaged }
  }
}
