// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Marks 16 bytes as a digest of what a field has.
enum ContentSubject: Sendable {}

/// A content, or an attribute's key, that is compared and never looked into: a keyed digest of it.
///
/// Of what is protected, which nobody opens for this, it is one of the revision that sealed it: then the same value that
/// was put in two copies is two contents.
typealias ContentID = Identifier<ContentSubject>

/// Names a part of an item that is merged for itself.
enum FieldKey: Hashable, Comparable, Sendable {
  case value
  case name
  /// An attribute, by the digest of its key.
  case attribute(ContentID)
}

/// Says of a field's content only what decides between two of them.
enum FieldContent: Hashable, Sendable {
  /// A deleted attribute.
  case nothing
  /// Whatever it is.
  case whole(ContentID)
  /// One-time codes by a counter: by the digest of everything else.
  case code(seed: ContentID, counter: UInt64)

  /// Whether nobody has to choose between the two.
  func agrees(with other: FieldContent) -> Bool {
    switch (self, other) {
    case (.code(let seed, _), .code(let other, _)): seed == other
    case (.nothing, _), (.whole, _), (.code, _): self == other
    }
  }
}

/// Keeps a content beside the revision that set it.
struct StampedContent: Hashable, Sendable {
  let stamp: RevisionStamp
  let content: FieldContent
}

extension Sequence<StampedContent> {
  /// The content that is shown: the latest by its stamp, which no clock had a part in; of codes by a counter with
  /// its secret the highest, since a lower one was used up.
  var shown: StampedContent? {
    guard let latest = self.max(by: { $0.stamp < $1.stamp }) else { return nil }
    guard case .code = latest.content else { return latest }
    return self.filter { $0.content.agrees(with: latest.content) }
      .max { ($0.content.counter, $0.stamp) < ($1.content.counter, $1.stamp) }
  }
}

extension FieldContent {
  fileprivate var counter: UInt64 {
    switch self {
    case .nothing, .whole: 0
    case .code(_, let counter): counter
    }
  }
}

/// Names what a revision did with an item as a whole.
enum RevisionState: Hashable, Sendable {
  case live
  /// Keeps its contents.
  case deleted
  /// Has none.
  case purged
}

/// Is known by what it follows, and so has its place among others.
protocol Revised {
  var lineage: Lineage { get }
}

extension SettingSides.Side: Revised {}
extension SlotTableSide: Revised {}

/// Holds a revision of an item as merging sees it.
struct HeldRevision: Revised, Hashable, Sendable {
  let lineage: Lineage
  let state: RevisionState
  let protection: ProtectionClass
  /// Of each field the contents that stood when it was made: first that which stands in this row.
  let fields: [FieldKey: [StampedContent]]

  var stamp: RevisionStamp { lineage.stamp }

  /// Whether a content is to be had from this row: not the value of a deleted one, which stands where it was set.
  func hasInRow(_ content: StampedContent, of field: FieldKey) -> Bool {
    fields[field]?.first == content && !(state == .deleted && field == .value)
  }

  /// Whether it set the value, and did not only keep it.
  var setsValue: Bool { fields[.value]?.contains { $0.stamp.id == stamp.id } ?? false }

  /// Whether it may have made the item standard, so that all its rows are open since: a change of the class sets nothing,
  /// or the name where the item had given way, and a change of the name takes its row.
  var unprotects: Bool {
    state == .live && protection == .standard
      && !fields.contains { key, contents in
        key != .name && contents.contains { $0.stamp.id == stamp.id }
      }
  }
}

extension Sequence where Element: Revised {
  /// Those that no other one follows, ascending by their stamps.
  ///
  /// What follows is deeper, and what follows it knows of all that it knew: so each is held only against those.
  var sides: [Element] {
    var sides: [Element] = []
    for revision in self.sorted(by: { $0.lineage.stamp > $1.lineage.stamp })
    where !sides.contains(where: { $0.lineage.follows(revision.lineage) }) {
      sides.append(revision)
    }
    return sides.reversed()
  }
}
