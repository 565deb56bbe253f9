// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Brings together what two copies say of one item where a change of it counts for a device in one of them, and in the
/// other one for what that device was before it took another id: by a file, or by who had one, the former name comes to who
/// knows the new one, and would pass for another change.
struct TwinClash {
  /// Which changes have which name now.
  private let was: HeadReport.Was
  /// The revisions that are met under both names.
  private let ids: Set<RevisionID>

  /// - Parameters:
  ///   - copies: All of an item in each copy.
  ///   - known: The devices of which it is known that they took another id.
  /// - Returns: Nil where each change has one name.
  init?(_ copies: [ItemCopy], _ known: [HeadReport.Was]) {
    var entries: [RevisionID: Set<RevisionEntry>] = [:]
    for copy in copies { copy.eachStamp { entries[$0.id, default: []].insert($0.entry) } }
    let found = entries.filter { $0.value.count > 1 }
    guard let clash = found.min(by: { $0.key < $1.key }) else { return nil }
    // The new name counts from the fork, so that the higher counter is the former one's.
    let sorted = clash.value.sorted { ($0.counter, $0.device) < ($1.counter, $1.device) }
    let told = known.first { was in
      sorted.contains { was.entry($0) != $0 && sorted.contains(was.entry($0)) }
    }
    let was =
      told
      ?? HeadReport.Was(
        device: sorted[0].device, former: sorted[1].device,
        fork: sorted[1].counter - sorted[0].counter, common: .none, void: [])
    self.was = was
    ids = Set(
      found.filter { $0.value.contains { was.entry($0) != $0 } }.map(\.key))
  }

  /// Gives what one copy has of the item the names that count, where some of it has a former one.
  ///
  /// - Returns: Whether something has another name.
  func resolve(_ copy: inout ItemCopy) throws(VaultError) -> Bool {
    var isFormer = false
    copy.eachStamp { stamp in
      if ids.contains(stamp.id), was.entry(stamp.entry) != stamp.entry { isFormer = true }
    }
    guard isFormer else { return false }
    copy.rows = try copy.rows.map { row throws(VaultError) in
      // Who knows of the new id means the other machine by the former one.
      let isNew = row.trail.lineage.vector.counter(of: was.device) > 0
      return isNew ? row : try row.renumbered(was)
    }
    if let trace = copy.trace, trace.covered.counter(of: was.device) == 0 {
      copy.trace = trace.renumbered(was)
    }
    return true
  }
}

extension ItemCopy {
  /// Goes over all revisions that it speaks of.
  fileprivate func eachStamp(_ look: (RevisionStamp) -> Void) {
    for row in rows { row.eachStamp(look) }
    for purge in trace?.purges ?? [] { look(purge.lineage.stamp) }
  }
}
