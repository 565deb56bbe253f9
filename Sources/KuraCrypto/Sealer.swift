// SPDX-License-Identifier: MIT

public import SecureMemory

/// Seals plaintexts under one key, one after the other, in memory that is taken once: the counterpart of
/// ``SealOpener``.
public struct Sealer: ~Copyable, Sendable {
  private var keys: OneUseKeys
  /// What is sealed next: append it here.
  public var plaintext: SecretBuffer

  /// - Parameter key: What everything is sealed under; only borrowed.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(key: borrowing Key) throws(CryptoError) {
    let keys = try OneUseKeys(key: key)
    let plaintext: SecretBuffer
    do { plaintext = try SecretBuffer(capacity: 512) } catch { throw .outOfMemory }
    self.keys = keys
    self.plaintext = plaintext
  }

  /// Seals ``plaintext``, rounded up by ``Padding``, and empties it.
  ///
  /// - Parameters:
  ///   - associated: As for ``Seal/sealPadded(_:authenticating:under:)``.
  ///   - nonce: One that was drawn for this.
  /// - Throws: ``CryptoError/outOfMemory``.
  public mutating func sealPadded(
    authenticating associated: Span<UInt8>, nonce: consuming Nonce
  ) throws(CryptoError) -> [UInt8] {
    do { try Padding.pad(&plaintext) } catch { throw .outOfMemory }
    var sealed = [UInt8](repeating: 0, count: Seal.overhead + plaintext.count)
    var bytes = sealed.mutableSpan
    for index in 0..<Seal.nonceCount { bytes[index] = nonce.bytes[index] }
    keys.derive(nonce: nonce.bytes.span, associated)
    Sealer.encrypt(plaintext, associated, under: keys.bytes, into: &bytes)
    plaintext.removeAll()
    return sealed
  }

  private static func encrypt(
    _ plaintext: borrowing SecretBuffer, _ associated: Span<UInt8>,
    under keys: borrowing SecretBytes, into sealed: inout MutableSpan<UInt8>
  ) {
    for index in 0..<Seal.commitmentCount {
      sealed[Seal.nonceCount + index] = keys.bytes[Key.byteCount + index]
    }
    let nonce = Seal.zeroNonce
    AEAD.encrypt(
      plaintext.bytes, authenticating: associated, nonce: nonce.span,
      key: keys.bytes.extracting(first: Key.byteCount), into: &sealed, at: Seal.headCount)
  }
}

/// Derives the one-use keys and commitments of ``Seal`` under one key, one after the other.
struct OneUseKeys: ~Copyable, Sendable {
  private static let count = Key.byteCount + Seal.commitmentCount

  /// Under the key, with the label added.
  private let start: KeyedHash
  private var hash: KeyedHash
  /// One-use key ‖ commitment, as they were derived last.
  private(set) var bytes: SecretBytes

  init(key: borrowing Key) throws(CryptoError) {
    var start = try KeyedHash.prepared(key: key, byteCount: Self.count)
    start.update(.seal)
    let hash = try KeyedHash(key: key, byteCount: Self.count)
    let bytes = try SecretBytes.make(count: Self.count)
    self.start = start
    self.hash = hash
    self.bytes = bytes
  }

  mutating func derive(nonce: Span<UInt8>, _ associated: Span<UInt8>) {
    hash.restart(from: start)
    hash.update(nonce)
    hash.update(integer: UInt32(associated.count))
    hash.update(associated)
    OneUseKeys.finish(&hash, into: &bytes)
  }

  private static func finish(_ hash: inout KeyedHash, into keys: inout SecretBytes) {
    var target = keys.mutableBytes
    hash.finish(into: &target)
  }
}
