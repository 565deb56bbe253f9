// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Tells what a row stands for that is no revision: what a change of the item follows.
struct ShownSides {
  /// The revisions that it shows, and those that purged the item.
  let sides: [Lineage]
  /// Whether it stands under a name that none of them gave it: who changes it then takes that name for its own.
  let isDisplaced: Bool
}

extension UnlockedVault {
  /// What an item's row shows; nil for a row that is a revision.
  ///
  /// - Parameter tree: What is done with many buckets at once; nil where the tree is as the root says.
  mutating func shownSides(
    of current: borrowing ItemChange.Current, in tree: TreeEdit?
  ) throws(VaultError) -> ShownSides? {
    guard current.meta.view.hasSides else { return nil }
    let trail = try current.trail()
    var sides: [Lineage] = []
    var isNamed = false
    for entry in current.history.entries {
      let row = try rows.withKept(entry, of: current.facts, keys) {
        found, keys throws(VaultError) in try OpenedRow.load(found, keys)
      }
      if trail.sides.contains(entry.revision) { sides.append(row.trail.lineage) }
      guard row.trail.name.first == trail.name.first else { continue }
      isNamed = try row.withName { name throws(VaultError) in current.meta.name.isEqual(to: name) }
    }
    guard sides.count == trail.sides.count else { throw .damaged(.item) }
    let trace = try purgeTrace(of: current.facts.id, in: tree)
    return ShownSides(
      sides: sides + (trace?.purges.map(\.lineage) ?? []), isDisplaced: !isNamed)
  }

  /// What was purged of an item whose row is a revision, where that speaks of contents which it has not: of those that a
  /// purge covers nothing stands any more.
  mutating func purgedBeside(
    _ current: borrowing ItemChange.Current, in tree: TreeEdit?
  ) throws(VaultError) -> RevisionVector? {
    let meta = current.meta.view
    guard meta.isOpen, !meta.hasSides else { return nil }
    return try purgeTrace(of: current.facts.id, in: tree)?.covered
  }

  private mutating func purgeTrace(
    of item: ItemID, in tree: TreeEdit?
  ) throws(VaultError) -> PurgeTrace? {
    guard let tree else { return try rows.purgeTrace(of: item, under: trust.root, keys) }
    return try rows.purgeTrace(of: item, in: tree, keys)
  }
}
