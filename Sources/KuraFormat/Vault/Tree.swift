// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Lays out the bucketed, keyed Merkle tree over all items: its shape and its hashes.
public enum Tree {
  /// Children of a node.
  public static let fanout = 64
  /// The most levels of nodes.
  public static let deepest: UInt8 = 3
  /// The bytes of a node: its children's digests.
  public static let nodeByteCount = fanout * Digest.byteCount
  /// The bytes of one entry of a bucket: tag and leaf.
  public static let entryByteCount = identifierByteCount + Digest.byteCount

  /// The depth that a number of items needs; a tree never becomes shallower than it is.
  ///
  /// - Parameter itemCount: Rows in the item table.
  public static func depth(for itemCount: UInt64) -> UInt8 {
    itemCount <= 4096 ? 1 : itemCount <= 262_144 ? 2 : deepest
  }

  /// The bucket that a tag belongs to.
  public static func bucket(of tag: ItemTag, depth: UInt8) -> UInt32 {
    tag.leadingBits(6 * Int(depth))
  }

  /// The number that storage knows a node by.
  public static func nodeID(level: UInt8, index: UInt32) -> UInt64 {
    UInt64(level) << 32 | UInt64(index)
  }
}

/// Makes the tree's hashes under one vault's tree key.
public struct TreeHash: ~Copyable, Sendable {
  private let key: Key
  private let vault: VaultID

  /// - Parameters:
  ///   - key: The vault key's subkey for the tree.
  ///   - vault: The vault's id.
  public init(key: consuming Key, vault: VaultID) {
    self.key = key
    self.vault = vault
  }

  /// The same hashes, for somebody who outlives this one.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func copy() throws(FormatError) -> TreeHash {
    TreeHash(key: try copiedKey(key.bytes), vault: vault)
  }

  /// What an item's row comes to: its facts, and what names its ciphertexts.
  ///
  /// Nonce, commitment and Poly1305 tag fix a ciphertext under a key, so that the bytes between need
  /// not be hashed again.
  ///
  /// - Parameters:
  ///   - meta: The sealed meta; at least ``Seal/overhead`` bytes.
  ///   - body: The sealed body; likewise.
  ///   - history: ``historyHead(of:list:)``; zero for a row of the history table.
  /// - Throws: ``FormatError/damaged`` when meta or body are too short to be ciphertexts,
  ///   ``FormatError/outOfMemory``.
  public borrowing func leaf(
    _ facts: RowFacts, meta: Span<UInt8>, body: Span<UInt8>, history: Digest = .zero
  ) throws(FormatError) -> Digest {
    var hash = try begin()
    try hash.addLeaf(facts, meta: meta, body: body, history: history)
    return hash.finalize()
  }

  /// What an item's history column comes to; zero when it is empty.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func historyHead(
    of item: ItemID, list: Span<UInt8>
  ) throws(FormatError) -> Digest {
    guard !list.isEmpty else { return .zero }
    var hash = try begin()
    hash.addHistory(of: item, list: list)
    return hash.finalize()
  }

  /// What a bucket comes to; zero when it is empty.
  ///
  /// - Parameter leaves: Whole entries of tag and leaf, ascending by tag.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func bucket(
    _ number: UInt32, depth: UInt8, leaves: Span<UInt8>
  ) throws(FormatError) -> Digest {
    guard !leaves.isEmpty else { return .zero }
    var hash = try begin()
    hash.addBucket(number, depth: depth, leaves: leaves, vault: vault)
    return hash.finalize()
  }

  /// What a node comes to; one whose children are all empty is zero, and the caller says so.
  ///
  /// - Parameter digests: The 64 children's digests.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func node(
    level: UInt8, index: UInt32, depth: UInt8, digests: Span<UInt8>
  ) throws(FormatError) -> Digest {
    precondition(digests.count == Tree.nodeByteCount, "a node has 64 children")
    var hash = try begin()
    hash.update(.node)
    hash.update(vault)
    hash.update(integer: depth)
    hash.update(integer: level)
    hash.update(integer: index)
    hash.update(digests)
    return hash.finalize()
  }

  /// What a person can compare two copies of a vault by.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func fingerprint(of root: RootRecord) throws(FormatError) -> Digest {
    var hash = try begin()
    hash.update(.fingerprint)
    hash.update(root.encoded.span)
    return hash.finalize()
  }

  /// The same hashes, one after the other in memory that is taken once.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func hasher() throws(FormatError) -> TreeHasher {
    let start: KeyedHash
    do { start = try KeyedHash.prepared(key: key) } catch { throw .outOfMemory }
    return TreeHasher(start: start, hash: try begin(), vault: vault)
  }

  private borrowing func begin() throws(FormatError) -> KeyedHash {
    do { return try KeyedHash(key: key) } catch { throw .outOfMemory }
  }
}
