// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Finds out what is left out of items of which devices made something after they were taken out, and notes what that was.
final class LateChanges {
  /// Up to which change each of these devices counts.
  private let last: [DeviceID: UInt64]
  /// What comes again by the store.
  private let known: RevisionVector
  /// Whose changes were left out.
  private(set) var devices: Set<DeviceID> = []
  /// Whose changes had been followed by some of these, and are not here any more.
  private(set) var followed: Set<DeviceID> = []

  init(_ last: [DeviceID: UInt64], followedBy known: RevisionVector) {
    (self.last, self.known) = (last, known)
  }

  func isLate(_ entry: RevisionEntry) -> Bool {
    last[entry.device].map { entry.counter > $0 } ?? false
  }

  /// Whether something knows of a late change.
  func touches(_ vector: RevisionVector) -> Bool { vector.entries.contains(where: isLate) }

  /// An item without what is late; nil where nothing is, or where something else would be lost with it: what was followed
  /// and does not come again, or a content of which no row would be left, or what only its owner could open.
  func rest(of history: ItemHistory, _ item: ItemID) -> ItemHistory? {
    guard let rest = without(history, of: item) else { return nil }
    let kept = Set(rest.revisions.map(\.stamp.id))
    let late = history.revisions.filter { !kept.contains($0.stamp.id) }
    var here = rest.purged
    for revision in rest.revisions { here.formUnion(revision.lineage.vector) }
    let followed = late.flatMap(\.lineage.vector.entries).filter { !isLate($0) && !here.covers($0) }
    let isSealed =
      history.standing.protection == .protected && rest.standing.protection == .standard
    guard followed.allSatisfy(known.covers), rest.showsAll, !isSealed || rest.revisions.isEmpty
    else { return nil }
    devices.formUnion(late.map(\.stamp.entry.device))
    self.followed.formUnion(followed.map(\.device))
    return rest
  }

  /// The same of what is only about to be taken, where nothing else knows of what is late.
  func unordered(_ history: ItemHistory, of item: ItemID) -> ItemHistory? {
    guard let rest = without(history, of: item), rest.showsAll,
      !rest.revisions.contains(where: { touches($0.lineage.vector) })
    else { return nil }
    return rest
  }

  private func without(_ history: ItemHistory, of item: ItemID) -> ItemHistory? {
    let others = history.revisions.filter { !isLate($0.stamp.entry) }
    // What another one has built on it has answered for, and it stays in the history of that.
    let rest = history.revisions.filter { revision in
      let entry = revision.stamp.entry
      guard isLate(entry) else { return true }
      return revision.state != .purged && others.contains { $0.lineage.vector.covers(entry) }
    }
    guard rest.count < history.revisions.count else { return nil }
    let isPurgeLate = history.revisions.contains {
      $0.state == .purged && isLate($0.stamp.entry)
    }
    guard isPurgeLate else { return ItemHistory(rest, purged: history.purged) }
    var purged = RevisionVector()
    for revision in rest where revision.state == .purged {
      purged.formUnion(
        PurgeTrace(of: item, by: revision.lineage, revision.protection).covered)
    }
    return ItemHistory(rest, purged: purged)
  }

  /// What is known of purges, but for those that are late; nil for none.
  func rest(of trace: PurgeTrace?) -> PurgeTrace? {
    guard var trace, trace.purges.contains(where: { isLate($0.lineage.stamp.entry) }) else {
      return trace
    }
    trace.purges.removeAll { isLate($0.lineage.stamp.entry) }
    trace.covered = RevisionVector()
    for purge in trace.purges {
      trace.covered.formUnion(
        PurgeTrace(of: trace.item, by: purge.lineage, purge.protection).covered)
    }
    return trace.purges.isEmpty ? nil : trace
  }
}

extension ItemHistory {
  /// Whether every content that stands is in some row.
  fileprivate var showsAll: Bool {
    standing.fields.allSatisfy { field, standing in
      standing.contents.allSatisfy { content in
        revisions.contains { $0.hasInRow(content, of: field) }
      }
    }
  }
}

// MARK: - The vault

extension UnlockedVault {
  /// Leaves out what devices that are taken out made beyond the last change of theirs that counts. Of one that was taken out
  /// before all stays: somebody has answered for it since.
  ///
  /// - Parameter known: What the store has under the key that took them out.
  mutating func leaveOut(
    _ removed: [DeviceID: UInt64], followedBy known: RevisionVector
  ) throws(VaultError) {
    let table = try tableOfShared()
    let late = LateChanges(
      removed.filter { table[$0.key]?.removedAt == nil }, followedBy: known)
    try leaveOutSettings(late)
    let items = try items(touchedBy: late)
    guard !items.isEmpty else { return }
    var work = try beginMerge(OtherCopy(CopyPack(of: items, without: late)))
    while try work.step() {}
    _ = try finish(work)
    leftOut.formUnion(late.devices)
  }

  /// The items of which some row knows of a late change.
  private mutating func items(touchedBy late: LateChanges) throws(VaultError) -> [ItemID] {
    try reading { vault throws(VaultError) in
      var found: Set<ItemID> = []
      try vault.eachRow { facts, vectors in
        if vectors.contains(where: late.touches) { found.insert(facts.id) }
      }
      return found.sorted()
    }
  }

  private mutating func leaveOutSettings(_ late: LateChanges) throws(VaultError) {
    guard let ledger = keys.ring.ledger,
      ledger.settings.contains(where: { $0.sides.contains { late.isLate($0.lineage.stamp.entry) } })
    else { return }
    try writing { vault, draft throws(VaultError) in
      var next = ledger
      next.settings = ledger.settings.compactMap { setting in
        let rest = setting.sides.filter { !late.isLate($0.lineage.stamp.entry) }
        return rest.isEmpty ? nil : SettingSides(setting.key, sides: rest)
      }
      // What the rest comes to is in force, or what the store has, as it comes; the owner is here.
      vault.keys.ring.ledger = next
      for setting in ledger.settings {
        let isLate = setting.sides.contains { late.isLate($0.lineage.stamp.entry) }
        if isLate { try vault.restore(setting.key, next) }
      }
      try vault.storeRing(&draft)
      for setting in ledger.settings {
        for side in setting.sides where late.isLate(side.lineage.stamp.entry) {
          vault.leftOut.insert(side.lineage.stamp.entry.device)
          try vault.forget(
            Set(side.lineage.vector.entries.filter { !late.isLate($0) }.map(\.device)), &draft)
        }
      }
    }
  }

  /// Has a setting be what its sides come to, or as it was before anybody set it.
  private mutating func restore(_ key: UInt8, _ ledger: CopyLedger) throws(VaultError) {
    guard let setting = Setting(rawValue: key) else { return }
    let values = ledger.settings.first { $0.key == key }?.sides.map(\.value) ?? []
    guard let value = setting.strictest(of: values) else {
      return keys.ring.policy.reset(setting)
    }
    try fromFormat(.ring, keys.ring.policy.set(value, for: setting))
  }

  /// Notes that changes which were followed by what was left out have to come again.
  mutating func note(_ late: LateChanges, _ draft: inout Draft) throws(VaultError) {
    try forget(late.followed, &draft)
  }

  private mutating func forget(
    _ devices: Set<DeviceID>, _ draft: inout Draft
  ) throws(VaultError) {
    guard !devices.isEmpty else { return }
    try remember(&draft) { memory, table throws(VaultError) in
      for device in devices {
        guard var note = table[device] else { continue }
        note.complete = 0
        guard table.set(note) else { throw .damaged(.header) }
      }
      memory.mustWalk = true
      return []
    }
  }

  /// Takes away what is left of an item that was purged.
  mutating func removeTrace(of item: ItemID, _ draft: inout Draft) throws(VaultError) {
    let tag = try keys.tag(ofPurged: item)
    let path = try rows.tree.path(to: tag, under: draft.root, in: &rows.storage, keys)
    try removeRow(tag, path, &draft)
    rows.tree.keepStaged()
  }
}
