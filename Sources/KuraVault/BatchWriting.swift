// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// How many items a slice stores, and some more where they share a bucket.
  static let batchSlice = 64

  /// Does the next part of storing a batch; the last part commits.
  ///
  /// Where an item cannot be stored, those before it are, and none behind it:
  /// ``PutBatch/failure`` tells.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/diskFull`` and those of the file; nothing of the batch was stored.
  public mutating func advance(batch: inout PutBatch) throws(VaultError) -> Bool {
    guard batch.isClosed else {
      batch.close()
      return true
    }
    if batch.entries.isEmpty { return false }
    if batch.next < batch.entries.count {
      try working(on: &batch) { vault, batch throws(VaultError) in try vault.write(&batch) }
      return true
    }
    if batch.isFailing {
      batch.cut()
      guard !batch.entries.isEmpty else { return false }
      try begin(&batch)
      return true
    }
    try working(on: &batch) { vault, batch throws(VaultError) in try vault.finish(&batch) }
    // What is kept of the tree is of the state before.
    rows.tree.forget()
    batch.storedCount = batch.entries.count
    // It is stored, whatever becomes of the journal: what is left to clear there is cleared later.
    try? clearJournal()
    return false
  }

  /// Takes the write lock, on the newest state of the file.
  mutating func begin(_ batch: inout PutBatch) throws(VaultError) {
    let known = trust.fingerprint
    defer { if trust.fingerprint != known { rows.tree.forget() } }
    try working(on: &batch) { vault, batch throws(VaultError) in
      do throws(StorageError) { try vault.rows.storage.beginWrite() } catch {
        throw VaultError(error)
      }
      try vault.trustRoot()
      batch.draft = try Draft(after: vault.trust, by: vault.writer, at: vault.options.now())
      batch.tree = TreeEdit(of: vault.trust.root)
      vault.rows.tree.forget()
    }
    batch.next = 0
  }

  /// Works on the rows of a batch as if they were the vault's.
  private mutating func working(
    on batch: inout PutBatch,
    _ body: (inout UnlockedVault, inout PutBatch) throws(VaultError) -> Void
  ) throws(VaultError) {
    swap(&rows, &batch.rows)
    defer { swap(&rows, &batch.rows) }
    try body(&self, &batch)
  }
}

extension PutBatch {
  /// Nothing more is added: the items are put in the order of the tree, those of one name in theirs.
  fileprivate mutating func close() {
    isClosed = true
    entries.sort { $0.tag == $1.tag ? $0.index < $1.index : $0.tag < $1.tag }
  }

  /// Whether an item of those that are being written cannot be stored.
  fileprivate var isFailing: Bool {
    guard let failure else { return false }
    return failure.index < entries.count
  }

  /// Undoes everything and leaves the items before the one that cannot be stored.
  fileprivate mutating func cut() {
    guard let failure else { return }
    rows.storage.end()
    entries.removeAll { $0.index >= failure.index }
  }
}

// MARK: - Within the transaction

extension UnlockedVault {
  /// Writes the items of the next buckets.
  fileprivate mutating func write(_ batch: inout PutBatch) throws(VaultError) {
    guard var tree = batch.tree.take(), var draft = batch.draft.take() else { return }
    let end = min(batch.next + Self.batchSlice, batch.entries.count)
    while batch.next < end {
      let number = tree.bucket(of: batch.entries[batch.next].tag)
      let before = try tree.leaves(ofBucket: number, in: &rows, keys)
      let after = try write(&batch, into: before, of: number, &tree, &draft)
      // Once an item has failed, nothing of this will stay.
      if batch.isFailing { continue }
      try tree.store(after, ofBucket: number, in: &rows.storage, keys)
    }
    batch.tree = tree
    batch.draft = draft
  }

  /// Writes the items of one bucket.
  ///
  /// - Returns: The bucket's entries with theirs.
  private mutating func write(
    _ batch: inout PutBatch, into before: [UInt8], of number: UInt32, _ tree: inout TreeEdit,
    _ draft: inout Draft
  ) throws(VaultError) -> [UInt8] {
    var after: [UInt8] = []
    after.reserveCapacity(before.count + 4 * Tree.entryByteCount)
    let old = BucketLeaves(before.span)
    var place = 0
    while batch.next < batch.entries.count {
      let tag = batch.entries[batch.next].tag
      guard tree.bucket(of: tag) == number else { break }
      let start = place
      while place < old.count, old.tag(place) < tag { place += 1 }
      after += before[(start * Tree.entryByteCount)..<(place * Tree.entryByteCount)]
      var leaf: Digest?
      if place < old.count, old.tag(place) == tag {
        leaf = old.leaf(place)
        place += 1
      }
      while batch.next < batch.entries.count, batch.entries[batch.next].tag == tag {
        leaf = try store(batch.entries[batch.next], of: &batch, leaf, &draft) ?? leaf
        batch.next += 1
      }
      if let leaf { after.append(tag, leaf) }
    }
    after += before[(place * Tree.entryByteCount)...]
    return after
  }

  /// Stores an item, or notes why it cannot be.
  ///
  /// - Parameter leaf: What the tree has of it; nil for a new one.
  /// - Returns: Its new leaf; nil when it was not stored.
  private mutating func store(
    _ entry: PutBatch.Entry, of batch: inout PutBatch, _ leaf: Digest?, _ draft: inout Draft
  ) throws(VaultError) -> Digest? {
    do throws(VaultError) {
      let change = try change(of: entry.tag, leaf: leaf, at: .none)
      try change.check(batch.isReplacing ? .replace : .create)
      let meta = try change.newMeta(
        batch.text.bytes.extracting(entry.name), try batch.edits(of: entry),
        size: UInt64(entry.value.count), modified: draft.root.time)
      if batch.isFailing { return nil }
      if change.isDeleted { try draft.countDeleted(false) }
      let content = try NewContent(inline: batch.text.bytes.extracting(entry.value))
      return try storeRevision(
        change, meta, content, .value, protecting: entry.isProtecting, &draft
      ).leaf
    } catch {
      guard error.isOfItem else { throw error }
      batch.fail(at: entry.index, with: error)
      return nil
    }
  }

  /// Closes the tree, and commits.
  fileprivate mutating func finish(_ batch: inout PutBatch) throws(VaultError) {
    guard var tree = batch.tree.take(), var draft = batch.draft.take() else { return }
    try tree.close(in: &rows.storage, keys)
    draft.root.treeRoot = tree.treeRoot
    try growTree(&draft)
    try commit(draft)
    rows.tree.forget()
  }
}

extension PutBatch {
  /// The attributes of an item as changes of those it has.
  fileprivate func edits(of entry: Entry) throws(VaultError) -> AttributeEdits {
    var edits = AttributeEdits()
    guard entry.attributes.count > 2 else { return edits }
    let attributes: Attributes
    do { attributes = try Attributes(unsorted: text.bytes.extracting(entry.attributes)) } catch {
      throw VaultError(error, about: .item)
    }
    try edits.set(attributes)
    return edits
  }
}

extension TreePath {
  /// Of a change whose place in the tree is somebody else's care.
  static var none: TreePath { TreePath(number: 0, depth: 0, nodes: [], leaves: []) }
}

extension [UInt8] {
  /// Adds an entry behind all others of a bucket.
  fileprivate mutating func append(_ tag: ItemTag, _ leaf: Digest) {
    self += tag.bytes
    let bytes = leaf.span
    for index in bytes.indices { append(bytes[index]) }
  }
}
