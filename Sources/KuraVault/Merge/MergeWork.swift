// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Brings another copy and a vault together, step by step.
///
/// It is one transaction on a connection of its own: until its last commit the vault is as it was, whatever happens in
/// between. Others read meanwhile; what they write finds the vault busy. Drop it before the vault is locked, which undoes
/// it.
public struct MergeWork: ~Copyable {
  /// Names what is done, one after the other; each goes over a list, from its end to its beginning.
  private enum Part {
    case comparing, looking, claiming, freeing, naming, placing, listing, writing, exchanging
    case copying, done
  }

  /// Another engine of the vault, within its transaction.
  var engine: UnlockedVault
  var copy: OtherCopy
  var draft: Draft
  let isTrial: Bool
  private var part = Part.comparing
  var survey: MergeSurvey
  private(set) var plan = MergePlan()
  private var names = PlacedNames([])
  private var bucket: UInt32 = 0

  // What is written.
  var next = 0
  /// Where rows stand that are to go, and have not gone yet.
  private(set) var occupied: Set<ItemTag> = []
  /// Rows of items that are new here, which are yet to be written.
  var sealed: [LoneRow] = []
  /// What waits for a place to become free: two items may get each other's names.
  private var waiting: [SealedRows] = []
  private var before: Set<ValueID> = []
  var after: [ValueID: PieceCheck] = [:]
  private var values: [PieceCheck] = []

  fileprivate init(
    _ engine: consuming UnlockedVault, _ copy: consuming OtherCopy, _ draft: Draft, isTrial: Bool
  ) throws(VaultError) {
    survey = MergeSurvey(try copy.difference(from: &engine))
    self.engine = engine
    self.copy = copy
    self.draft = draft
    self.isTrial = isTrial
  }

  /// What would be changed, once there is nothing more to do.
  public var report: MergeReport { plan.report }

  /// How many items are looked at, and how many of them are done, as far as that is known.
  public var progress: (done: UInt64, total: UInt64) {
    let (all, planned) = (survey.count, plan.items.count)
    let done =
      switch part {
      case .comparing, .looking: 0
      case .claiming: survey.claims.count
      case .freeing, .naming, .placing, .listing: all
      case .writing: all + next
      case .exchanging, .copying, .done: all + planned
      }
    // Nobody knows how much there is to write before all of it was looked at.
    let total = planned == 0 ? 2 * all : all + planned
    return (UInt64(min(done, total)), UInt64(max(1, total)))
  }

  fileprivate var isNothing: Bool { isTrial || (plan.isNothing && !copy.placesNames) }

  /// Does a few milliseconds of work.
  ///
  /// - Returns: Whether there is more to do before ``UnlockedVault/finish(_:)-(MergeWork)``.
  /// - Throws: ``VaultError/copyDamaged``; ``VaultError/damaged(_:)`` for what is not what the root says;
  ///   ``VaultError/noProtectedHalf`` where the copy's protected values cannot be opened;
  ///   ``VaultError/diskFull`` and others of the file. Drop it then.
  public mutating func step() throws(VaultError) -> Bool {
    var slice = Slice()
    while part != .done, !slice.isSpent {
      if try !work(&slice) { try goOn() }
    }
    return part != .done
  }

  /// Does some of the part at hand.
  ///
  /// - Returns: Whether there is more of it.
  private mutating func work(_ slice: inout Slice) throws(VaultError) -> Bool {
    switch part {
    case .comparing: try survey.compare(&engine, &copy, &slice)
    case .looking: try survey.look(&engine, &copy, &slice)
    case .claiming: try survey.claim(&engine, &copy, &slice)
    case .freeing: try survey.drawInDisplaced(&engine, &copy, &bucket, &slice)
    case .naming: try survey.name(&names, &engine, &copy, &slice)
    case .placing: try place(&slice)
    case .listing: try list(&slice)
    case .writing: try write(&slice)
    case .exchanging: try exchange(&slice)
    case .copying: try copyChunks(&slice)
    case .done: false
    }
  }

  /// Begins the next part.
  private mutating func goOn() throws(VaultError) {
    next = 0
    switch part {
    case .comparing: part = .looking
    case .looking: part = .claiming
    case .claiming: part = .freeing
    case .freeing: beginNaming()
    case .naming: part = .placing
    case .placing:
      // Those that were drawn in may want others' names in turn.
      if survey.takeNews() { beginNaming() } else { part = .listing }
    case .listing:
      if !copy.isUnderOtherKey, copy.late == nil {
        try engine.planSettings(&plan, copy.ledger)
        try engine.planSlots(&plan, copy)
      }
      // Each page of the file is read and written once.
      plan.items.sort { $0.place?.tag ?? .zero < $1.place?.tag ?? .zero }
      part = isNothing ? .done : .writing
      if part == .writing { try engine.claim(&draft) }
      occupied = Set(plan.items.compactMap(\.ours))
    case .writing: part = .exchanging
    case .exchanging:
      try settleTree()
      engine.rows.tree.release()
      try engine.orphan(before.subtracting(after.keys), &draft)
      values = after.filter { !before.contains($0.key) }.map(\.value)
      part = .copying
    case .copying:
      draft.leavesOldBodies = true
      // What a store has is known by where it stands there.
      if copy.file != nil { try engine.noteForeign(&draft) }
      if let late = copy.late { try engine.note(late, &draft) }
      if copy.placesNames { try engine.notePlacedNames(&draft) }
      if let slots = plan.slots { try engine.takeSlots(slots, &draft) }
      if let ledger = plan.ledger { try engine.takeSettings(ledger, &draft) }
      try engine.growTree(&draft)
      part = .done
    case .done: break
    }
  }
}

// MARK: - Where items are to stand

extension MergeWork {
  private mutating func beginNaming() {
    names = PlacedNames(survey.claims.values.map(\.claim))
    part = .naming
  }

  /// Finds every item's place. An item that is the same in both copies is drawn in where another one wants its name.
  private mutating func place(_ slice: inout Slice) throws(VaultError) -> Bool {
    let ids = survey.order
    while next < ids.count, !slice.isSpent {
      let id = ids[next]
      next += 1
      slice.countLook()
      guard let tag = names.places[id]?.tag, let other = try engine.occupant(of: tag),
        survey.claims[other] == nil
      else { continue }
      try survey.drawIn(other, tag, &engine, &copy)
    }
    return next < ids.count
  }

  /// Says of each item what is to be done.
  private mutating func list(_ slice: inout Slice) throws(VaultError) -> Bool {
    let ids = survey.order
    while next < ids.count, !slice.isSpent {
      let id = ids[next]
      next += 1
      slice.countLook()
      guard let known = survey.claims[id] else { continue }
      let place = names.places[id]
      guard known.isNews || known.ours != place?.tag else { continue }
      plan.items.append(
        MergePlan.Item(
          id: id, ours: known.ours, theirs: known.theirs, place: place,
          isLone: known.isLone && place?.attempt == 0))
      plan.report.count(
        known, isPurged: known.claim.state == .purged, isRenamed: place?.attempt ?? 0 > 0)
    }
    return next < ids.count
  }
}

// MARK: - What is written

extension MergeWork {
  /// Makes the rows that items are to have, and puts them in the place of those that they have, or keeps them until their
  /// place is free.
  private mutating func write(_ slice: inout Slice) throws(VaultError) -> Bool {
    while next < plan.items.count, !slice.isSpent {
      let lone = try takeLoneRows()
      guard lone.isEmpty else {
        try seal(lone, &slice)
        continue
      }
      let item = plan.items[next]
      next += 1
      // What was written just now is read by its root.
      engine.trust.see(draft.root)
      let mine = try engine.item(item.id, item.ours, survey.difference)
      for row in mine?.rows ?? [] {
        if let value = try row.valueID() { before.insert(value) }
      }
      let merge = try engine.merged(item.id, mine, item.theirs, survey.difference, &copy)
      let rows = try merge.sealed(item.place?.attempt ?? 0, by: engine.keys)
      try draft.count(rows.counts, insteadOf: mine?.counts ?? (0, 0))
      slice.countRow(rows.byteCount)
      if rows.trace == nil, mine?.trace != nil {
        try engine.removeTrace(of: item.id, &draft)
      }
      if let ours = item.ours {
        try engine.takeAway(ours, &draft)
        occupied.remove(ours)
      }
      if let tag = item.place?.tag, occupied.contains(tag) {
        waiting.append(rows)
      } else {
        try write(rows)
      }
    }
    guard next == plan.items.count else { return true }
    try seal([], &slice)
    return false
  }

  /// Writes the buckets that were changed.
  private mutating func settleTree() throws(VaultError) {
    draft.root.treeRoot = try engine.rows.settleTree(under: draft.root, engine.keys)
  }

  /// Writes the buckets that were changed where no more of them may be kept.
  mutating func makeRoom() throws(VaultError) {
    if engine.rows.tree.held?.isFull == true { try settleTree() }
  }

  private mutating func write(_ rows: SealedRows) throws(VaultError) {
    try makeRoom()
    try engine.write(rows, &draft)
    after.merge(rows.values) { first, _ in first }
  }

  private mutating func exchange(_ slice: inout Slice) throws(VaultError) -> Bool {
    while let rows = waiting.popLast() {
      try write(rows)
      slice.countRow(rows.byteCount)
      if slice.isSpent { break }
    }
    return !waiting.isEmpty
  }

  private mutating func copyChunks(_ slice: inout Slice) throws(VaultError) -> Bool {
    while let value = values.last, !slice.isSpent {
      try engine.takeChunk(value.next, of: value, from: &copy)
      value.next += 1
      slice.countRow(Manifest.chunkByteCount)
      if value.next == value.count { values.removeLast() }
    }
    return !values.isEmpty
  }
}

extension SealedRows {
  /// How much is written for it.
  fileprivate var byteCount: Int {
    (history + [current, trace].compactMap { $0 }).reduce(0) { $0 + $1.byteCount }
  }
}

// MARK: - Beginning and ending

extension UnlockedVault {
  /// Begins to bring what another copy of this vault has into this one. Nothing is changed before
  /// ``finish(_:)-(MergeWork)``.
  ///
  /// - Parameters:
  ///   - copy: The other one; it is only read.
  ///   - isTrial: Whether only to tell what would be changed.
  /// - Throws: ``VaultError/takesNewFormat`` for a vault of format 1; ``VaultError/busy``: the same call again;
  ///   those of the file.
  public mutating func beginMerge(
    _ copy: consuming OtherCopy, isTrial: Bool = false
  ) throws(VaultError) -> MergeWork {
    try reading { _ throws(VaultError) in }
    guard format > .first else { throw .takesNewFormat }
    let storage = try secondStorage(toWrite: !isTrial)
    let locked = LockedVault(
      storage: storage, place: place, identity: identity, options: options, header: header,
      slotRows: trust.slots, lastSlot: nil)
    var engine = UnlockedVault(
      locked, keys: try keys.copy(ring: trust.sealedRing, of: keys.format), trust: trust,
      writer: writer, slot: unlockSlot)
    (engine.isProved, engine.provedDevice) = (isProved, provedDevice)
    engine.isWriterNoted = isWriterNoted
    engine.rows.tree.hold(atMost: options.mostHeld)
    let draft = try Draft(after: trust, by: writer, at: options.now())
    return try MergeWork(engine, copy, draft, isTrial: isTrial)
  }

  /// Commits a merge that has nothing left to do.
  ///
  /// - Throws: Errors of the file, after which the vault is as it was.
  public mutating func finish(_ merge: consuming MergeWork) throws(VaultError) -> MergeReport {
    let report = merge.report
    if merge.isNothing { return report }
    try checkInPlace()
    try merge.engine.commit(merge.draft)
    (isProved, provedDevice) = (merge.engine.isProved, merge.engine.provedDevice)
    isWriterNoted = merge.engine.isWriterNoted
    for value in merge.draft.orphaned { sweeper.add(value) }
    mustTruncate = true
    _ = consume merge
    // What is in the file now is what this engine goes on with.
    try reading { _ throws(VaultError) in }
    try clearWAL()
    return report
  }
}
