// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Says what a merge is to do with the slots.
struct SlotMerge {
  let rows: [SlotRow]
  let notes: SlotNotes
  let added: [SlotRow]
  /// The numbers of those that go.
  let removed: [UInt8]
}

// MARK: - Who changed the slots

extension UnlockedVault {
  /// Notes a change of the slots, for copies of the vault; a slot of this machine alone is nobody else's.
  ///
  /// - Parameters:
  ///   - after: The slots as they are to be.
  ///   - waits: Whether nothing is changed where it is still to come which change made which slot.
  /// - Throws: ``VaultError/slotsAwaited``; ``VaultError/slotsFull(limit:)``.
  mutating func noteTable(
    _ after: [SlotRow], waits: Bool, _ draft: inout Draft
  ) throws(VaultError) {
    guard var ledger = keys.ring.ledger else { return }
    let isSparing = try sparesStore()
    let old = try travelling(trust.slots, isSparing)
    let new = try travelling(after, isSparing)
    let gone = Set(old.map(\.id)).subtracting(new.map(\.id))
    let fresh = new.filter { slot in !old.contains { $0.id == slot.id } }
    guard !gone.isEmpty || !fresh.isEmpty else { return }
    if waits { try checkSlotsAreKnown() }
    let sides = try slotSides(ledger)
    try noteSlots(&draft)
    guard let lineage = try draft.nextLineage(after: sides.map(\.lineage), of: .zero) else {
      return
    }
    // What stands elsewhere, and found no room here, stands on; what counts for nothing here may open a copy from before.
    let passed = isSparing ? sides.standing().filter { $0.kind != .recoveryKey } : []
    let slots =
      sides.standing(sparing: isSparing).filter { !gone.contains($0.id) } + passed
      + fresh.map { SlotTableSide.Slot($0.id, $0.kind, made: lineage.stamp.entry) }
    guard slots.count <= SlotTableSide.mostSlots else {
      throw .slotsFull(limit: SlotTableSide.mostSlots)
    }
    ledger.slots = [SlotTableSide(lineage, slots: slots)]
    ledger.waiting.removeAll { slot in gone.contains { $0 == slot.row.id } }
    keys.ring.ledger = ledger
  }

  /// Checks that it is known which change made each slot that other copies have: without that nobody could tell here
  /// that one had ended, and what ended elsewhere would come back.
  ///
  /// - Throws: ``VaultError/slotsAwaited``.
  public mutating func checkSlotsAreKnown() throws(VaultError) {
    if try remoteMemory()?.awaitsSlots == true { throw .slotsAwaited }
  }

  /// Makes the slots as they are a change of this copy where nobody has changed them yet, so that other copies get them
  /// as a table.
  mutating func settleSlotTable() throws(VaultError) {
    guard keys.ring.ledger?.slots.isEmpty == true, try remoteMemory()?.awaitsSlots == false
    else { return }
    try writing { vault, draft throws(VaultError) in
      guard var ledger = vault.keys.ring.ledger else { return }
      let sides = try vault.slotSides(ledger)
      let standing = sides.standing()
      guard ledger.slots.isEmpty, !standing.isEmpty,
        let lineage = try draft.nextLineage(after: sides.map(\.lineage), of: .zero)
      else { return }
      ledger.slots = [SlotTableSide(lineage, slots: standing)]
      vault.keys.ring.ledger = ledger
      try vault.storeRing(&draft)
    }
  }

  /// The changes of the slots that nothing followed.
  private func slotSides(_ ledger: CopyLedger) throws(VaultError) -> [SlotTableSide] {
    guard ledger.slots.isEmpty else { return ledger.slots }
    let slots = try travelling(trust.slots, false)
    return [try fromFormat(.ring, SlotTableSide(old: slots))]
  }

  /// The slots that mean something in every copy, those that are out of use too.
  ///
  /// - Parameter isSparing: Whether those of recovery keys alone do.
  private func travelling(
    _ rows: [SlotRow], _ isSparing: Bool
  ) throws(VaultError) -> [(id: SlotID, kind: SlotKind)] {
    var slots: [(id: SlotID, kind: SlotKind)] = []
    for row in rows {
      guard let id = row.id, let kind = try row.inUse(keys).kind else { continue }
      switch kind {
      case .passcode, .keyFile, .fido2: if !isSparing { slots.append((id, kind)) }
      case .recoveryKey: slots.append((id, kind))
      case .local, .tpm2, .disabled, .later: continue
      }
    }
    return slots
  }
}

extension SlotRow {
  /// What is noted of a slot that came by a store, which has no notes: whoever made one that costs little was asked.
  func noteOfStore() throws(VaultError) -> SlotNote? {
    let header = try fromFormat(.slot, SlotHeader(decoding: header.span))
    guard header.kdf.map(KDFLimits.isWeak) == true else { return nil }
    return try fromFormat(
      .slot, SlotNote(slot: header.id, created: 0, isWeakCostMeant: true))
  }
}

extension WaitingSlot {
  /// As it would stand in the file, but for its number.
  fileprivate var row: SlotRow {
    SlotRow(number: 0, header: header, key: key, protected: protected)
  }
}

// MARK: - Within a merge

extension UnlockedVault {
  /// Looks at what another copy says of the slots. What stood there when it was taken over, and is not known here,
  /// does not come: nobody can tell whether it was ended here before.
  mutating func planSlots(_ plan: inout MergePlan, _ copy: borrowing OtherCopy) throws(VaultError) {
    guard var ledger = plan.ledger ?? keys.ring.ledger, let other = copy.ledger,
      !other.slots.isEmpty
    else { return }
    let isSparing = try sparesStore()
    // Slots of a header object are nobody's change.
    let mine = try openedSharing()?.remote?.awaitsSlots == true ? [] : slotSides(ledger)
    let sides = mine.taking(other.slots).sorted { $0.lineage.stamp.id < $1.lineage.stamp.id }
    guard sides != mine else { return noteSlots(of: copy, &plan) }
    guard sides.count <= CopyLedger.mostSides else { throw .tooManySides }
    ledger.slots = sides
    let standing = sides.standing(sparing: isSparing)
    let merge = try slots(standing, knowing: mine, &ledger, other, copy, isSparing)
    plan.ledger = ledger
    plan.slots = merge
    plan.report.slots = UInt64(merge.added.count + merge.removed.count)
    plan.report.waitingSlots = UInt64(ledger.waiting.count)
    plan.report.keptSlots = sides.leavesNoWayIn(sparing: isSparing)
  }

  /// What is noted of the slots of a table that others get.
  mutating func notes(of table: [SlotTableSide]) throws(VaultError) -> SlotNotes {
    let standing = table.standing(sparing: try sparesStore())
    return keys.ring.notes.travelling(of: Set(standing.map(\.id)))
  }

  /// Takes what another copy notes of slots that stand here and of which nothing is known, where the table is the same.
  private func noteSlots(of copy: borrowing OtherCopy, _ plan: inout MergePlan) {
    var notes = plan.slots?.notes ?? keys.ring.notes
    let before = notes
    let here = Set((plan.slots?.rows ?? trust.slots).compactMap(\.id))
    notes.fill(from: copy.notes.travelling(of: here), of: here)
    guard notes != before else { return }
    plan.slots = SlotMerge(
      rows: plan.slots?.rows ?? trust.slots, notes: notes, added: plan.slots?.added ?? [],
      removed: plan.slots?.removed ?? [])
  }

  private func slots(
    _ standing: [SlotTableSide.Slot], knowing mine: [SlotTableSide], _ ledger: inout CopyLedger,
    _ other: CopyLedger, _ copy: borrowing OtherCopy, _ isSparing: Bool
  ) throws(VaultError) -> SlotMerge {
    let own = Set(try travelling(trust.slots, isSparing).map(\.id))
    let wanted = Set(standing.map(\.id))
    var rows = trust.slots.filter { row in
      guard let id = row.id, own.contains(id) else { return true }
      return wanted.contains(id)
    }
    var (notes, added) = (keys.ring.notes, [SlotRow]())
    let offered = copy.slots + other.waiting.map(\.row) + ledger.waiting.map(\.row)
    ledger.waiting = []
    for slot in standing where !own.contains(slot.id) {
      let isKnown = mine.contains { $0.lineage.vector.covers(slot.made) }
      let isOld = try fromFormat(.ring, slot.isOld())
      guard isKnown || !isOld || mine.isEmpty,
        let found = offered.first(where: { $0.id == slot.id })
      else { continue }
      guard let row = Self.place(found, slot.kind, beside: rows) else {
        if ledger.waiting.count < WaitingSlot.most {
          ledger.waiting.append(
            WaitingSlot(header: found.header, key: found.key, protected: found.protected))
        }
        continue
      }
      rows.insert(row, at: rows.firstIndex { $0.number > row.number } ?? rows.endIndex)
      added.append(row)
      var note = copy.notes[slot.id]
      if note == nil, copy.file == nil { note = try row.noteOfStore() }
      if let note { notes.set(note) }
    }
    let here = wanted.intersection(rows.compactMap(\.id))
    notes.fill(from: copy.notes.travelling(of: here), of: here)
    // A way in for a person has to be left, whatever the copies say, and one that the store gets.
    let isLost = isSparing && trust.slots.hasRecoveryKey && !rows.hasRecoveryKey
    if isLost || !SlotSummary.list(rows).contains(where: \.kind.isForPeople) {
      return SlotMerge(rows: trust.slots, notes: keys.ring.notes, added: [], removed: [])
    }
    let numbers = Set(rows.map(\.number)).subtracting(added.map(\.number))
    notes.keep(only: rows.compactMap(\.id))
    return SlotMerge(
      rows: rows, notes: notes, added: added,
      removed: trust.slots.map(\.number).filter { !numbers.contains($0) })
  }

  /// A slot at the first number that is free; nil where there is no room.
  private static func place(
    _ slot: SlotRow, _ kind: SlotKind, beside rows: [SlotRow]
  ) -> SlotRow? {
    let summaries = SlotSummary.list(rows)
    let isFull =
      kind == .passcode && !slot.isDisabled
      && summaries.count { $0.kdf != nil } >= KDFLimits.mostArgon2Slots
    let taken = Set(rows.map(\.number))
    guard !isFull,
      let number = (0..<UInt8(KDFLimits.mostSlots)).first(where: { !taken.contains($0) })
    else { return nil }
    return SlotRow(
      number: number, header: slot.header, key: slot.key, protected: slot.protected)
  }

  /// Writes what a merge found of the slots; the ring is written with it.
  mutating func takeSlots(_ merge: SlotMerge, _ draft: inout Draft) throws(VaultError) {
    try noteSlots(&draft)
    do {
      for number in merge.removed { try rows.storage.deleteSlot(number) }
      for row in merge.added { try rows.storage.storeSlot(row) }
    } catch { throw VaultError(error) }
    draft.slots = merge.rows
    keys.ring.notes = merge.notes
    mustTruncate = true
  }
}
