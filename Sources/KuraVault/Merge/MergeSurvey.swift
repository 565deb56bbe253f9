// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Finds out which items two copies do not agree on, and what each of them comes to, but for its place.
struct MergeSurvey {
  private(set) var difference: CopyDifference
  /// Rows of either copy that are yet to be looked at.
  private var rows: [(tag: ItemTag, leaf: Digest, isOurs: Bool)] = []
  private var isLooking = false
  private var places: [ItemID: Place] = [:]
  private var pending: [ItemID] = []
  private var isClaiming = false
  private(set) var claims: [ItemID: MergeClaim] = [:]
  /// The ids of the claims, ascending.
  private(set) var order: [ItemID] = []
  private var drawn: [ItemID] = []
  /// The tags of names that items may have beside the one that they want.
  private var tried: [ItemID: [Int: ItemTag]] = [:]

  /// Says where an item stands in both copies, and at which revisions.
  private struct Place {
    var ours: ItemTag?
    var theirs: ItemTag?
    var mine: RevisionStamp?
    var other: RevisionStamp?
    var isPurged = false

    /// Whether nothing can have been changed in one that the other has not: both have the same revision, which
    /// follows all that each has of it.
    var isSame: Bool { !isPurged && mine != nil && mine == other }
  }

  init(_ difference: CopyDifference) { self.difference = difference }

  /// How many items there are to look at.
  var count: Int { max(places.count, claims.count) }
}

// MARK: - Steps

extension MergeSurvey {
  /// Compares the trees.
  mutating func compare(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    try difference.step(
      &engine.rows, under: engine.trust.root, engine.keys, &copy, &slice)
  }

  /// Finds out whose the rows are that are not the same.
  mutating func look(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    if !isLooking {
      isLooking = true
      rows = difference.ours.map { ($0.key, $0.value, true) }
      rows += difference.theirs.map { ($0.key, $0.value, false) }
    }
    while let row = rows.popLast() {
      slice.countLook()
      let found =
        row.isOurs
        ? try engine.rows.look(at: row.tag, leaf: row.leaf, engine.keys)
        : try copy.look(at: row.tag, leaf: row.leaf)
      note(found, row.tag, isOurs: row.isOurs)
      if slice.isSpent { break }
    }
    return !rows.isEmpty
  }

  private mutating func note(_ found: RowLook, _ tag: ItemTag, isOurs: Bool) {
    var place = places[found.id] ?? Place()
    if found.kind == .purged {
      place.isPurged = true
    } else if isOurs {
      (place.ours, place.mine) = (tag, found.revision)
    } else {
      (place.theirs, place.other) = (tag, found.revision)
    }
    places[found.id] = place
  }

  /// Finds out what becomes of each item.
  mutating func claim(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    if !isClaiming {
      isClaiming = true
      let isOther = copy.isUnderOtherKey
      // Under one key the same revision may stand beside another history, or under another name.
      pending = places.filter { !isOther || !$0.value.isSame }.map(\.key)
    }
    while let id = pending.popLast() {
      guard let place = places[id] else { continue }
      claims[id] = try engine.claim(id, place.ours, place.theirs, difference, &copy)
      slice.countRow(0)
      if slice.isSpent { break }
    }
    if pending.isEmpty { order = claims.keys.sorted() }
    return !pending.isEmpty
  }

  /// Where a name may become free, those that gave way come to have a claim again.
  ///
  /// - Parameter bucket: The first that was not looked at.
  mutating func drawInDisplaced(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ bucket: inout UInt32,
    _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    let root = engine.trust.root
    let isFree =
      bucket > 0
      || claims.values.contains { known in
        known.ours != nil && (known.ours != known.claim.wanted || known.claim.state != .live)
      }
    guard isFree else { return false }
    let end = UInt32(1) << (6 * UInt32(root.depth))
    while bucket < end, !slice.isSpent {
      let bytes = try engine.rows.tree.leaves(
        ofBucket: bucket, under: root, in: &engine.rows.storage, engine.keys)
      let leaves = BucketLeaves(bytes.span)
      for place in 0..<leaves.count {
        slice.countLook()
        let tag = leaves.tag(place)
        guard let id = try engine.shownItem(of: tag, leaves.leaf(place)), claims[id] == nil else {
          continue
        }
        claims[id] = try engine.claim(id, tag, nil, difference, &copy)
      }
      bucket += 1
    }
    if bucket == end { order = claims.keys.sorted() }
    return bucket < end
  }
}

// MARK: - Names

extension MergeSurvey {
  /// Gives some items their names.
  ///
  /// - Returns: Whether there are more.
  mutating func name(
    _ names: inout PlacedNames, _ engine: inout UnlockedVault, _ copy: inout OtherCopy,
    _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    while !slice.isSpent {
      slice.countLook()
      let hasMore = try names.step { claim, attempt throws(VaultError) in
        slice.countRow(0)
        return try tag(claim.item, attempt, &engine, &copy)
      }
      guard hasMore else { return false }
    }
    return true
  }

  /// The tag of the name that an item gets at an attempt; nobody is asked for it twice.
  private mutating func tag(
    _ id: ItemID, _ attempt: Int, _ engine: inout UnlockedVault, _ copy: inout OtherCopy
  ) throws(VaultError) -> ItemTag {
    if let known = tried[id]?[attempt] { return known }
    guard let wanting = claims[id] else { throw .damaged(.item) }
    let tag = try engine.tag(of: wanting, attempt, difference, &copy)
    tried[id, default: [:]][attempt] = tag
    return tag
  }

  /// Has an item that is the same in both copies say what it wants, since another one wants its name.
  mutating func drawIn(
    _ id: ItemID, _ tag: ItemTag, _ engine: inout UnlockedVault, _ copy: inout OtherCopy
  ) throws(VaultError) {
    claims[id] = try engine.claim(id, tag, nil, difference, &copy)
    drawn.append(id)
  }

  /// Whether items were drawn in since this was asked last.
  mutating func takeNews() -> Bool {
    guard !drawn.isEmpty else { return false }
    drawn = []
    order = claims.keys.sorted()
    return true
  }
}
