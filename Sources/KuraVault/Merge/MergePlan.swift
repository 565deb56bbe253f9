// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Says what a merge is to do, before anything is done.
struct MergePlan {
  /// An item that gets other rows.
  struct Item {
    let id: ItemID
    /// Where it stands in this copy; nil for a new one.
    let ours: ItemTag?
    /// Where it stands in the other copy, where that one differs.
    let theirs: ItemTag?
    /// Where it is to stand; nil for one of which all was purged.
    let place: PlacedNames.Place?
    /// Whether it comes to the row that the other copy has of it, where nothing else stands.
    let isLone: Bool
  }

  var items: [Item] = []
  var report = MergeReport()
  /// What is known of settings and slots as it is to be; nil where nothing changes.
  var ledger: CopyLedger?
  /// What becomes of the slots; nil where nothing changes.
  var slots: SlotMerge?

  var isNothing: Bool { items.isEmpty && ledger == nil }
}

/// Knows of an item what its place takes.
struct MergeClaim {
  let claim: PlacedNames.Claim
  /// Where the item stands in each copy; nil where it does not, or is the same.
  var ours: ItemTag?
  var theirs: ItemTag?
  /// Whether something of it is new here.
  let isNews: Bool
  let hasConflicts: Bool
  /// Whether it was protected here, and is not any more: who gave way to it may come before it.
  var isOpened = false
  /// Whether it has one row in the other copy, and nothing here.
  var isLone = false
  /// How many bytes that row has.
  var byteCount = 0
}

// MARK: - Planning

extension UnlockedVault {
  /// What becomes of an item, but for its place.
  mutating func claim(
    _ id: ItemID, _ ours: ItemTag?, _ theirs: ItemTag?, _ leaves: CopyDifference,
    _ copy: inout OtherCopy
  ) throws(VaultError) -> MergeClaim {
    let mine = try item(id, ours, leaves)
    if mine == nil, let theirs, let row = try loneRow(theirs, leaves, &copy) {
      // A row under this vault's key has the tag of its name.
      let wanted = copy.isUnderOtherKey ? try row.tag(by: keys) : row.facts.tag
      return MergeClaim(lone: row, at: theirs, wanted: wanted)
    }
    let wasProtected = mine?.rows.contains { $0.facts.protection == .protected } ?? false
    let merge = try merged(id, mine, theirs, leaves, &copy)
    let isPurged = merge.standing.state == .purged
    let wanted =
      isPurged
      ? .zero
      : try merge.withName { name throws(VaultError) in try keys.tag(of: .checked(name)) }
    let isTooFull = try merge.isTooFull()
    return MergeClaim(
      claim: PlacedNames.Claim(
        item: id, state: merge.standing.state, protection: merge.standing.protection,
        wanted: wanted),
      ours: ours, theirs: theirs, isNews: merge.isNews,
      hasConflicts: merge.standing.hasConflicts || isTooFull,
      isOpened: wasProtected && merge.standing.protection == .standard)
  }

  /// All rows of an item in this copy.
  mutating func item(
    _ id: ItemID, _ tag: ItemTag?, _ leaves: CopyDifference
  ) throws(VaultError) -> ItemCopy? {
    let trace = try rows.purgeTrace(of: id, under: trust.root, keys)
    guard let tag else { return trace.map { ItemCopy(trace: $0) } }
    var known = leaves.ours[tag]
    if known == nil {
      known = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    }
    guard let leaf = known else { throw .damaged(.item) }
    var copy = try rows.itemCopy(tag, leaf: leaf, keys)
    copy.trace = trace
    return copy
  }

  mutating func merged(
    _ id: ItemID, _ mine: ItemCopy?, _ theirs: ItemTag?, _ leaves: CopyDifference,
    _ copy: inout OtherCopy
  ) throws(VaultError) -> ItemMerge {
    let depth = Int(keys.ring.policy[.historyDepth])
    if let late = copy.late { return try ItemMerge.leaving(late, of: id, mine) }
    var other = ItemCopy()
    if let theirs, let leaf = leaves.theirs[theirs] {
      other = try copy.item(theirs, leaf: leaf, for: keys)
    }
    other.trace = try copy.trace(of: id)
    let was = try remoteMemory()?.was ?? []
    return try ItemMerge.make(
      id, mine, other, of: was, goingOn: (try goingOn(was), copy.goingOn), depth: depth)
  }

  /// The only row that the other copy has of an item; nil where it has anything else of it.
  mutating func loneRow(
    _ theirs: ItemTag, _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) -> OpenedRow? {
    guard copy.late == nil, let leaf = leaves.theirs[theirs] else { return nil }
    var other = try copy.item(theirs, leaf: leaf, for: keys)
    if other.trace == nil, let row = other.current {
      other.trace = try copy.trace(of: row.facts.id)
    }
    guard let row = other.loneRow else { return nil }
    // Rows of a pack were held against their metas when it was opened.
    if copy.file != nil { guard try row.hasItsSecrets() else { throw .copyDamaged } }
    return row
  }
}

/// Says of the row under a tag what tells it from another copy's.
struct RowLook {
  let id: ItemID
  let kind: ItemKind
  /// The revision that the row is; nil where it is none, or is all that is left of a purged item.
  let revision: RevisionStamp?
}

extension VaultRows {
  /// The id of the item that stands under a tag.
  mutating func itemID(
    of tag: ItemTag, leaf: Digest, _ keys: borrowing Keyring
  ) throws(VaultError) -> ItemID {
    let found = try withCurrent(tag, leaf: leaf, keys) { found, _ throws(VaultError) in
      found.facts.id
    }
    guard let found else { throw .damaged(.item) }
    return found
  }

  /// Which item stands under a tag, and at which revision.
  mutating func look(
    at tag: ItemTag, leaf: Digest, _ keys: borrowing Keyring
  ) throws(VaultError) -> RowLook {
    let found = try withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      let facts = found.facts
      guard facts.kind != .purged else {
        return RowLook(id: facts.id, kind: .purged, revision: nil)
      }
      let meta = try keys.openMeta(found.row.meta, facts)
      let trail = try fromFormat(.item, meta.view.trail(orOldOf: facts))
      return RowLook(
        id: facts.id, kind: facts.kind,
        revision: trail.sides.isEmpty ? trail.lineage.stamp : nil)
    }
    guard let found else { throw .damaged(.item) }
    return found
  }
}
