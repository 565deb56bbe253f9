// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

// Changes that two machines counted under one id, where one of the two has got another: in rows, stamps and vectors, also in
// what others made of them.

/// Says which name changes have by now that two machines counted under one id.
struct ChangeNames {
  let device: DeviceID
  private let former: DeviceID
  private let fork: UInt64
  /// The last change that has the other name. Who goes on under the former id may have some of the first in common.
  private let last: UInt64

  /// - Parameter last: The last change; nil for all beyond the fork.
  init(_ was: HeadReport.Was, upTo last: UInt64? = nil) {
    (device, former, fork) = (was.device, was.former, was.bound)
    self.last = last ?? .max
  }

  /// What becomes of a change.
  func entry(_ entry: RevisionEntry) -> RevisionEntry {
    guard entry.device == former, entry.counter > fork, entry.counter <= last else { return entry }
    return RevisionEntry(device: device, counter: entry.counter - fork)
  }

  /// Whether something knows of a change that has another name.
  func touches(_ vector: RevisionVector) -> Bool { vector.counter(of: former) > fork }

  func vector(_ vector: RevisionVector) -> RevisionVector {
    guard touches(vector) else { return vector }
    let counter = vector.counter(of: former)
    var next = RevisionVector(vector.entries.filter { $0.device != former })
    let kept = counter > last ? counter : fork
    if kept > 0 { next.include(RevisionEntry(device: former, counter: kept)) }
    next.include(entry(RevisionEntry(device: former, counter: min(counter, last))))
    return next
  }

  func stamp(_ stamp: RevisionStamp) -> RevisionStamp {
    RevisionStamp(id: stamp.id, depth: stamp.depth, entry: entry(stamp.entry))
  }

  func lineage(_ lineage: Lineage) -> Lineage {
    Lineage(stamp: stamp(lineage.stamp), following: vector(lineage.vector))
  }
}

extension CopyLedger {
  /// The same settings and slots, by changes that were renamed.
  func renumbered(_ names: ChangeNames) -> CopyLedger {
    var ledger = self
    ledger.settings = settings.map { setting in
      SettingSides(
        setting.key,
        sides: setting.sides.map {
          SettingSides.Side(names.lineage($0.lineage), value: $0.value)
        })
    }
    ledger.slots = slots.map { side in
      SlotTableSide(
        names.lineage(side.lineage),
        slots: side.slots.map { SlotTableSide.Slot($0.id, $0.kind, made: names.entry($0.made)) })
    }
    return ledger
  }
}

extension PurgeTrace {
  func renumbered(_ names: ChangeNames) -> PurgeTrace {
    var trace = self
    trace.purges = purges.map {
      PurgeRecord.Side(names.lineage($0.lineage), protection: $0.protection)
    }
    trace.covered = names.vector(covered)
    return trace
  }
}

extension OpenedRow {
  func renumbered(_ names: ChangeNames) throws(VaultError) -> OpenedRow {
    guard names.touches(trail.lineage.vector) else { return self }
    let next = names.lineage(trail.lineage)
    guard !next.vector.isTooLong else { throw .tooManySides }
    return try reentered(as: next, names.stamp)
  }
}

extension UnlockedVault {
  /// Renames changes wherever this vault knows of them.
  mutating func renumber(_ names: ChangeNames, _ draft: inout Draft) throws(VaultError) {
    trust.see(draft.root)
    for tag in try tags(touchedBy: names) {
      trust.see(draft.root)
      guard let leaf = try rows.tree.leaf(of: tag, under: draft.root, in: &rows.storage, keys)
      else { throw .damaged(.item) }
      let trace = try rows.withCurrent(tag, leaf: leaf, keys) {
        found, keys throws(VaultError) -> PurgeTrace? in
        found.facts.kind == .purged ? try PurgeTrace.load(found, keys) : nil
      }
      var renamed = SealedRows()
      if let trace = trace ?? nil {
        renamed.trace = try trace.renumbered(names).sealed(by: keys)
      } else {
        for row in try rows.itemCopy(tag, leaf: leaf, keys).rows {
          renamed.history.append(
            try row.renumbered(names).sealed(row.facts.revision, by: keys))
        }
        renamed.current = renamed.history.removeLast()
        try takeAway(tag, &draft)
      }
      try write(renamed, &draft)
    }
    guard let ledger = keys.ring.ledger else { return }
    let renamed = ledger.renumbered(names)
    guard renamed != ledger else { return }
    keys.ring.ledger = renamed
    try storeRing(&draft)
  }

  /// Where rows stand that know of a change which has another name. The current row of an item follows all others of it.
  private mutating func tags(
    touchedBy names: ChangeNames
  ) throws(VaultError) -> [ItemTag] {
    var tags: [ItemTag] = []
    try eachRow { facts, vectors in
      if vectors.contains(where: names.touches) { tags.append(facts.tag) }
    }
    return tags
  }

  /// Goes over the rows that stand under a name, and those that are left of purged items, with all that each knows of.
  mutating func eachRow(
    _ look: (RowFacts, [RevisionVector]) -> Void
  ) throws(VaultError) {
    for bucket in 0..<(1 << (6 * UInt32(trust.root.depth))) {
      let bytes = try rows.tree.leaves(
        ofBucket: UInt32(bucket), under: trust.root, in: &rows.storage, keys)
      let leaves = BucketLeaves(bytes.span)
      for place in 0..<leaves.count {
        _ = try rows.withCurrent(leaves.tag(place), leaf: leaves.leaf(place), keys) {
          found, keys throws(VaultError) in
          if found.facts.kind == .purged {
            let trace = try PurgeTrace.load(found, keys)
            return look(found.facts, [trace.covered] + trace.purges.map(\.lineage.vector))
          }
          let meta = try keys.openMeta(found.row.meta, found.facts)
          let trail = try fromFormat(.item, meta.view.trail(orOldOf: found.facts))
          look(found.facts, [trail.lineage.vector])
        }
      }
    }
  }
}
