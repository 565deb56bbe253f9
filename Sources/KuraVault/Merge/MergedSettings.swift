// SPDX-License-Identifier: MIT

internal import KuraFormat

extension Sequence where Element: Revised {
  /// The sides of what has no history, a setting or the slot table, with those of another copy.
  func taking(_ other: some Sequence<Element>) -> [Element] {
    let known = Set(self.map { $0.lineage.stamp.id })
    return (self + other.filter { !known.contains($0.lineage.stamp.id) }).sides
  }
}

extension Setting {
  /// The value that is in force of those that sides have: the strictest, so that a copy which did not hear of a
  /// stricter one loosens nothing.
  ///
  /// - Returns: Nil for a setting of one machine, which does not travel, and for no value.
  func strictest(of values: some Sequence<UInt64>) -> UInt64? {
    switch self {
    case .idleTimeout, .maxSession, .reuseWindow, .fingerprint: values.min()
    case .lockOnSleep, .historyDepth: values.max()
    case .logSync, .eraseLocalAfter, .logEntries: nil
    }
  }
}

extension Sequence<SlotTableSide> {
  /// The slots that stand: those that every side has that knew of them.
  ///
  /// If no passcode and no recovery key stood so, those that any side has stand, and the owner is told: nobody shall
  /// be locked out by two removals that did not know of each other.
  ///
  /// - Parameter isSparing: Whether recovery keys alone count, so that nobody's table ends another slot, or brings one.
  func standing(sparing isSparing: Bool = false) -> [SlotTableSide.Slot] {
    let back = leavesNoWayIn(sparing: isSparing) ? every.filter(\.opensForOwner) : []
    return (agreed + back).filter { $0.counts(sparing: isSparing) }.sorted { $0.id < $1.id }
  }

  /// Whether every passcode and recovery key that counts was ended by one side or another.
  func leavesNoWayIn(sparing isSparing: Bool = false) -> Bool {
    !agreed.contains { $0.opensForOwner && $0.counts(sparing: isSparing) }
  }

  private var every: [SlotTableSide.Slot] {
    var every: [SlotID: SlotTableSide.Slot] = [:]
    for side in self { for slot in side.slots { every[slot.id] = slot } }
    return Array(every.values)
  }

  private var agreed: [SlotTableSide.Slot] {
    every.filter { slot in
      self.allSatisfy { $0.slots.contains(slot) || !$0.lineage.vector.covers(slot.made) }
    }
  }
}

extension SlotTableSide.Slot {
  fileprivate var opensForOwner: Bool { kind == .passcode || kind == .recoveryKey }

  fileprivate func counts(sparing isSparing: Bool) -> Bool { !isSparing || kind == .recoveryKey }
}

// MARK: - Within a merge

extension UnlockedVault {
  /// Looks at what another copy says of settings: its sides come along, and what is stricter holds at once.
  ///
  /// What is looser waits for the next unlock by the owner: nobody who has an old copy loosens anything with it.
  func planSettings(_ plan: inout MergePlan, _ other: CopyLedger?) throws(VaultError) {
    guard var ledger = keys.ring.ledger, let other else { return }
    for theirs in other.settings {
      let mine = ledger.settings.first { $0.key == theirs.key }
      let sides = (mine?.sides ?? []).taking(theirs.sides)
      guard sides != mine?.sides ?? [] else { continue }
      guard sides.count <= CopyLedger.mostSides else { throw .tooManySides }
      ledger.settings.removeAll { $0.key == theirs.key }
      ledger.settings.append(SettingSides(theirs.key, sides: sides))
      ledger.settings.sort { $0.key < $1.key }
      plan.ledger = ledger
      guard let setting = Setting(rawValue: theirs.key) else { continue }
      if stricter(setting, sides) != nil {
        plan.report.settings += 1
      } else if let value = setting.strictest(of: sides.map(\.value)),
        value != keys.ring.policy[setting]
      {
        plan.report.looserSettings += 1
      }
    }
  }

  /// The value that sides have, where it is stricter than the one that holds here.
  private func stricter(_ setting: Setting, _ sides: [SettingSides.Side]) -> UInt64? {
    let held = keys.ring.policy[setting]
    guard let wanted = setting.strictest(of: sides.map(\.value)),
      setting.strictest(of: [wanted, held]) == wanted, wanted != held
    else { return nil }
    return wanted
  }

  /// Has settings take effect here that their owner made looser on another copy, now that the owner is here; it is told
  /// among the notices.
  ///
  /// - Parameter origin: What was shown just now; a key file and a code loosen nothing.
  public mutating func takeLooserSettings(by origin: KeyOrigin) throws(VaultError) {
    guard origin.isOwners, looserSettings != policy else { return }
    var kept = policy
    defer { keys.ring.policy = kept }
    kept = try writing { vault, draft throws(VaultError) in
      kept = vault.policy
      let policy = vault.looserSettings
      vault.keys.ring.policy = policy
      try vault.storeRing(&draft)
      return policy
    }
    notices.insert(.settingsLoosened)
  }

  /// Makes settings that were set before the vault was taken over a change of this copy, so that other copies get them.
  mutating func noteSettings(_ draft: inout Draft) throws(VaultError) {
    for key in Setting.allCases where policy.isSet(key) {
      try noteSide(of: key, policy[key], &draft)
    }
  }

  /// The settings as all copies say together.
  private var looserSettings: Policy {
    var policy = policy
    for sides in keys.ring.ledger?.settings ?? [] {
      guard let setting = Setting(rawValue: sides.key),
        let value = setting.strictest(of: sides.sides.map(\.value))
      else { continue }
      try? policy.set(value, for: setting)
    }
    return policy
  }

  /// Writes the ring with what a merge found of settings.
  mutating func takeSettings(_ ledger: CopyLedger, _ draft: inout Draft) throws(VaultError) {
    let machine = keys.ring.ledger?.machine ?? ledger.machine
    keys.ring.ledger = ledger
    keys.ring.ledger?.machine = machine
    var policy = keys.ring.policy
    for sides in ledger.settings {
      guard let setting = Setting(rawValue: sides.key), let value = stricter(setting, sides.sides)
      else { continue }
      try fromFormat(.ring, policy.set(value, for: setting))
    }
    keys.ring.policy = policy
    try storeRing(&draft)
  }
}
