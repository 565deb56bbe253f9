// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Says what is to be changed of an item, so that the revision comes of it.
struct HistoryChange: Sendable {
  /// The new revision's.
  let id: RevisionID
  /// Where it is made; its counter was never used.
  let entry: RevisionEntry
  /// What becomes of the item.
  var state = RevisionState.live
  /// The class that it gets; nil for the one that it has.
  var protection: ProtectionClass?
  /// What fields get.
  var fields: [FieldKey: FieldContent] = [:]
  /// Whether it leaves no conflict, as restoring and choosing do.
  var settles = false

  init(id: RevisionID, entry: RevisionEntry) {
    self.id = id
    self.entry = entry
  }
}

extension ItemHistory {
  /// The revision that a change makes: it follows every side that is held here, and keeps open what is open.
  ///
  /// - Returns: Nil when it would be too deep, or would know of too many copies.
  func revision(for change: HistoryChange) -> HeldRevision? {
    let sides = self.sides
    let depth = 1 + (sides.last?.stamp.depth ?? 0)
    guard RevisionStamp.depths.contains(depth) else { return nil }
    let stamp = RevisionStamp(id: change.id, depth: depth, entry: change.entry)
    var known = purged
    for side in sides { known.formUnion(side.lineage.vector) }
    let lineage = Lineage(stamp: stamp, following: known)
    guard !lineage.vector.isTooLong else { return nil }
    let standing = self.standing
    return HeldRevision(
      lineage: lineage, state: change.state,
      protection: change.protection ?? standing.protection,
      fields: change.state == .purged ? [:] : fields(for: change, by: stamp, standing))
  }

  private func fields(
    for change: HistoryChange, by stamp: RevisionStamp, _ standing: ItemStanding
  ) -> [FieldKey: [StampedContent]] {
    var fields = standing.fields.mapValues { field in
      [field.shown] + field.contents.filter { $0 != field.shown }
    }
    var sets = change.fields
    if change.settles {
      sets.merge(standing.fields.mapValues { $0.shown.content }) { set, _ in set }
    }
    for (key, content) in sets {
      // The shown one is replaced; a new name settles the name, since an item stands at one place.
      let open = change.settles || key == .name ? [] : fields[key]?.dropFirst() ?? []
      fields[key] = [StampedContent(stamp: stamp, content: content)] + open
    }
    return fields
  }

  /// The history once a revision made here is in it.
  func adding(_ revision: HeldRevision) -> ItemHistory {
    guard revision.state == .purged else {
      return ItemHistory(revisions + [revision], purged: purged)
    }
    return ItemHistory([revision], purged: covered(by: revision))
  }

  /// All that a purge knew of, and so does away with, in every copy; not the purge itself.
  private func covered(by purge: HeldRevision) -> RevisionVector {
    var covered = purged
    for entry in purge.lineage.vector.entries where entry.device != purge.stamp.entry.device {
      covered.include(entry)
    }
    let own = purge.stamp.entry
    if own.counter > 1 {
      covered.include(RevisionEntry(device: own.device, counter: own.counter - 1))
    }
    return covered
  }
}
