// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Makes the hashes of ``TreeHash``, one after the other in memory that is taken once: what walks over many
/// rows would otherwise take and wipe some for each.
public struct TreeHasher: ~Copyable, Sendable {
  /// Under the tree key, with nothing added.
  private let start: KeyedHash
  private var hash: KeyedHash
  private let vault: VaultID

  init(start: consuming KeyedHash, hash: consuming KeyedHash, vault: VaultID) {
    self.start = start
    self.hash = hash
    self.vault = vault
  }

  /// As ``TreeHash/leaf(_:meta:body:history:)``, of a row with its history column.
  ///
  /// - Throws: ``FormatError/damaged``.
  public mutating func leaf(
    _ facts: RowFacts, meta: Span<UInt8>, body: Span<UInt8>, list: Span<UInt8>
  ) throws(FormatError) -> Digest {
    var head = Digest.zero
    if !list.isEmpty {
      hash.restart(from: start)
      hash.addHistory(of: facts.id, list: list)
      head = hash.end()
    }
    hash.restart(from: start)
    try hash.addLeaf(facts, meta: meta, body: body, history: head)
    return hash.end()
  }

  /// As ``TreeHash/bucket(_:depth:leaves:)``.
  public mutating func bucket(_ number: UInt32, depth: UInt8, leaves: Span<UInt8>) -> Digest {
    guard !leaves.isEmpty else { return .zero }
    hash.restart(from: start)
    hash.addBucket(number, depth: depth, leaves: leaves, vault: vault)
    return hash.end()
  }
}

// MARK: - What is hashed

extension KeyedHash {
  /// Keeps the hashes of the tree apart by their first byte; 4 is the header digest's.
  enum Domain: UInt8 {
    case leaf = 0
    case bucket = 1
    case node = 2
    case history = 3
    case fingerprint = 5
  }

  mutating func update(_ domain: Domain) { update(integer: domain.rawValue) }

  mutating func update<Subject>(_ identifier: Identifier<Subject>) {
    update(integer: identifier.high.byteSwapped)
    update(integer: identifier.low.byteSwapped)
  }

  mutating func addLeaf(
    _ facts: RowFacts, meta: Span<UInt8>, body: Span<UInt8>, history: Digest
  ) throws(FormatError) {
    guard meta.count >= Seal.overhead, body.count >= Seal.overhead else { throw .damaged }
    update(.leaf)
    update(facts.tag)
    update(facts.id)
    update(integer: facts.revision)
    update(integer: facts.generation)
    update(integer: facts.protection.rawValue)
    update(integer: facts.kind.rawValue)
    update(meta.extracting(first: Seal.headCount))
    update(meta.extracting(last: Seal.tagCount))
    update(body.extracting(first: Seal.headCount))
    update(body.extracting(last: Seal.tagCount))
    update(history.span)
  }

  mutating func addHistory(of item: ItemID, list: Span<UInt8>) {
    update(.history)
    update(item)
    update(list)
  }

  mutating func addBucket(_ number: UInt32, depth: UInt8, leaves: Span<UInt8>, vault: VaultID) {
    update(.bucket)
    update(vault)
    update(integer: depth)
    update(integer: number)
    update(integer: UInt32(leaves.count / Tree.entryByteCount))
    update(leaves)
  }
}
