// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Brings the two histories of one item together, and makes the rows that it is to have here.
struct ItemMerge: ~Copyable {
  let item: ItemID
  /// What stood here, with numbers that stay; none for an item that is new here.
  private let before: [OpenedRow]
  private let after: ItemHistory
  /// All rows of both copies, those here first.
  let rows: [OpenedRow]
  let table: ContentTable

  let standing: ItemStanding
  /// What is known of it that was purged.
  let trace: PurgeTrace?
  /// Whether there is anything that stood not here before.
  let isNews: Bool

  /// - Parameters:
  ///   - ours: What this copy has of the item, in the class that it has.
  ///   - theirs: What the other one has.
  ///   - was: The devices that took another id.
  ///   - goingOn: Those whose former id is a third machine's in a copy, which has some changes in common.
  ///   - depth: How many earlier values are kept.
  static func make(
    _ item: ItemID, _ ours: ItemCopy?, _ theirs: ItemCopy?, of was: [HeadReport.Was] = [],
    goingOn: (ours: Set<DeviceID>, theirs: Set<DeviceID>) = ([], []), depth: Int
  ) throws(VaultError) -> ItemMerge {
    var (mine, other) = (ours ?? ItemCopy(), theirs ?? ItemCopy())
    if let clash = try OldClash(item, mine.rows, other.rows) {
      mine.rows = try clash.resolved(mine.rows)
      other.rows = try clash.resolved(other.rows)
    }
    let isRenamed = try resolve(&mine, &other, was, goingOn)
    var table = try ContentTable()
    let rows = (mine.rows + other.rows).filter(\.isRevision)
    for row in rows { try table.add(row) }
    let here = try table.history(of: mine.rows, mine.trace)
    let there = try table.history(of: other.rows, other.trace)
    let merged = here.taking(there)
    let known = Set(here.revisions.map(\.stamp.id))
    let isNews =
      isRenamed || merged.purged != here.purged
      || merged.revisions.contains { !known.contains($0.stamp.id) }
    var trace = mine.trace
    if let other = other.trace {
      try trace?.formUnion(other)
      if trace == nil { trace = other }
    }
    let opened = merged.opened(with: there, rows)
    // What is protected is forgotten by its owner alone.
    let most = Int(Setting.historyDepth.range.upperBound)
    let after = opened?.pruned(to: depth) ?? merged.pruned(to: most)
    var standing = after.standing
    if opened == nil { standing.protection = .protected }
    return ItemMerge(
      item: item, before: mine.rows, after: after, rows: rows, table: table,
      standing: standing, trace: trace, isNews: isNews)
  }

  /// Has each change have one name in both copies.
  ///
  /// - Returns: Whether something here gets another one.
  private static func resolve(
    _ mine: inout ItemCopy, _ other: inout ItemCopy, _ was: [HeadReport.Was],
    _ goingOn: (ours: Set<DeviceID>, theirs: Set<DeviceID>)
  ) throws(VaultError) -> Bool {
    var isRenamed = false
    // As often as machines parted, one after the other; what is met under both names still is nobody's to tell.
    for _ in 0...was.count {
      guard let clash = TwinClash([mine, other], was) else { break }
      let isTheirs = try clash.resolve(&other, goingOn.theirs)
      let isOurs = try clash.resolve(&mine, goingOn.ours)
      isRenamed = isRenamed || isOurs
      if !isTheirs, !isOurs { break }
    }
    return isRenamed
  }

  /// The same of one copy alone, but for what is late.
  static func leaving(
    _ late: LateChanges, of item: ItemID, _ ours: ItemCopy?
  ) throws(VaultError) -> ItemMerge {
    let rows = (ours?.rows ?? []).filter(\.isRevision)
    var table = try ContentTable()
    for row in rows { try table.add(row) }
    let here = try table.history(of: ours?.rows ?? [], ours?.trace)
    let after = late.rest(of: here, item)
    return ItemMerge(
      item: item, before: ours?.rows ?? [], after: after ?? here, rows: rows, table: table,
      standing: (after ?? here).standing,
      trace: after == nil ? ours?.trace : late.rest(of: ours?.trace),
      isNews: after != nil)
  }

  private init(
    item: ItemID, before: [OpenedRow], after: ItemHistory, rows: [OpenedRow],
    table: consuming ContentTable, standing: ItemStanding, trace: PurgeTrace?, isNews: Bool
  ) {
    self.item = item
    self.before = before
    self.after = after
    self.rows = rows
    self.table = table
    self.standing = standing
    self.trace = trace
    self.isNews = isNews
  }

  /// Whether one revision is all that the item shows.
  var hasOneSide: Bool { after.sides.count == 1 }

  /// The rows that nothing follows, each as often as a copy has it.
  var sideRows: [OpenedRow] {
    let ids = Set(after.sides.map(\.stamp.id))
    return rows.filter { ids.contains($0.stamp.id) }
  }

  /// The name that the item wants.
  borrowing func withName<Result: ~Copyable>(
    _ body: (Span<UInt8>) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    guard let stamp = standing.fields[.name]?.shown.stamp, let row = table.holder(of: .name, stamp)
    else { throw .damaged(.item) }
    return try row.withName(body)
  }

  /// The number of the item's row until now; nil for one that is new.
  var number: UInt64? { before.last?.facts.revision }
}

extension ItemHistory {
  /// What two copies come to where the item is standard: without what nobody can open here.
  ///
  /// - Parameters:
  ///   - other: What was taken from.
  ///   - rows: Those of both copies.
  /// - Returns: Nil where the item is protected, or stays so, since a content that stands would be in no row.
  func opened(with other: ItemHistory, _ rows: [OpenedRow]) -> ItemHistory? {
    guard standing.protection == .standard else { return nil }
    let open = rows.filter { $0.facts.protection == .standard }
    let sealed = Set(rows.map(\.stamp.id)).subtracting(open.map(\.stamp.id))
    return without(sealed, filledFrom: other)
  }
}

// MARK: - Its rows

/// Holds the rows of an item, sealed: the current one, and those of its history ascending.
struct SealedRows {
  var history: [ResealedRow] = []
  /// nil where all was purged.
  var current: ResealedRow?
  /// What is left of what was purged; nil for nothing.
  var trace: ResealedRow?
  /// The chunks that a row of them refers to, as the copy had them that they come from.
  var values: [ValueID: PieceCheck] = [:]

  /// How many rows of items these are, and how many of them count as deleted.
  var counts: (items: UInt64, deleted: UInt64) {
    let isDeleted = current.map { $0.facts.kind == .deleted } ?? false
    let traces: UInt64 = trace == nil ? 0 : 1
    return ((current == nil ? 0 : 1) + traces, (isDeleted ? 1 : 0) + traces)
  }
}

extension ItemMerge {
  /// The rows that the item is to have.
  ///
  /// - Parameter attempt: At which of its names it is placed.
  borrowing func sealed(
    _ attempt: Int, by keys: borrowing Keyring
  ) throws(VaultError) -> SealedRows {
    var rows = SealedRows()
    if standing.state != .purged {
      rows = try sealed(try placedName(attempt), by: keys)
    }
    rows.trace = try trace?.sealed(by: keys)
    return rows
  }

  private borrowing func sealed(
    _ name: borrowing ItemName, by keys: borrowing Keyring
  ) throws(VaultError) -> SealedRows {
    let held = try heldRows(keys)
    let sides = after.sides
    let isPlain = try withName { wanted throws(VaultError) in
      sides.count == 1 && wanted.isEqual(to: name.bytes)
    }
    var numbers = try self.numbers(of: held)
    var last = numbers.values.max() ?? 0
    if isPlain, let side = sides.first, numbers[side.stamp.id] != last {
      last += 1
      numbers[side.stamp.id] = last
    }
    var sealed: [ResealedRow] = []
    for row in held {
      guard let number = numbers[row.stamp.id] else { throw .damaged(.item) }
      sealed.append(try row.sealed(number, by: keys))
    }
    sealed.sort { $0.facts.revision < $1.facts.revision }
    if !isPlain {
      let view = try MergedRow(item, after, numbers)
      let rows = try MergedRows(held, sides: Set(sides.map(\.stamp.id)), table)
      sealed.append(try seal(view, name, max(last, number ?? 0) + 1, rows, keys))
    }
    let current = sealed.removeLast()
    return SealedRows(history: sealed, current: current, values: try values(of: held))
  }

  /// The chunks of rows that are kept, by what is known of them before anything is sealed anew.
  private borrowing func values(
    of held: [OpenedRow]
  ) throws(VaultError) -> [ValueID: PieceCheck] {
    let ids = Set(held.map(\.stamp.id))
    var values: [ValueID: PieceCheck] = [:]
    for row in rows where ids.contains(row.stamp.id) {
      guard let pieces = try row.pieces(), values[pieces.value] == nil else { continue }
      values[pieces.value] = pieces
    }
    return values
  }

  /// The rows that are kept, in the class that the item gets.
  private borrowing func heldRows(_ keys: borrowing Keyring) throws(VaultError) -> [OpenedRow] {
    // Where it was unprotected, the rows that its owner opened come from there.
    let kept = Dictionary(
      rows.map { ($0.stamp.id, $0) },
      uniquingKeysWith: { first, second in
        standing.protection == .protected || first.facts.protection == .standard ? first : second
      })
    var held: [OpenedRow] = []
    for revision in after.revisions where revision.state != .purged {
      guard let row = kept[revision.stamp.id] else { throw .damaged(.item) }
      held.append(standing.protection == .protected ? try row.protected(for: keys) : row)
    }
    return held
  }

  /// What was here keeps its number; what is new gets one above all that there were, in the order in which it was
  /// made.
  private borrowing func numbers(
    of held: [OpenedRow]
  ) throws(VaultError) -> [RevisionID: UInt64] {
    var numbers: [RevisionID: UInt64] = [:]
    for row in before where row.isRevision { numbers[row.stamp.id] = row.facts.revision }
    var last = before.last?.facts.revision ?? 0
    for row in held where numbers[row.stamp.id] == nil {
      last = max(last + 1, try row.lowestNumber())
      numbers[row.stamp.id] = last
    }
    let ids = Set(held.map(\.stamp.id))
    return numbers.filter { ids.contains($0.key) }
  }

  private borrowing func seal(
    _ view: MergedRow, _ name: borrowing ItemName, _ number: UInt64, _ rows: MergedRows,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> ResealedRow {
    let facts = RowFacts(
      tag: try keys.tag(of: name), id: item, revision: number, generation: keys.ring.active,
      protection: standing.protection)
    let row = try view.made(facts, name: name.bytes, rows, table)
    return ResealedRow(
      facts: row.facts, meta: try keys.seal(row.meta, row.facts),
      body: try keys.seal(row.value.bytes, beside: row.secrets, row.facts))
  }
}
