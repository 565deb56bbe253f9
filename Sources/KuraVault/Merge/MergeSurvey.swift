// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Finds out which items two copies do not agree on, and what each of them comes to, but for its place.
struct MergeSurvey {
  private(set) var difference: CopyDifference
  /// Rows of either copy that are yet to be looked at, the next one last.
  private var rows: [(tag: ItemTag, isOurs: Bool)] = []
  private var isLooking = false
  private var places: [ItemID: Place] = [:]
  /// Whose the rows are, in the order in which they were found; then those yet to be looked at, the next one last.
  private var pending: [ItemID] = []
  private var isClaiming = false
  private(set) var claims: [ItemID: MergeClaim] = [:]
  /// The ids of the claims, as their rows were found: so they are written from one end of the file to the other.
  private(set) var order: [ItemID] = []
  private var hasNews = false
  /// The tags of names that items may have beside the one that they want.
  private var tried: [Attempt: ItemTag] = [:]

  private struct Attempt: Hashable {
    let item: ItemID
    let number: Int
  }

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
      &engine.rows, under: engine.trust.root, engine.keys, copy, &slice)
  }

  /// Finds out whose the rows are that are not the same.
  mutating func look(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    if !isLooking {
      isLooking = true
      rows = difference.tags
    }
    while let row = rows.popLast() {
      slice.countLook()
      guard let leaf = (row.isOurs ? difference.ours : difference.theirs)[row.tag] else { continue }
      let found =
        row.isOurs
        ? try engine.rows.look(at: row.tag, leaf: leaf, engine.keys)
        : try copy.look(at: row.tag, leaf: leaf)
      note(found, row.tag, isOurs: row.isOurs)
      if slice.isSpent { break }
    }
    return !rows.isEmpty
  }

  private mutating func note(_ found: RowLook, _ tag: ItemTag, isOurs: Bool) {
    if places[found.id] == nil { pending.append(found.id) }
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
      pending = pending.reversed().filter { !isOther || places[$0]?.isSame != true }
    }
    while let id = pending.popLast() {
      guard let place = places[id] else { continue }
      let claim = try engine.claim(id, place.ours, place.theirs, difference, &copy)
      add(id, claim)
      if claim.isLone { slice.countLook(claim.byteCount) } else { slice.countRow(0) }
      if slice.isSpent { break }
    }
    if pending.isEmpty { places = [:] }
    return !pending.isEmpty
  }

  private mutating func add(_ id: ItemID, _ claim: MergeClaim) {
    claims[id] = claim
    order.append(id)
  }

  /// In how many buckets one look at the file asks for items that have a history.
  private static let bucketsAtOnce: UInt32 = 16

  /// Where a name may become free, those that gave way come to have a claim again.
  ///
  /// - Parameter bucket: The first that was not looked at.
  mutating func drawInDisplaced(
    _ engine: inout UnlockedVault, _ copy: inout OtherCopy, _ bucket: inout UInt32,
    _ slice: inout Slice
  ) throws(VaultError) -> Bool {
    let root = engine.trust.root
    let isFree =
      bucket > 0 || copy.placesNames
      || claims.values.contains { known in
        known.ours != nil
          && (known.ours != known.claim.wanted || known.claim.state != .live || known.isOpened)
      }
    guard isFree else { return false }
    let end = UInt32(1) << (6 * UInt32(root.depth))
    while bucket < end, !slice.isSpent {
      let next = min(end, bucket + Self.bucketsAtOnce)
      slice.countRow(0)
      for tag in try engine.keptTags(bucket..<next) {
        slice.countLook()
        guard let id = try engine.shownItem(of: tag), claims[id] == nil else { continue }
        add(id, try engine.claim(id, tag, nil, difference, &copy))
      }
      bucket = next
    }
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
    let key = Attempt(item: id, number: attempt)
    if let known = tried[key] { return known }
    guard let wanting = claims[id] else { throw .damaged(.item) }
    let tag = try engine.tag(of: wanting, attempt, difference, &copy)
    tried[key] = tag
    return tag
  }

  /// Has an item that is the same in both copies say what it wants, since another one wants its name.
  mutating func drawIn(
    _ id: ItemID, _ tag: ItemTag, _ engine: inout UnlockedVault, _ copy: inout OtherCopy
  ) throws(VaultError) {
    add(id, try engine.claim(id, tag, nil, difference, &copy))
    hasNews = true
  }

  /// Whether items were drawn in since this was asked last.
  mutating func takeNews() -> Bool {
    defer { hasNews = false }
    return hasNews
  }
}
