// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Remembers that an item was purged, in every copy of the vault that hears of it: nothing that it covers is ever taken
/// back.
struct PurgeTrace: Equatable {
  let item: ItemID
  /// The revisions that purged the item, at least one, ascending by their stamps.
  var purges: [PurgeRecord.Side]
  /// All that was purged.
  var covered: RevisionVector

  /// The trace that a purge leaves.
  ///
  /// - Parameter lineage: The revision that purges.
  init(of item: ItemID, by lineage: Lineage, _ protection: ProtectionClass) {
    self.item = item
    purges = [PurgeRecord.Side(lineage, protection: protection)]
    covered = RevisionVector()
    let own = lineage.stamp.entry
    for entry in lineage.vector.entries where entry.device != own.device { covered.include(entry) }
    if own.counter > 1 {
      covered.include(RevisionEntry(device: own.device, counter: own.counter - 1))
    }
  }

  private init(
    _ item: ItemID, _ record: PurgeRecord, _ latest: PurgeRecord.Side
  ) {
    self.item = item
    purges = (record.sides + [latest]).sorted { $0.lineage.stamp < $1.lineage.stamp }
    covered = record.covered
  }

  /// Learns what another copy knows of the same item.
  mutating func formUnion(_ other: PurgeTrace) throws(VaultError) {
    let known = Set(purges.map(\.lineage.stamp.id))
    let all = purges + other.purges.filter { !known.contains($0.lineage.stamp.id) }
    // The latest need not be the one that knew of an earlier one.
    purges = all.filter { purge in !all.contains { $0.lineage.follows(purge.lineage) } }
    purges.sort { $0.lineage.stamp < $1.lineage.stamp }
    covered.formUnion(other.covered)
    guard purges.count - 1 <= PurgeRecord.mostSides, !covered.isTooLong else {
      throw .tooManySides
    }
  }

  /// The revisions that purged the item, as merging sees them.
  var revisions: [HeldRevision] {
    purges.map {
      HeldRevision(
        lineage: $0.lineage, state: .purged, protection: $0.protection, fields: [:])
    }
  }
}

// MARK: - Its row

extension PurgeTrace {
  /// Reads the row that a purged item left.
  static func load(
    _ found: VerifiedRow, _ keys: borrowing Keyring
  ) throws(VaultError) -> PurgeTrace {
    guard found.facts.kind == .purged else { throw .damaged(.item) }
    let meta = try keys.openMeta(found.row.meta, found.facts)
    let body = try keys.openBody(found.row.body, found.facts)
    return try read(found.facts.id, found.facts.protection, meta, body.bytes)
  }

  /// Reads what such a row has, opened.
  static func read(
    _ item: ItemID, _ protection: ProtectionClass, _ meta: borrowing ItemMeta, _ body: Span<UInt8>
  ) throws(VaultError) -> PurgeTrace {
    guard let trail = try fromFormat(.item, meta.view.trail()) else { throw .damaged(.item) }
    let record = try fromFormat(.item, PurgeRecord(decoding: body))
    return PurgeTrace(item, record, PurgeRecord.Side(trail.lineage, protection: protection))
  }

  /// The revision whose row it is.
  var stamp: RevisionStamp? { purges.last?.lineage.stamp }

  /// Lends what its row has, not sealed.
  func lend(
    to body: (ProtectionClass, borrowing ItemMeta, Span<UInt8>) throws(VaultError) -> Void
  ) throws(VaultError) {
    guard let last = purges.last, !covered.entries.isEmpty else { throw .damaged(.item) }
    let record = PurgeRecord(covering: covered, sides: Array(purges.dropLast()))
    let bytes = try fromFormat(.item, record.encode())
    try body(last.protection, try PurgeTrace.meta(last.lineage), bytes.bytes)
  }

  /// The row that is to stand for it.
  func sealed(by keys: borrowing Keyring) throws(VaultError) -> ResealedRow {
    var sealed: ResealedRow?
    try lend { protection, meta, body throws(VaultError) in
      let facts = RowFacts(
        tag: try keys.tag(ofPurged: item), id: item, revision: 1, generation: keys.ring.active,
        protection: protection, kind: .purged)
      sealed = ResealedRow(
        facts: facts, meta: try keys.seal(meta, facts), body: try keys.seal(body: body, facts))
    }
    guard let sealed else { throw .damaged(.item) }
    return sealed
  }

  private static func meta(_ lineage: Lineage) throws(VaultError) -> ItemMeta {
    do throws(FormatError) {
      let none = try Attributes.empty()
      let trail = MetaTrail(purgedBy: lineage)
      return try ItemMeta(
        name: Span(), created: 0, modified: 0, size: 0, attributes: none.list, trail: trail)
    } catch { throw VaultError(error, about: .item) }
  }
}

extension VaultRows {
  /// What is left of an item that was purged; nil for one that was not.
  mutating func purgeTrace(
    of item: ItemID, under root: RootRecord, _ keys: borrowing Keyring
  ) throws(VaultError) -> PurgeTrace? {
    let tag = try keys.tag(ofPurged: item)
    return try withCurrent(tag, under: root, keys) { found, keys throws(VaultError) in
      try PurgeTrace.load(found, keys)
    }
  }

  /// The same while many buckets are being changed.
  mutating func purgeTrace(
    of item: ItemID, in tree: TreeEdit, _ keys: borrowing Keyring
  ) throws(VaultError) -> PurgeTrace? {
    let tag = try keys.tag(ofPurged: item)
    guard let leaf = try tree.leaf(of: tag, in: &self, keys) else { return nil }
    return try withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      try PurgeTrace.load(found, keys)
    }
  }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  /// The trace that the purge of an item is to leave, beside what was known; nil in format 1.
  mutating func traceOfPurge(
    of change: borrowing ItemChange, _ draft: inout Draft
  ) throws(VaultError) -> PurgeTrace? {
    guard format > .first, let (facts, _) = change.kept,
      let lineage = try nextLineage(of: change, facts.id, &draft)
    else { return nil }
    var trace = PurgeTrace(of: facts.id, by: lineage, facts.protection)
    // What was never anywhere else needs no trace, but nobody knows that.
    if let before = try rows.purgeTrace(of: facts.id, under: draft.root, keys) {
      try trace.formUnion(before)
    }
    return trace
  }

  /// Writes what is left of an item, whose row has gone.
  mutating func leave(_ trace: PurgeTrace, _ draft: inout Draft) throws(VaultError) {
    rows.tree.keepStaged()
    let row = try trace.sealed(by: keys)
    let path = try rows.tree.path(to: row.facts.tag, under: draft.root, in: &rows.storage, keys)
    let isNew = BucketLeaves(path.leaves.span).leaf(of: row.facts.tag) == nil
    try store(row, HistoryList(), at: path, &draft)
    if isNew {
      draft.root.itemCount += 1
      try draft.countDeleted(true)
    }
  }
}
