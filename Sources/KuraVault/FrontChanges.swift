// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Changes a setting.
  ///
  /// - Throws: ``VaultError/policyInvalid(_:)`` when the value is out of its range.
  public mutating func setPolicy(_ key: PolicyKey, to value: UInt64) throws(VaultError) {
    var kept = keys.ring.policy
    defer { keys.ring.policy = kept }
    let changed = try writing { vault, draft throws(VaultError) in
      // Another engine may have changed it since: that is where this change begins.
      kept = vault.policy
      var policy = kept
      do { try policy.set(value, for: key) } catch { throw VaultError(error, about: .ring) }
      vault.keys.ring.policy = policy
      try vault.storeRing(&draft)
      return policy
    }
    kept = changed
  }

  /// Seals and writes the ring as it is now.
  private mutating func storeRing(_ draft: inout Draft) throws(VaultError) {
    let sealed = try keys.sealedRing()
    do { try rows.storage.storePart(.ring, sealed.span) } catch { throw VaultError(error) }
    draft.sealedRing = sealed
    try digestFront(&draft)
  }

  /// Gives the root the digest of what stands in front of the items once the draft is committed.
  private func digestFront(_ draft: inout Draft) throws(VaultError) {
    draft.root.headerDigest = try keys.headerDigest(
      header: trust.header, ring: draft.sealedRing ?? trust.sealedRing,
      slots: draft.slots ?? trust.slots)
  }
}

// MARK: - Slots

extension UnlockedVault {
  /// Replaces the passcode, the recovery key, or both, in one transaction.
  ///
  /// The new passcode takes the slot that `fresh` opened, or the first passcode slot when `fresh` is a
  /// recovery key. The new recovery key takes the place of the old one, or a free slot. What stood there
  /// is overwritten in the file, and the journal is cleared.
  ///
  /// A copy of the file from before still opens with the old passcode: this is no revocation.
  ///
  /// - Parameters:
  ///   - fresh: What ``UnlockAttempt/open(_:secret:)`` gave just now for the current passcode or the
  ///     recovery key.
  ///   - passcode: The new passcode's slot; nil to keep the old one.
  ///   - recovery: The new recovery key's slot; nil to keep the old one.
  /// - Throws: ``VaultError/credentialStale`` when `fresh` belongs to another state of the vault, or
  ///   to a credential that cannot authorise this; ``VaultError/busy``: the same call again.
  public mutating func changeSlots(
    authorizedBy fresh: borrowing VaultKey, passcode: borrowing PreparedSlot?,
    recovery: borrowing PreparedSlot?
  ) throws(VaultError) {
    let half = try fresh.protectedHalf(vault: id)
    let pair = ProtectedPair(secretHalf: half)
    try writing { vault, draft throws(VaultError) in
      guard vault.trust.slots.contains(fresh.row), pair.publicHalf == vault.protectedHalf else {
        throw .credentialStale
      }
      var plan = SlotPlan(vault.trust.slots)
      switch passcode {
      case .some(let slot):
        try plan.put(slot, at: plan.passcodePlace(fresh), fresh, pair, vault.id, draft.root.time)
      case .none: break
      }
      switch recovery {
      case .some(let slot):
        try plan.put(slot, at: plan.recoveryPlace(), fresh, pair, vault.id, draft.root.time)
      case .none: break
      }
      try vault.storeSlots(plan, &draft)
    }
    mustTruncate = true
    // Another reader may be in the way; the next flush tries again.
    do { try truncateJournal() } catch { guard error == .busy else { throw error } }
  }

  private var protectedHalf: [UInt8] { keys.ring.protectedHalf }

  private mutating func storeSlots(_ plan: SlotPlan, _ draft: inout Draft) throws(VaultError) {
    do {
      for row in plan.changed { try rows.storage.storeSlot(row) }
    } catch {
      throw VaultError(error)
    }
    draft.slots = plan.rows
    try digestFront(&draft)
  }
}

/// The slots as they are to be.
private struct SlotPlan {
  private(set) var rows: [SlotRow]
  private(set) var changed: [SlotRow] = []

  init(_ rows: [SlotRow]) { self.rows = rows }

  /// Where the new passcode goes.
  func passcodePlace(_ fresh: borrowing VaultKey) throws(VaultError) -> UInt8 {
    if fresh.credential == .passcode { return fresh.slot }
    return try place(of: .passcode)
  }

  /// Where the new recovery key goes.
  func recoveryPlace() throws(VaultError) -> UInt8 { try place(of: .recoveryKey) }

  /// The first slot of a kind, or a free one.
  private func place(of kind: SlotKind) throws(VaultError) -> UInt8 {
    if let slot = SlotSummary.list(rows).first(where: { $0.kind == kind }) { return slot.number }
    let taken = Set(rows.map(\.number))
    guard let number = (0..<UInt8(KDFLimits.mostSlots)).first(where: { !taken.contains($0) })
    else { throw .kdfRefused(.slotCount(rows.count + 1)) }
    return number
  }

  /// Seals a slot into its place.
  mutating func put(
    _ slot: borrowing PreparedSlot, at number: UInt8, _ fresh: borrowing VaultKey,
    _ pair: borrowing ProtectedPair, _ vault: VaultID, _ now: UInt64
  ) throws(VaultError) {
    let payload: SlotPayload
    do {
      // The label is the owner's name for the way in, and stays with it.
      let label = number == fresh.slot ? fresh.payload.label : []
      payload = try SlotPayload(
        vaultKey: try fresh.payload.vaultKey.copy(), created: now, label: label)
    } catch {
      throw VaultError(error, about: .slot)
    }
    let row = try slot.row(number, holding: payload, protected: pair.secretHalf, vault: vault)
    rows.removeAll { $0.number == number }
    let place = rows.firstIndex { $0.number > number } ?? rows.endIndex
    rows.insert(row, at: place)
    changed.append(row)
  }
}
