// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// How much a slice stores, at most: so many new items, or a quarter as many that take more.
  static let batchSlice = 256
  /// How many new items cost as much time as one that was not sealed ahead.
  private static let weightOfOther = 4

  /// Does the next part of storing a batch; the last part commits.
  ///
  /// Where an item cannot be stored, those before it are, and none behind it; of a batch that is whole none
  /// is: ``PutBatch/failure`` tells.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/busy`` where such a batch begins anew and somebody else writes by now: it can
  ///   be tried again. ``VaultError/diskFull`` and those of the file: nothing of the batch was stored.
  public mutating func advance(batch: inout PutBatch) throws(VaultError) -> Bool {
    guard batch.isClosed else {
      try batch.close()
      return true
    }
    if batch.isWhole, batch.failure != nil {
      batch.cut()
      return false
    }
    if batch.entries.isEmpty { return false }
    if batch.isCommitted {
      // It is stored, whatever becomes of the WAL: what is left to clear there is cleared later.
      try? clearWAL()
      return false
    }
    if batch.draft == nil {
      try begin(&batch)
      return true
    }
    if batch.next < batch.entries.count {
      try working(on: &batch) { vault, batch throws(VaultError) in try vault.write(&batch) }
      return true
    }
    if batch.isFailing {
      batch.cut()
      return !batch.entries.isEmpty
    }
    try working(on: &batch) { vault, batch throws(VaultError) in try vault.finish(&batch) }
    // What is kept of the tree is of the state before.
    rows.tree.forget()
    batch.storedCount = batch.entries.count
    batch.isCommitted = true
    batch.rows = nil
    // With as much room as before it works as well.
    try? rows.storage.fitCache()
    return mustTruncate
  }

  /// Takes the write lock, on the newest state of the file.
  mutating func begin(_ batch: inout PutBatch) throws(VaultError) {
    let known = trust.fingerprint
    defer { if trust.fingerprint != known { rows.tree.forget() } }
    try working(on: &batch) { vault, batch throws(VaultError) in
      try fromStorage(vault.rows.storage.beginWrite())
      do throws(VaultError) {
        try vault.trustRoot()
        try batch.renewTags(in: vault)
        var draft = try Draft(after: vault.trust, by: vault.writer, at: vault.options.now())
        try vault.claimForBatch(&draft)
        batch.draft = draft
      } catch {
        vault.rows.storage.end()
        throw error
      }
      batch.tree = TreeEdit(of: vault.trust.root)
      batch.bucket = nil
      batch.next = 0
      vault.rows.tree.forget()
    }
  }

  /// Works on the rows of a batch as if they were the vault's.
  private mutating func working(
    on batch: inout PutBatch,
    _ body: (inout UnlockedVault, inout PutBatch) throws(VaultError) -> Void
  ) throws(VaultError) {
    guard var own = batch.rows.take() else { return }
    swap(&rows, &own)
    do throws(VaultError) { try body(&self, &batch) } catch {
      swap(&rows, &own)
      batch.rows = consume own
      throw error
    }
    swap(&rows, &own)
    batch.rows = consume own
  }
}

extension PutBatch {
  /// Nothing more is added.
  fileprivate mutating func close() throws(VaultError) {
    var added = try fromMemory(SecretBuffer(capacity: 0))
    swap(&added, &adding)
    text = BatchText(added.finish())
    sortEntries()
  }

  /// The tag of the item that is written next; nil when there is none.
  fileprivate var nextTag: ItemTag? { next < entries.count ? entries[next].tag : nil }

  /// Whether an item of those that are being written cannot be stored.
  fileprivate var isFailing: Bool {
    guard let failure else { return false }
    return failure.index < entries.count
  }

  /// Undoes everything and leaves the items before the one that cannot be stored, to begin anew.
  fileprivate mutating func cut() {
    guard let failure else { return }
    rows?.storage.end()
    entries.removeAll { isWhole || $0.index >= failure.index }
    next = 0
    ahead = SealedAhead()
    unwritten = []
    (draft, tree, bucket) = (nil, nil, nil)
  }
}

// MARK: - Within the transaction

extension UnlockedVault {
  /// Writes the next items, and the buckets that they fill up.
  fileprivate mutating func write(_ batch: inout PutBatch) throws(VaultError) {
    guard var tree = batch.tree.take(), var draft = batch.draft.take() else { return }
    try batch.sealAhead(Self.batchSlice, &draft, &rows, keys)
    var room = Self.batchSlice
    while batch.next < batch.entries.count, room > 0 {
      let number = tree.bucket(of: batch.entries[batch.next].tag)
      var bucket =
        if let open = batch.bucket.take() { open } else {
          BucketEdit(number, before: try tree.leaves(ofBucket: number, in: &rows, keys))
        }
      try write(&batch, into: &bucket, &room, tree, &draft)
      if let next = batch.nextTag, tree.bucket(of: next) == number {
        // The next slice goes on with it.
        batch.bucket = bucket
        break
      }
      // Once an item has failed, nothing of this will stay.
      if batch.isFailing { continue }
      bucket.close()
      try tree.store(bucket.after, ofBucket: number, in: &rows.storage, keys)
    }
    batch.tree = tree
    batch.draft = draft
  }

  /// Writes the items of one bucket, as far as a slice goes.
  private mutating func write(
    _ batch: inout PutBatch, into bucket: inout BucketEdit, _ room: inout Int, _ tree: TreeEdit,
    _ draft: inout Draft
  ) throws(VaultError) {
    while batch.next < batch.entries.count, room > 0 {
      let entry = batch.entries[batch.next]
      guard tree.bucket(of: entry.tag) == bucket.number else { return }
      let leaf = bucket.leaf(of: entry.tag)
      if let item = batch.ahead.take(batch.next, isNew: leaf == nil), !batch.isFailing {
        bucket.set(entry.tag, item.leaf)
        batch.unwritten.append(item)
        draft.root.itemCount += 1
        if let change = item.change { draft.note(change, of: item.facts.id) }
        room -= 1
      } else {
        // Of the row before it, where that is of the same name.
        try batch.writeRows(&rows)
        if let new = try store(entry, of: &batch, leaf, tree, &draft) { bucket.set(entry.tag, new) }
        room -= Self.weightOfOther
      }
      batch.next += 1
    }
  }

  /// Stores an item, or notes why it cannot be.
  ///
  /// - Parameter leaf: What the tree has of it; nil for a new one.
  /// - Returns: Its new leaf; nil when it was not stored, or there is nothing to delete.
  private mutating func store(
    _ entry: PutBatch.Entry, of batch: inout PutBatch, _ leaf: Digest?, _ tree: TreeEdit,
    _ draft: inout Draft
  ) throws(VaultError) -> Digest? {
    guard let text = batch.text else { return nil }
    do throws(VaultError) {
      return try store(entry, of: text.secret, in: &batch, leaf, tree, &draft)
    } catch {
      guard error.isOfItem else { throw error }
      batch.fail(at: entry.index, with: error)
      return nil
    }
  }

  private mutating func store(
    _ entry: PutBatch.Entry, of text: borrowing SecretBytes, in batch: inout PutBatch,
    _ leaf: Digest?, _ tree: TreeEdit, _ draft: inout Draft
  ) throws(VaultError) -> Digest? {
    let change = try change(of: entry.tag, leaf: leaf, at: .none, in: tree)
    let isReplacing = batch.isReplacing || entry.manner.isReplacing
    try change.check(isReplacing ? .replace : .create)
    let isDeletion = entry.manner.kind == .deleted
    if isDeletion, change.liveRevision == nil { return nil }
    let next = try change.next(
      text.bytes.extracting(entry.name), try entry.edits(in: text),
      setting: isDeletion ? .deletion : .value, size: UInt64(entry.value.count),
      modified: draft.root.time, entry.manner.times)
    if batch.isFailing { return nil }
    if isDeletion || change.isDeleted { try draft.countDeleted(isDeletion) }
    if isDeletion { draft.freesName = true }
    let content = try content(text.bytes.extracting(entry.value))
    return try storeRevision(
      change, next, content, entry.manner.kind, protecting: entry.manner.isProtecting, &draft
    ).leaf
  }

  /// Closes the tree, and commits.
  fileprivate mutating func finish(_ batch: inout PutBatch) throws(VaultError) {
    guard var tree = batch.tree.take(), var draft = batch.draft.take() else { return }
    try batch.writeRows(&rows)
    try tree.close(in: &rows.storage, keys)
    draft.root.treeRoot = tree.treeRoot
    try growTree(&draft)
    try commit(draft)
    rows.tree.forget()
  }
}

extension TreePath {
  /// Of a change whose place in the tree is somebody else's care.
  static var none: TreePath { TreePath(number: 0, depth: 0, root: .zero, nodes: [], leaves: []) }
}
