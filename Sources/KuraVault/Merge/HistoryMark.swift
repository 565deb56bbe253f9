// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Says of an item's history what must be alike in two copies, so that most are passed over: a merge costs what
/// differs, beside one walk over both lists.
struct HistoryMark: Equatable, Sendable {
  let item: ItemID
  /// Ascending.
  let sides: [RevisionID]
  let purged: RevisionVector

  /// - Parameter sides: In any order.
  init(_ item: ItemID, sides: [RevisionID], purged: RevisionVector = RevisionVector()) {
    self.item = item
    self.sides = sides.sorted()
    self.purged = purged
  }

  /// The mark of a history.
  init(_ item: ItemID, _ history: ItemHistory) {
    self.init(item, sides: history.sides.map { $0.stamp.id }, purged: history.purged)
  }

  /// The items of another copy that are not the same here.
  ///
  /// - Parameters:
  ///   - theirs: The other copy's, ascending by item.
  ///   - ours: This one's, ascending by item.
  static func items(
    of theirs: some Sequence<HistoryMark>, unlike ours: some Sequence<HistoryMark>
  ) -> [ItemID] {
    var here = ours.makeIterator()
    var next = here.next()
    var items: [ItemID] = []
    for mark in theirs {
      while let known = next, known.item < mark.item { next = here.next() }
      if next != mark { items.append(mark.item) }
    }
    return items
  }
}
