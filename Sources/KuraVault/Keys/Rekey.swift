// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Puts everything in a vault under a new vault key and a new protected pair, step by step.
///
/// It is one transaction of SQLite's on a connection of its own: until its last commit the vault is whole
/// as it was, and after that whole under the new key, whatever happens in between. Others read meanwhile;
/// what they write finds the vault busy. Drop it before the vault is locked, which undoes it.
public struct Rekey: ~Copyable {
  var rows: VaultRows
  let keys: RekeyKeys
  /// The state that it began with.
  let root: RootRecord
  /// What is to stand in front of the items.
  let front: RekeyFront
  /// Tags and leaves under the new keys, in the order in which they came.
  var entries: [TreeEntry] = []
  /// The bucket that is next.
  private var bucket: UInt32 = 0

  /// How many buckets there are.
  private var bucketCount: UInt32 { 1 << (6 * UInt32(root.depth)) }

  /// What it has done, and all that there is to do, in parts of the vault.
  public var progress: (done: UInt64, total: UInt64) { (UInt64(bucket), UInt64(bucketCount)) }

  init(
    _ storage: consuming Storage, _ keys: RekeyKeys, _ root: RootRecord, _ front: RekeyFront,
    checks: IntegrityChecks
  ) {
    rows = VaultRows(storage, checks: checks)
    self.keys = keys
    self.root = root
    self.front = front
  }

  /// Does a few milliseconds of work.
  ///
  /// - Returns: Whether there is more to do before ``UnlockedVault/finish(_:)-(Rekey)``.
  /// - Throws: ``VaultError/damaged(_:)`` for a row that is not what the root says; ``VaultError/diskFull``
  ///   and others of the file. Drop it then.
  public mutating func step() throws(VaultError) -> Bool {
    var slice = Slice()
    let (keys, first) = (keys, bucket)
    try keys.moving?.advance(in: &rows.storage, &slice)
    if keys.moving?.isPending == true { return true }
    while bucket < bucketCount, !slice.isSpent, bucket - first < Slice.bucketLimit {
      let bytes = try rows.tree.leaves(
        ofBucket: bucket, under: root, in: &rows.storage, keys.old)
      let leaves = BucketLeaves(bytes.span)
      for index in 0..<leaves.count {
        try reseal(leaves.tag(index), leaves.leaf(index), keys, &slice)
      }
      bucket += 1
    }
    if bucket < bucketCount || keys.moving?.isPending == true { return true }
    return try keys.moving?.deleteLeftovers(in: &rows.storage) ?? false
  }

  /// Moves an item to its tag under the new keys, with its history.
  private mutating func reseal(
    _ tag: ItemTag, _ leaf: Digest, _ keys: RekeyKeys, _ slice: inout Slice
  ) throws(VaultError) {
    let loaded = try rows.withCurrent(tag, leaf: leaf, keys.old) { found, _ throws(VaultError) in
      (
        try keys.reseal(found),
        try HistoryList.checked(found.row.history, below: found.facts.revision)
      )
    }
    guard let (current, before) = loaded else { throw .damaged(.item) }
    slice.countRow(current.byteCount)
    var history = HistoryList()
    for entry in before.entries {
      let kept = try rows.withKept(entry, of: current.facts, keys.old) {
        found, _ throws(VaultError) in try keys.reseal(found)
      }
      slice.countRow(kept.byteCount)
      history.append(
        revision: entry.revision, leaf: try rows.storage.store(kept: kept, keys.next))
    }
    try rows.storage.delete(tag)
    let moved = try rows.storage.store(current, history, keys.next)
    entries.append(TreeEntry(tag: current.facts.tag, leaf: moved))
  }
}

/// Holds the keys that a rekey takes everything from, and those that it goes to.
final class RekeyKeys {
  let old: Keyring
  let next: Keyring
  private let oldPair: ProtectedKey
  /// What becomes of long values; nil where they stay as they are.
  let moving: MovedValues?

  init(
    _ old: consuming Keyring, _ next: consuming Keyring, _ oldPair: consuming ProtectedKey,
    moving: MovedValues? = nil
  ) {
    self.old = old
    self.next = next
    self.oldPair = oldPair
    self.moving = moving
  }

  /// Seals a row again under the new keys, inside too where it is protected.
  func reseal(_ found: VerifiedRow) throws(VaultError) -> ResealedRow {
    let meta = try old.openMeta(found.row.meta, found.facts)
    var facts = found.facts
    facts.tag = try next.tag(of: meta, facts)
    facts.generation = next.ring.active
    let body = try old.openBody(found.row.body, found.facts)
    return ResealedRow(
      facts: facts, meta: try next.seal(meta, facts), body: try reseal(body: body, facts))
  }

  private func reseal(
    body: consuming SecretBytes, _ facts: RowFacts
  ) throws(VaultError) -> [UInt8] {
    guard facts.protection == .protected, facts.kind != .purged else {
      guard let moving, facts.kind != .purged else { return try next.seal(body: body.bytes, facts) }
      return try seal(try PartedBody.part(body, .standard, of: old.format), facts, moving)
    }
    let parts = try PartedBody.part(body, .protected, of: old.format)
    let half = old.ring.protectedHalf
    let secrets = try oldPair.resealed(parts.secrets, of: facts.id, from: old, for: next)
    let outer = try old.protectedBody(parts.value, facts)
    var inner = try oldPair.open(outer, of: facts.id, in: old.vault, half: half)
    if let moving { inner = try moving.moved(inner) }
    let moved = try next.protected(inner.bytes, facts, for: outer.origin)
    return try next.seal(moved.encoded, beside: secrets, facts)
  }

  /// Seals a standard body whose value is another one's from now on, where it is a long one.
  private func seal(
    _ parts: consuming PartedBody, _ facts: RowFacts, _ moving: MovedValues
  ) throws(VaultError) -> [UInt8] {
    let secrets = try parts.copiedSecrets()
    let value = try moving.moved(try parts.value.copied())
    return try next.seal(value.bytes, beside: secrets, facts)
  }
}

/// Holds what stands in front of the items under the new vault key.
struct RekeyFront {
  let ring: [UInt8]
  let slots: [SlotRow]
  /// The slots that there were.
  let before: [SlotRow]
  /// The slot that opens by what opened the vault just now.
  let slot: UInt8
  /// What becomes of what the vault remembers of a store; nil where it is not shared.
  var epoch: EpochChange?
}

// MARK: - Rows

extension Storage {
  /// Writes an item's row.
  ///
  /// - Returns: Its leaf.
  mutating func store(
    _ sealed: ResealedRow, _ history: HistoryList, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    let list = history.encoded
    try store(sealed, list)
    return try keys.leaf(of: sealed, list)
  }

  /// Writes an item's row, whose leaf is known.
  ///
  /// - Parameter history: The encoded list of its history.
  mutating func store(_ sealed: ResealedRow, _ history: [UInt8]) throws(VaultError) {
    let (tag, id) = (sealed.facts.tag.bytes, sealed.facts.id.bytes)
    let row = ItemRow(
      tag: tag.span, id: id.span, facts: sealed.facts.revisionFacts, history: history.span,
      meta: sealed.meta.span, body: sealed.body.span)
    try fromStorage(storeItem(row))
  }

  /// Writes a row of the history.
  ///
  /// - Returns: Its leaf.
  mutating func store(
    kept sealed: ResealedRow, _ keys: borrowing Keyring
  ) throws(VaultError) -> Digest {
    let (tag, id) = (sealed.facts.tag.bytes, sealed.facts.id.bytes)
    let row = ItemRow(
      tag: tag.span, id: id.span, facts: sealed.facts.revisionFacts, history: Span(),
      meta: sealed.meta.span, body: sealed.body.span)
    try fromStorage(storeHistory(row))
    return try keys.leaf(of: row, sealed.facts, isKept: true)
  }
}
