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
    /// Which attempt at a name it gets.
    let attempt: Int
  }

  var items: [Item] = []
  var leaves: CopyDifference
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
}

// MARK: - Planning

extension UnlockedVault {
  /// Looks at all in which the copies differ.
  mutating func plan(_ copy: inout OtherCopy) throws(VaultError) -> MergePlan {
    let leaves = try CopyDifference(&rows, under: trust.root, keys, &copy)
    var plan = MergePlan(leaves: leaves)
    var claims = try claims(leaves, &copy)
    let attempts = try place(&claims, leaves, &copy)
    for (id, known) in claims.sorted(by: { $0.key < $1.key }) {
      let attempt = attempts[id] ?? 0
      let isPurged = known.claim.state == .purged
      let tag = isPurged ? nil : try tag(of: known, attempt, leaves, &copy)
      guard known.isNews || known.ours != tag else { continue }
      plan.items.append(
        MergePlan.Item(id: id, ours: known.ours, theirs: known.theirs, attempt: attempt))
      plan.report.count(known, isPurged: isPurged, isRenamed: attempt > 0)
    }
    try planSettings(&plan, copy.keys.ring.ledger)
    try planSlots(&plan, copy)
    return plan
  }

  /// The items that are not the same in both copies.
  private mutating func claims(
    _ leaves: CopyDifference, _ copy: inout OtherCopy
  ) throws(VaultError) -> [ItemID: MergeClaim] {
    var places: [ItemID: (ours: ItemTag?, theirs: ItemTag?)] = [:]
    for (tag, leaf) in leaves.ours {
      let (id, kind) = try rows.itemID(of: tag, leaf: leaf, keys)
      let known = places[id] ?? (nil, nil)
      places[id] = (kind == .purged ? known.ours : tag, known.theirs)
    }
    for (tag, leaf) in leaves.theirs {
      let (id, kind) = try copy.itemID(of: tag, leaf: leaf)
      let known = places[id] ?? (nil, nil)
      places[id] = (known.ours, kind == .purged ? known.theirs : tag)
    }
    var claims: [ItemID: MergeClaim] = [:]
    for (id, place) in places {
      claims[id] = try claim(id, place.ours, place.theirs, leaves, &copy)
    }
    return claims
  }

  /// What becomes of an item, but for its place.
  mutating func claim(
    _ id: ItemID, _ ours: ItemTag?, _ theirs: ItemTag?, _ leaves: CopyDifference,
    _ copy: inout OtherCopy
  ) throws(VaultError) -> MergeClaim {
    let mine = try item(id, ours, leaves)
    let merge = try merged(id, mine, theirs, leaves, &copy)
    let isPurged = merge.standing.state == .purged
    let wanted =
      isPurged
      ? .zero
      : try merge.withName { name throws(VaultError) in try keys.tag(of: .checked(name)) }
    return MergeClaim(
      claim: PlacedNames.Claim(
        item: id, state: merge.standing.state, protection: merge.standing.protection,
        wanted: wanted),
      ours: ours, theirs: theirs, isNews: merge.isNews, hasConflicts: merge.standing.hasConflicts)
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

  func merged(
    _ id: ItemID, _ mine: ItemCopy?, _ theirs: ItemTag?, _ leaves: CopyDifference,
    _ copy: inout OtherCopy
  ) throws(VaultError) -> ItemMerge {
    var other = ItemCopy()
    if let theirs, let leaf = leaves.theirs[theirs] { other = try copy.item(theirs, leaf: leaf) }
    other.trace = try copy.trace(of: id)
    return try ItemMerge.make(id, mine, other, depth: Int(keys.ring.policy[.historyDepth]))
  }
}

extension VaultRows {
  /// The id of the item that stands under a tag, and what it is.
  mutating func itemID(
    of tag: ItemTag, leaf: Digest, _ keys: borrowing Keyring
  ) throws(VaultError) -> (id: ItemID, kind: ItemKind) {
    let found = try withCurrent(tag, leaf: leaf, keys) { found, _ throws(VaultError) in
      (id: found.facts.id, kind: found.facts.kind)
    }
    guard let found else { throw .damaged(.item) }
    return found
  }
}
