// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Tells apart revisions of format 1 that two copies counted alike, and gives each an entry by its id: without that
/// one of the two would pass for the other.
struct OldClash {
  /// Whose entries they have.
  private let device: DeviceID
  /// The lowest number of which there are two.
  private let first: UInt64

  /// - Parameters:
  ///   - ours: The rows of an item in one copy.
  ///   - theirs: Those in the other one.
  /// - Returns: Nil where the copies agree on all that they both counted.
  init?(_ item: ItemID, _ ours: [OpenedRow], _ theirs: [OpenedRow]) throws(VaultError) {
    // Most items that come are new here, or the same.
    guard !ours.isEmpty, !theirs.isEmpty else { return nil }
    device = try fromFormat(.item, DeviceID.ofOldRevisions(of: item))
    let (left, right) = (OldClash.ids(device, ours), OldClash.ids(device, theirs))
    // Where one copy met the other before, it has given them such entries already.
    let (here, there) = (OldClash.devices(ours), OldClash.devices(theirs))
    let mine = left.filter { number, id in
      right[number].map { $0 != id } ?? false || there.contains(DeviceID(id))
    }
    let others = right.filter { here.contains(DeviceID($0.value)) }
    guard let first = (Array(mine.keys) + others.keys).min() else { return nil }
    self.first = first
  }

  /// The devices that rows know of.
  private static func devices(_ rows: [OpenedRow]) -> Set<DeviceID> {
    Set(rows.flatMap { $0.trail.lineage.vector.entries.map(\.device) })
  }

  /// The old revisions that rows have or speak of, by their numbers.
  private static func ids(_ device: DeviceID, _ rows: [OpenedRow]) -> [UInt64: RevisionID] {
    var ids: [UInt64: RevisionID] = [:]
    for row in rows {
      row.eachStamp { stamp in
        if stamp.entry.device == device { ids[stamp.entry.counter] = stamp.id }
      }
    }
    return ids
  }

  /// One copy's rows with entries that the other copy's revisions do not have.
  func resolved(_ rows: [OpenedRow]) throws(VaultError) -> [OpenedRow] {
    let known = OldClash.ids(device, rows)
    return try rows.map { row throws(VaultError) in
      let lineage = row.trail.lineage
      guard lineage.vector.counter(of: device) >= first else { return row }
      var vector = RevisionVector(lineage.vector.entries.filter { $0.device != device })
      if first > 1 { vector.include(RevisionEntry(device: device, counter: first - 1)) }
      for (number, id) in known
      where number >= first && number <= lineage.vector.counter(of: device) {
        vector.include(entry(number, id))
      }
      let stamp = self.stamp(lineage.stamp)
      let next = Lineage(stamp: stamp, following: vector)
      guard !next.vector.isTooLong else { throw .tooManySides }
      return try row.reentered(as: next) { self.stamp($0) }
    }
  }

  private func stamp(_ stamp: RevisionStamp) -> RevisionStamp {
    guard stamp.entry.device == device, stamp.entry.counter >= first else { return stamp }
    return RevisionStamp(
      id: stamp.id, depth: stamp.depth, entry: entry(stamp.entry.counter, stamp.id))
  }

  /// An id stands for a copy that made this revision alone.
  private func entry(_ number: UInt64, _ id: RevisionID) -> RevisionEntry {
    RevisionEntry(device: DeviceID(id), counter: number)
  }
}

extension DeviceID {
  /// Stands for the copy in which a revision of format 1 was made, when another one counted alike.
  fileprivate init(_ revision: RevisionID) {
    let bytes = revision.bytes
    self.init(bytes.span)
  }
}
