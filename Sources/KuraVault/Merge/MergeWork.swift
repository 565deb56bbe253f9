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
    case comparing, looking, claiming, freeing, placing, listing, sealing, taking, writing, copying
    case done
  }

  /// Another engine of the vault, within its transaction.
  var engine: UnlockedVault
  var copy: OtherCopy
  var draft: Draft
  let isTrial: Bool
  private var part = Part.comparing
  var survey: MergeSurvey
  private var plan = MergePlan()
  private var attempts: [ItemID: Int] = [:]
  private var bucket: UInt32 = 0

  // What is written.
  private var next = 0
  private var written: [SealedRows] = []
  private var before: Set<ValueID> = []
  private var after: [ValueID: PieceCheck] = [:]
  private var values: [PieceCheck] = []

  fileprivate init(
    _ engine: consuming UnlockedVault, _ copy: consuming OtherCopy, _ draft: Draft, isTrial: Bool
  ) {
    survey = MergeSurvey(CopyDifference(engine.trust.root, copy))
    self.engine = engine
    self.copy = copy
    self.draft = draft
    self.isTrial = isTrial
  }

  /// What would be changed, once there is nothing more to do.
  public var report: MergeReport { plan.report }

  /// How many items are looked at, and how many of them are done, as far as that is known.
  public var progress: (done: UInt64, total: UInt64) {
    let total = UInt64(2 * survey.count + 2 * plan.items.count)
    let isPlanned = part == .sealing || part == .taking || part == .writing || part == .copying
    let done = isPlanned ? 2 * survey.count + next + (part == .sealing ? 0 : plan.items.count) : 0
    return (min(UInt64(done), total), max(1, total))
  }

  fileprivate var isNothing: Bool { isTrial || plan.isNothing }

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
    case .placing: try place(&slice)
    case .listing: try list(&slice)
    case .sealing: try seal(&slice)
    case .taking: try take(&slice)
    case .writing: try write(&slice)
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
    case .freeing: part = .placing
    case .placing: part = .listing
    case .listing:
      if !copy.isUnderOtherKey {
        try engine.planSettings(&plan, copy.keys.ring.ledger)
        try engine.planSlots(&plan, copy)
      }
      part = isNothing ? .done : .sealing
      if part == .sealing { try engine.claim(&draft) }
    case .sealing: part = .taking
    case .taking: part = .writing
    case .writing:
      try engine.orphan(before.subtracting(after.keys), &draft)
      values = after.filter { !before.contains($0.key) }.map(\.value)
      part = .copying
    case .copying:
      draft.leavesOldBodies = true
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
  /// Finds every item's place. An item that is the same in both copies is drawn in where another one wants its name.
  private mutating func place(_ slice: inout Slice) throws(VaultError) -> Bool {
    if next == 0 { attempts = try survey.attempts(&engine, &copy) }
    let ids = survey.order
    while next < ids.count, !slice.isSpent {
      let id = ids[next]
      next += 1
      slice.countLook()
      guard let attempt = attempts[id], let wanting = survey.claims[id] else { continue }
      let tag = try engine.tag(of: wanting, attempt, survey.difference, &copy)
      guard let other = try engine.occupant(of: tag), survey.claims[other] == nil else { continue }
      try survey.drawIn(other, tag, &engine, &copy)
    }
    guard next >= ids.count else { return true }
    next = 0
    // Those that were drawn in may want others' names in turn.
    return survey.takeNews()
  }

  /// Says of each item what is to be done.
  private mutating func list(_ slice: inout Slice) throws(VaultError) -> Bool {
    let ids = survey.order
    while next < ids.count, !slice.isSpent {
      let id = ids[next]
      next += 1
      slice.countLook()
      guard let known = survey.claims[id] else { continue }
      let attempt = attempts[id] ?? 0
      let isPurged = known.claim.state == .purged
      let tag =
        isPurged ? nil : try engine.tag(of: known, attempt, survey.difference, &copy)
      guard known.isNews || known.ours != tag else { continue }
      plan.items.append(
        MergePlan.Item(id: id, ours: known.ours, theirs: known.theirs, attempt: attempt))
      plan.report.count(known, isPurged: isPurged, isRenamed: attempt > 0)
    }
    return next < ids.count
  }
}

// MARK: - What is written

extension MergeWork {
  /// Makes the rows that items are to have.
  private mutating func seal(_ slice: inout Slice) throws(VaultError) -> Bool {
    while next < plan.items.count, !slice.isSpent {
      let item = plan.items[next]
      next += 1
      let mine = try engine.item(item.id, item.ours, survey.difference)
      for row in mine?.rows ?? [] {
        if let value = try row.valueID() { before.insert(value) }
      }
      let merge = try engine.merged(item.id, mine, item.theirs, survey.difference, &copy)
      let rows = try merge.sealed(item.attempt, by: engine.keys)
      try draft.count(rows.counts, insteadOf: mine?.counts ?? (0, 0))
      slice.countRow(rows.byteCount)
      written.append(rows)
    }
    return next < plan.items.count
  }

  /// Takes all rows away that change: one may get another's name.
  private mutating func take(_ slice: inout Slice) throws(VaultError) -> Bool {
    while next < plan.items.count, !slice.isSpent {
      if let tag = plan.items[next].ours { try engine.takeAway(tag, &draft) }
      slice.countRow(0)
      next += 1
    }
    return next < plan.items.count
  }

  private mutating func write(_ slice: inout Slice) throws(VaultError) -> Bool {
    while next < written.count, !slice.isSpent {
      let rows = written[next]
      written[next] = SealedRows()
      next += 1
      try engine.write(rows, &draft)
      after.merge(rows.values) { first, _ in first }
      slice.countRow(rows.byteCount)
    }
    return next < written.count
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
    let draft = try Draft(after: trust, by: writer, at: options.now())
    return MergeWork(engine, copy, draft, isTrial: isTrial)
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
    for value in merge.draft.orphaned { sweeper.add(value) }
    mustTruncate = true
    _ = consume merge
    // What is in the file now is what this engine goes on with.
    try reading { _ throws(VaultError) in }
    try clearWAL()
    return report
  }
}
