// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Replaces the passcode, the recovery key, or both, in one transaction.
  ///
  /// The new passcode takes the slot that `fresh` opened, or the first passcode slot when `fresh` is a
  /// recovery key; the other slots that ``UnlockAttempt/noteOthers(openedBy:_:)`` found end. The new recovery key takes
  /// the place of the old one, or a free slot. What stood there is overwritten in the file, and the WAL is cleared.
  ///
  /// A copy of the file from before still opens with the old passcode: this is no revocation.
  ///
  /// Who forgot the passcode does not wait for what other copies have of the slots: some that they ended may come back.
  ///
  /// - Parameters:
  ///   - fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now for the current passcode or the
  ///     recovery key.
  ///   - passcode: The new passcode's slot; nil to keep the old one.
  ///   - recovery: The new recovery key's slot; nil to keep the old one.
  /// - Throws: ``VaultError/credentialStale`` when `fresh` belongs to another state of the vault, or
  ///   to a credential that cannot authorise this; ``VaultError/slotsAwaited``; ``VaultError/busy``: the same call again.
  public mutating func changeSlots(
    authorizedBy fresh: borrowing VaultKey, passcode: borrowing PreparedSlot?,
    recovery: borrowing PreparedSlot?
  ) throws(VaultError) {
    let isForgotten =
      switch passcode {
      case .some: fresh.credential == .recoveryKey
      case .none: false
      }
    try changeSlots(fresh, waits: !isForgotten) { plan, wrap, _ throws(VaultError) in
      switch passcode {
      case .some(let slot):
        try plan.put(slot, at: plan.passcodePlace(fresh), wrap, fresh)
        for row in fresh.others where plan.rows.contains(row) { _ = try plan.remove(row.number) }
      case .none: break
      }
      switch recovery {
      case .some(let slot): try plan.put(slot, at: plan.place(of: .recoveryKey), wrap, fresh)
      case .none: break
      }
    }
  }

  /// Adds a way to open the vault.
  ///
  /// The secret of a `local` slot is in its file before the slot is in the vault.
  ///
  /// - Parameters:
  ///   - slot: The new one.
  ///   - fresh: As for ``changeSlots(authorizedBy:passcode:recovery:)``.
  ///   - replacing: Whether a recovery key that is there ends, and the new one takes its place.
  ///   - manner: What this machine is to do with it by itself.
  /// - Returns: The slot's number.
  /// - Throws: ``VaultError/slotsFull(limit:)``; ``VaultError/recoveryKeyExists``;
  ///   ``VaultError/credentialTaken(_:)`` of a second code for one TPM;
  ///   ``VaultError/credentialStale``; ``VaultError/slotsAwaited``; ``VaultError/busy``: the same call again.
  @discardableResult
  public mutating func addSlot(
    _ slot: borrowing PreparedSlot, authorizedBy fresh: borrowing VaultKey,
    replacing: Bool = false, manner: SlotManner = []
  ) throws(VaultError) -> UInt8 {
    try keepingDeviceSecret(of: slot, manner) { vault throws(VaultError) in
      try vault.put(slot, authorizedBy: fresh, replacing)
    }
  }

  /// Does what puts a slot into the vault, with the secret of a `local` slot in its file before; it goes
  /// again where that fails.
  mutating func keepingDeviceSecret<Result>(
    of slot: borrowing PreparedSlot, _ manner: SlotManner,
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    let id = slot.header.id
    if manner.contains(.tried), slot.kind == .keyFile {
      let places = KeyFilePlaces(stateDirectory: options.stateDirectory)
      try places.remember(slot.keyFilePlace(id))
      do throws(VaultError) { return try body(&self) } catch {
        places.forget(id)
        throw error
      }
    }
    switch slot.deviceSecret {
    case .some(let secret):
      let note = try devices.beginAdding(id, to: self.id)
      do throws(VaultError) {
        try devices.store(secret, of: id)
        // The slot must not be there before what destroys its secret is.
        try devices.setEraseLimit(policy[.eraseLocalAfter], of: id)
        if manner.contains(.submitted) { try devices.setSubmitLength(slot.typedCount, of: id) }
        let result = try body(&self)
        note.end()
        return result
      } catch {
        devices.remove(id)
        note.end()
        throw error
      }
    case .none: return try body(&self)
    }
  }

  private mutating func put(
    _ slot: borrowing PreparedSlot, authorizedBy fresh: borrowing VaultKey, _ replacing: Bool
  ) throws(VaultError) -> UInt8 {
    try changeSlots(fresh) { plan, wrap, _ throws(VaultError) in
      let number = try plan.newPlace(for: slot.header, replacing: replacing)
      try plan.put(slot, at: number, wrap, fresh)
      return number
    }
  }

  /// Removes a way to open the vault; the secret of a `local` slot goes with it.
  ///
  /// A copy of the file from before still opens by it: this is no revocation.
  ///
  /// - Parameters:
  ///   - number: Where the slot stands.
  ///   - fresh: As for ``changeSlots(authorizedBy:passcode:recovery:)``.
  /// - Throws: ``VaultError/slotNotFound(_:)``; ``VaultError/lastSlot`` when neither a passcode nor a
  ///   recovery key would be left; ``VaultError/recoveryKeyNeeded`` of the only one that a store gets;
  ///   ``VaultError/credentialStale``; ``VaultError/slotsAwaited``; ``VaultError/busy``.
  public mutating func removeSlot(
    _ number: UInt8, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) {
    let id = try changeSlots(fresh) { plan, _, _ throws(VaultError) in try plan.remove(number) }
    DeviceSecrets(stateDirectory: options.stateDirectory).remove(id)
    KeyFilePlaces(stateDirectory: options.stateDirectory).forget(id)
  }

  /// Runs a change of the slots as one transaction, after which no old byte of them is in any file.
  ///
  /// - Parameter isOwnCode: Whether a code puts another in its own place, which takes no more than the code
  ///   opens.
  mutating func changeSlots<Result>(
    _ fresh: borrowing VaultKey, isOwnCode: Bool = false, waits: Bool = true,
    _ body: (inout SlotPlan, borrowing SlotWrap, borrowing Keyring) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    let isProtected = !isOwnCode || fresh.opensProtected
    let kept = keys.ring.notes
    var isCommitted = false
    defer { if !isCommitted { keys.ring.notes = kept } }
    let result = try writing { vault, draft throws(VaultError) in
      guard vault.trust.slots.contains(fresh.row) else { throw .credentialStale }
      let half = isProtected ? try fresh.protectedHalf(of: vault) : nil
      var plan = SlotPlan(vault.trust.slots, vault.keys.ring.notes)
      let wrap = SlotWrap(half: half, vault: vault.id, now: draft.root.time)
      let result = try body(&plan, wrap, vault.keys)
      try vault.store(plan, waits: waits, &draft)
      return result
    }
    isCommitted = true
    mustTruncate = true
    try clearWAL()
    return result
  }

  private mutating func store(
    _ plan: SlotPlan, waits: Bool, _ draft: inout Draft
  ) throws(VaultError) {
    try checkStore(of: plan.rows, after: trust.slots)
    do {
      for number in plan.removed { try rows.storage.deleteSlot(number) }
      for row in plan.changed { try rows.storage.storeSlot(row) }
    } catch { throw VaultError(error) }
    try noteTable(plan.rows, waits: waits, &draft)
    draft.slots = plan.rows
    keys.ring.notes = plan.notes
    try storeRing(&draft)
  }
}

/// Carries what every new slot of a change is sealed with.
struct SlotWrap: ~Copyable {
  /// The protected pair's secret half; nil where no slot gets it.
  let half: SecretBytes?
  let vault: VaultID
  let now: UInt64
}

/// Plans the slots as they are to be.
struct SlotPlan {
  private(set) var rows: [SlotRow]
  private(set) var notes: SlotNotes
  private(set) var changed: [SlotRow] = []
  private(set) var removed: [UInt8] = []

  init(_ rows: [SlotRow], _ notes: SlotNotes) {
    self.rows = rows
    self.notes = notes
  }

  private var summaries: [SlotSummary] { SlotSummary.list(rows) }

  /// Where the new passcode goes.
  func passcodePlace(_ fresh: borrowing VaultKey) throws(VaultError) -> UInt8 {
    if fresh.credential == .passcode { return fresh.slot }
    return try place(of: .passcode)
  }

  /// The first slot of a kind, or a free one.
  func place(of kind: SlotKind) throws(VaultError) -> UInt8 {
    if let slot = summaries.first(where: { $0.kind == kind }) { return slot.number }
    return try freePlace(for: kind)
  }

  /// Where another slot goes; there is one recovery key at most.
  func newPlace(for header: SlotHeader, replacing: Bool) throws(VaultError) -> UInt8 {
    let kind = header.kind
    try checkChip(of: header)
    if kind == .recoveryKey, summaries.contains(where: { $0.kind == kind }) {
      guard replacing else { throw .recoveryKeyExists }
      return try place(of: kind)
    }
    return try freePlace(for: kind)
  }

  private func freePlace(for kind: SlotKind) throws(VaultError) -> UInt8 {
    try checkCost(of: kind)
    let taken = Set(rows.map(\.number))
    guard let number = (0..<UInt8(KDFLimits.mostSlots)).first(where: { !taken.contains($0) })
    else { throw .slotsFull(limit: KDFLimits.mostSlots) }
    return number
  }

  private func checkCost(of kind: SlotKind) throws(VaultError) {
    let isCostly = kind == .passcode || kind == .local || kind == .tpm2
    guard !isCostly || summaries.count(where: { $0.kdf != nil }) < KDFLimits.mostArgon2Slots else {
      throw .slotsFull(limit: KDFLimits.mostArgon2Slots)
    }
  }

  /// A TPM has one code: it would count that of one slot as a wrong one of the other, which is tried first.
  private func checkChip(of header: SlotHeader) throws(VaultError) {
    guard header.kdf != nil, let object = header.chip else { return }
    for row in rows {
      guard let other = try? SlotHeader(decoding: row.header.span), other.kdf != nil,
        other.chip?.storageKey == object.storageKey
      else { continue }
      throw .credentialTaken(row.number)
    }
  }

  /// Seals a slot into its place.
  mutating func put(
    _ slot: borrowing PreparedSlot, at number: UInt8, _ wrap: borrowing SlotWrap,
    _ fresh: borrowing VaultKey
  ) throws(VaultError) {
    // The label is the owner's name for the way in, and stays with it.
    let kept = number == fresh.slot ? fresh.payload.label : label(of: number)
    let label = slot.naming.label.isEmpty ? kept : slot.naming.label
    notes.set(try slot.note(created: wrap.now, label: label))
    let payload = try SlotPayload.of(fresh.payload.vaultKey, created: wrap.now, label: label)
    let row: SlotRow
    switch wrap.half {
    case .some(let half):
      row = try slot.row(number, holding: payload, protected: half, vault: wrap.vault)
    case .none:
      guard !slot.holdsProtectedHalf else { throw .credentialStale }
      row = try slot.row(number, holding: payload, vault: wrap.vault)
    }
    replace(row)
    // Machines that have added one each have several.
    if slot.header.kind == .recoveryKey { try removeOthers(of: .recoveryKey, but: number) }
    notes.keep(only: ids)
  }

  private mutating func removeOthers(of kind: SlotKind, but kept: UInt8) throws(VaultError) {
    for slot in summaries where slot.kind == kind && slot.number != kept {
      _ = try remove(slot.number)
    }
  }

  private mutating func replace(_ row: SlotRow) {
    rows.removeAll { $0.number == row.number }
    rows.insert(row, at: rows.firstIndex { $0.number > row.number } ?? rows.endIndex)
    changed.append(row)
  }

  /// Takes a slot out.
  ///
  /// - Returns: Its id.
  mutating func remove(_ number: UInt8) throws(VaultError) -> SlotID {
    let id = try row(number).id
    rows.removeAll { $0.number == number }
    try checkPeople()
    removed.append(number)
    notes.keep(only: ids)
    return id
  }

  /// Puts a slot out of use; one that is stays so.
  mutating func disable(_ number: UInt8, _ keys: borrowing Keyring) throws(VaultError) {
    let (row, id) = try row(number)
    guard !row.isDisabled else { return }
    replace(try row.disabled(id, keys))
    try checkPeople()
  }

  /// Puts a slot back into use; one that is stays so.
  mutating func enable(_ number: UInt8, _ keys: borrowing Keyring) throws(VaultError) {
    let row = try row(number).row
    guard row.isDisabled else { return }
    let back = try row.inUse(keys)
    let header = try fromFormat(.slot, SlotHeader(decoding: back.header.span))
    let kind = header.kind
    try checkChip(of: header)
    if kind == .recoveryKey, summaries.contains(where: { $0.kind == kind }) {
      throw .recoveryKeyExists
    }
    try checkCost(of: kind)
    replace(back)
  }

  private func row(_ number: UInt8) throws(VaultError) -> (row: SlotRow, id: SlotID) {
    guard let row = rows.first(where: { $0.number == number }), let id = row.id else {
      throw .slotNotFound(number)
    }
    return (row, id)
  }

  /// A way in for a person has to be left.
  private func checkPeople() throws(VaultError) {
    guard summaries.contains(where: \.kind.isForPeople) else { throw .lastSlot }
  }

  private var ids: [SlotID] { rows.compactMap(\.id) }

  private func label(of number: UInt8) -> [UInt8] {
    guard let id = rows.first(where: { $0.number == number })?.id else { return [] }
    return notes[id]?.label ?? []
  }
}

extension SlotRow {
  /// The slot's id; nil where the header cannot be read.
  var id: SlotID? { (try? SlotHeader(decoding: header.span))?.id }
}

extension SlotKind {
  /// Whether a person opens it by what they know or wrote down, on any machine.
  var isForPeople: Bool { self == .passcode || self == .recoveryKey }
}
