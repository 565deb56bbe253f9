// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

// Rows by the ids that the vault has of them, with errors told as this module's.

extension Storage {
  /// The current row of an item; nil when there is none.
  @_lifetime(&self)
  mutating func item(_ tag: ItemTag) throws(VaultError) -> ItemRow? {
    let bytes = tag.bytes
    do { return try item(bytes.span) } catch { throw VaultError(error) }
  }

  /// The next row of the scan of all items; nil at its end.
  @_lifetime(&self)
  mutating func nextRow() throws(VaultError) -> ItemRow? {
    do { return try nextItem() } catch { throw VaultError(error) }
  }

  /// A kept revision of an item; nil when there is none.
  @_lifetime(&self)
  mutating func kept(_ revision: UInt64, of item: ItemID) throws(VaultError) -> ItemRow? {
    let bytes = item.bytes
    do { return try history(of: bytes.span, revision: revision) } catch { throw VaultError(error) }
  }

  /// Deletes kept revisions of an item.
  mutating func deleteKept(
    _ entries: [HistoryList.Entry], of item: ItemID
  ) throws(VaultError) {
    let bytes = item.bytes
    do {
      for entry in entries { try deleteHistory(of: bytes.span, revision: entry.revision) }
    } catch { throw VaultError(error) }
  }

  /// Deletes the current row of an item.
  mutating func delete(_ tag: ItemTag) throws(VaultError) {
    let bytes = tag.bytes
    try fromStorage(deleteItem(bytes.span))
  }

  /// A sealed chunk of a value; nil when there is none.
  @_lifetime(&self)
  mutating func chunk(_ number: UInt64, of value: ValueID) throws(VaultError) -> Span<UInt8>? {
    let bytes = value.bytes
    do { return try chunk(bytes.span, number) } catch { throw VaultError(error) }
  }

  /// A record in front of the items, as it is sealed.
  ///
  /// - Parameter subject: What is damaged where there is none.
  @_lifetime(&self)
  mutating func record(_ part: Part, _ subject: Damage) throws(VaultError) -> Span<UInt8> {
    let data: Span<UInt8>?
    do { data = try self.part(part) } catch { throw VaultError(error) }
    guard let data else { throw .damaged(subject) }
    return data
  }
}

// MARK: - The tree

extension Storage {
  /// The child digests of a node; nil when it has no row.
  @_lifetime(&self)
  mutating func node(at place: TreePlace) throws(VaultError) -> Span<UInt8>? {
    do { return try node(Int64(place.id)) } catch { throw VaultError(error) }
  }

  /// The entries of a bucket; nil when it has no row.
  @_lifetime(&self)
  mutating func leaves(ofBucket number: UInt32) throws(VaultError) -> Span<UInt8>? {
    do { return try bucket(number) } catch { throw VaultError(error) }
  }

  /// Writes the entries of a bucket.
  ///
  /// - Returns: What they come to.
  mutating func store(
    _ leaves: Span<UInt8>, ofBucket number: UInt32, depth: UInt8, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    try fromStorage(storeBucket(number, leaves))
    return try keys.bucketDigest(number, depth: depth, leaves)
  }

  /// Writes a node; one without children is none, and its row goes.
  ///
  /// - Returns: What it comes to.
  mutating func store(
    _ node: [UInt8], level: UInt8, index: UInt32, depth: UInt8, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    let hasChildren = node.contains { $0 != 0 }
    let id = Int64(Tree.nodeID(level: level, index: index))
    try fromStorage(storeNode(id, hasChildren ? node.span : nil))
    guard hasChildren else { return .zero }
    return try keys.nodeDigest(level: level, index: index, depth: depth, node.span)
  }
}

extension Keyring {
  /// What the entries of a bucket come to.
  borrowing func bucketDigest(
    _ number: UInt32, depth: UInt8, _ leaves: Span<UInt8>
  ) throws(VaultError) -> Digest {
    try fromFormat(.bucket, tree.bucket(number, depth: depth, leaves: leaves))
  }

  /// What the children of a node come to.
  borrowing func nodeDigest(
    level: UInt8, index: UInt32, depth: UInt8, _ digests: Span<UInt8>
  ) throws(VaultError) -> Digest {
    try fromFormat(.node, tree.node(level: level, index: index, depth: depth, digests: digests))
  }
}
