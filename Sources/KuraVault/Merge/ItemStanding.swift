// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Tells what an item with several sides shows, and what of it is to be settled.
struct ItemStanding: Equatable, Sendable {
  /// Holds the contents of a field that no side replaced.
  struct Field: Equatable, Sendable {
    /// The one that is shown.
    let shown: StampedContent
    /// All of them, ascending by their stamps.
    let contents: [StampedContent]
    /// Those that differ from the shown one, and from each other: one of each.
    let conflicts: [StampedContent]
  }

  /// Live when a side is; purged only when all are.
  let state: RevisionState
  /// Protected when a side is; in a copy also where a row that is needed was not opened for it.
  var protection: ProtectionClass
  /// What it has; a purged item has nothing.
  let fields: [FieldKey: Field]
  /// How other copies did away with an item that was changed here, or there.
  let against: Set<RevisionState>
}

extension ItemHistory {
  /// What the item shows: the same in all copies that have the same sides.
  var standing: ItemStanding {
    let sides = self.sides
    // What was deleted keeps its contents, and a side that deleted is still one that knew and left out.
    let present = sides.filter { $0.state != .purged }
    let isLive = present.contains { $0.state == .live }
    var fields: [FieldKey: ItemStanding.Field] = [:]
    for key in Set(present.flatMap { $0.fields.keys }) {
      fields[key] = ItemStanding.Field(contents(of: key, in: present), isLive: isLive)
    }
    return ItemStanding(
      state: isLive ? .live : present.isEmpty ? .purged : .deleted,
      protection: sides.contains { $0.protection == .protected } ? .protected : .standard,
      fields: fields, against: isLive ? Set(sides.map { $0.state }).subtracting([.live]) : [])
  }

  /// The contents of a field that no side replaced, as one does that knows a content, does not have it, and has a
  /// later one.
  private func contents(of key: FieldKey, in sides: [HeldRevision]) -> [StampedContent] {
    // A side alone replaces nothing of its own.
    if sides.count == 1, purged.entries.isEmpty, let only = sides.first?.fields[key] {
      return only.sorted { $0.stamp < $1.stamp }
    }
    // What a purge covers is gone, but where the row of a side that it did not know has it: then it replaces nothing
    // either, or else no content might be left.
    let had = Set(sides.flatMap { $0.fields[key] ?? [] }).filter { content in
      !purged.covers(content.stamp.entry) || sides.contains { $0.hasInRow(content, of: key) }
    }
    let standing = had.filter { content in
      !sides.contains { side in
        let held = side.fields[key] ?? []
        return side.lineage.vector.covers(content.stamp.entry) && !held.contains(content)
          && held.contains { $0.stamp > content.stamp && had.contains($0) }
      }
    }
    return standing.sorted { $0.stamp < $1.stamp }
  }
}

extension ItemStanding.Field {
  /// - Parameters:
  ///   - contents: All that stand, ascending.
  ///   - isLive: Whether anybody has to choose.
  fileprivate init?(_ contents: [StampedContent], isLive: Bool) {
    guard let shown = contents.shown else { return nil }
    var conflicts: [StampedContent] = []
    var rest = contents.filter { isLive && !$0.content.agrees(with: shown.content) }
    while let next = rest.shown {
      conflicts.append(next)
      rest.removeAll { $0.content.agrees(with: next.content) }
    }
    self.init(shown: shown, contents: contents, conflicts: conflicts)
  }
}
