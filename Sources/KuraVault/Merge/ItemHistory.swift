// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Holds all that a copy of a vault knows of one item, to be brought together with what another one knows.
///
/// What the item is, is a function of its sides, the revisions that nothing held follows, and of what was purged. A
/// merge makes no revision: copies that exchanged all they have agree, in whatever order they did it. The rest is
/// history, and each copy's own.
struct ItemHistory: Equatable, Sendable {
  /// Ascending by their stamps.
  let revisions: [HeldRevision]
  /// What was purged: nothing that it covers is ever taken back.
  let purged: RevisionVector

  /// - Parameter revisions: In any order, none twice.
  init(_ revisions: some Sequence<HeldRevision> = [], purged: RevisionVector = RevisionVector()) {
    self.revisions = revisions.sorted { $0.stamp < $1.stamp }
    self.purged = purged
  }

  var sides: [HeldRevision] { revisions.sides }

  /// This history with what it can take from another copy's.
  ///
  /// What something held follows was known here, and is gone if it is not here: pruned rows do not come back.
  func taking(_ other: ItemHistory) -> ItemHistory {
    var purged = self.purged
    purged.formUnion(other.purged)
    let known = Set(revisions.map { $0.stamp.id })
    let sides = self.sides
    let taken = other.revisions.filter { revision in
      !known.contains(revision.stamp.id)
        && !sides.contains { $0.lineage.follows(revision.lineage) }
    }
    return ItemHistory(
      (revisions + taken).filter { !purged.covers($0.stamp.entry) }, purged: purged)
  }

  /// What this history has that an earlier one had not, in the order in which the rows get their numbers: what is
  /// followed before what follows it.
  func news(since earlier: ItemHistory) -> [HeldRevision] {
    let known = Set(earlier.revisions.map { $0.stamp.id })
    return revisions.filter { !known.contains($0.stamp.id) }
  }

  /// The history but for some of its revisions that are no sides. A content that stands and is in none of the other rows is
  /// taken back from another copy's, though something here follows that: what is pruned is each copy's own choice.
  ///
  /// - Returns: Nil where no other row has such a content.
  func without(_ ids: Set<RevisionID>, filledFrom other: ItemHistory) -> ItemHistory? {
    guard !ids.isEmpty else { return self }
    var rest = revisions.filter { !ids.contains($0.stamp.id) }
    var missing = standing.fields.flatMap { key, field in field.contents.map { (key, $0) } }
      .filter { key, content in
        revisions.contains { $0.hasInRow(content, of: key) }
          && !rest.contains { $0.hasInRow(content, of: key) }
      }
    for row in other.revisions.reversed()
    where !ids.contains(row.stamp.id) && !purged.covers(row.stamp.entry) {
      let left = missing.filter { key, content in !row.hasInRow(content, of: key) }
      if left.count < missing.count { rest.append(row) }
      missing = left
    }
    return missing.isEmpty ? ItemHistory(rest, purged: purged) : nil
  }

  /// What is kept here: the sides, the rows that alone have a content which stands, the latest others that set a
  /// value, and as many that did not, so that many edits of attributes push no value out.
  ///
  /// - Parameter depth: The history depth.
  func pruned(to depth: Int) -> ItemHistory {
    guard revisions.count > 1 else { return self }
    var kept = Dictionary(uniqueKeysWithValues: sides.map { ($0.stamp.id, $0) })
    let latest = Array(revisions.reversed())
    for (field, standing) in standing.fields.sorted(by: { $0.key < $1.key }) {
      for content in standing.contents
      where !kept.values.contains(where: { $0.hasInRow(content, of: field) }) {
        if let row = latest.first(where: { $0.hasInRow(content, of: field) }) {
          kept[row.stamp.id] = row
        }
      }
    }
    let rest = latest.filter { kept[$0.stamp.id] == nil }
    let values = rest.filter { $0.setsValue }.prefix(depth)
    let others = rest.filter { !$0.setsValue }.prefix(depth)
    return ItemHistory(Array(kept.values) + values + others, purged: purged)
  }
}
