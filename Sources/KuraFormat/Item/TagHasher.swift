// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Makes the tags of names, one after the other in memory that is taken once.
public struct TagHasher: ~Copyable, Sendable {
  /// Under the key, with nothing added.
  private let start: KeyedHash
  private var hash: KeyedHash

  /// - Parameter key: The vault key's subkey for names; only borrowed.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(key: borrowing Key) throws(CryptoError) {
    let start = try KeyedHash.prepared(key: key, byteCount: identifierByteCount)
    let hash = try KeyedHash(key: key, byteCount: identifierByteCount)
    self.start = start
    self.hash = hash
  }

  /// As ``ItemName/tag(ofPurged:under:)``.
  public mutating func tag(ofPurged item: ItemID) -> ItemTag {
    hash.restart(from: start)
    hash.update(integer: UInt8(0))
    hash.update(item)
    return Identifier(hash.end().span)
  }

  /// As ``ItemName/tag(of:under:)``.
  public mutating func tag(of name: Span<UInt8>) -> ItemTag {
    hash.restart(from: start)
    hash.update(name)
    return Identifier(hash.end().span)
  }
}
