// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Brings together what two copies say of one item where a change of it counts for a device in one of them, and in the
/// other one for what that device was before it took another id: by a file, or by who had one, the former name comes to who
/// knows the new one, and would pass for another change.
struct TwinClash {
  /// Which changes have which name now: first those of who parted last, where one machine after the other did.
  private let turns: [HeadReport.Was]
  /// The revisions that are met under both names.
  private let ids: Set<RevisionID>
  /// The last of them, as it was counted before.
  private let last: UInt64

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
    let told = known.first { ChangeNames($0).meets(clash.value) }
    let was =
      told
      ?? HeadReport.Was(
        device: sorted[0].device, former: sorted[1].device,
        fork: sorted[1].counter - sorted[0].counter, last: RevisionEntry.counters.upperBound,
        common: .none, void: [])
    turns = was.turns(among: known)
    let names = ChangeNames(was)
    // Where both machines took another id, the former one is the other machine's in each one's copy.
    let clashing = found.filter { names.meets($0.value) }
    ids = Set(clashing.keys)
    last = clashing.values.joined().filter { names.entry($0) != $0 }.map(\.counter).max() ?? 0
  }

  /// Gives what one copy has of the item the names that count, where some of it has a former one.
  ///
  /// - Parameter goingOn: The devices whose former id is in that copy a third machine's, which has some of the changes in common.
  /// - Returns: Whether something has another name.
  func resolve(
    _ copy: inout ItemCopy, _ goingOn: Set<DeviceID>
  ) throws(VaultError) -> Bool {
    let names = turns.map { ChangeNames($0, upTo: goingOn.contains($0.device) ? last : nil) }
    var isFormer = false
    copy.eachStamp { stamp in
      if ids.contains(stamp.id), names[0].entry(stamp.entry) != stamp.entry { isFormer = true }
    }
    guard isFormer else { return false }
    copy.rows = try copy.rows.map { row throws(VaultError) in
      var next = row
      for name in Self.due(names, for: row.trail.lineage.vector) {
        next = try next.renumbered(name)
      }
      return next
    }
    if let trace = copy.trace {
      copy.trace = Self.due(names, for: trace.covered).reduce(trace) { $0.renumbered($1) }
    }
    return true
  }

  /// The names that something gets which knows of some changes.
  private static func due(_ names: [ChangeNames], for vector: RevisionVector) -> [ChangeNames] {
    // Who knows of the new id means the other machine by the former one.
    let first = names.firstIndex { name in
      vector.counter(of: name.device) == 0 && name.touches(vector)
    }
    return first.map { Array(names[$0...]) } ?? []
  }
}

extension ChangeNames {
  /// Whether a change is met under both names.
  fileprivate func meets(_ entries: Set<RevisionEntry>) -> Bool {
    entries.contains { entry($0) != $0 && entries.contains(entry($0)) }
  }
}

extension HeadReport.Was {
  /// It, and those that its device had taken before on the way from the same id, as far as it wrote heads under that.
  func turns(among known: [HeadReport.Was]) -> [HeadReport.Was] {
    let heads = Set(void)
    let before = known.filter {
      $0.former == former && $0.fork < fork && !heads.isDisjoint(with: $0.void)
    }
    return [self] + before.sorted { ($1.fork, $1.device) < ($0.fork, $0.device) }
  }

  /// Whether a head under the former id is of a machine that goes on under it.
  func goesOn(in head: HeadPlace) -> Bool { head.number > common.number && !void.contains(head) }
}

extension ItemCopy {
  /// Goes over all revisions that it speaks of.
  fileprivate func eachStamp(_ look: (RevisionStamp) -> Void) {
    for row in rows { row.eachStamp(look) }
    for purge in trace?.purges ?? [] { look(purge.lineage.stamp) }
  }
}
