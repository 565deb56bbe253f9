// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

// Which ways to open the vault the store gets that machines share it by: all that travel, or recovery keys alone, at
// which nobody can guess.

extension UnlockedVault {
  /// Whether the store gets recovery keys alone.
  mutating func sparesStore() throws(VaultError) -> Bool {
    try isShared() && policy[.passcodeInStore] == 0
  }

  /// Refuses slots that leave a store which gets recovery keys alone with none.
  ///
  /// - Parameters:
  ///   - rows: The slots as they are to be.
  ///   - before: As they are; where there is no recovery key already, as in a copy that only heard of the setting, any
  ///     change is for the better.
  /// - Throws: ``VaultError/recoveryKeyNeeded``.
  mutating func checkStore(of rows: [SlotRow], after before: [SlotRow]) throws(VaultError) {
    guard try sparesStore(), before.hasRecoveryKey, !rows.hasRecoveryKey else { return }
    throw .recoveryKeyNeeded
  }

  /// Sees to it that what the store is to get from now on can be there.
  ///
  /// - Parameter value: What ``Setting/passcodeInStore`` is to be.
  /// - Throws: ``VaultError/recoveryKeyNeeded``.
  mutating func settleStore(
    for value: UInt64, _ draft: inout Draft
  ) throws(VaultError) {
    guard try isShared(), value != policy[.passcodeInStore] else { return }
    guard value != 0 else {
      guard trust.slots.hasRecoveryKey else { throw .recoveryKeyNeeded }
      return
    }
    try renewTable(&draft)
  }

  /// Has the store get recovery keys alone from here, where no machine has said what it is to get.
  mutating func beginSparing() throws(VaultError) {
    let key = Setting.passcodeInStore
    let isSaid = keys.ring.ledger?.settings.contains { $0.key == key.rawValue } == true
    guard policy[key] != 0, !isSaid else { return }
    var kept = policy
    defer { keys.ring.policy = kept }
    kept = try writing { vault, draft throws(VaultError) in
      kept = vault.policy
      try fromFormat(.ring, vault.keys.ring.policy.set(0, for: key))
      try vault.storeRing(&draft)
      return vault.policy
    }
  }

  /// Has others look for slots that they know of already: from now on their rows are in the store.
  mutating func renewTable(_ draft: inout Draft) throws(VaultError) {
    guard var ledger = keys.ring.ledger, !ledger.slots.isEmpty else { return }
    let standing = ledger.slots.standing
    // More than a table has room for no machine changes: then each finds what it has room for as it is.
    guard (1...SlotTableSide.mostSlots).contains(standing.count),
      let lineage = try draft.nextLineage(after: ledger.slots.map(\.lineage), of: .zero)
    else { return }
    ledger.slots = [SlotTableSide(lineage, slots: standing)]
    keys.ring.ledger = ledger
  }
}

extension Sequence<SlotRow> {
  /// Whether a recovery key opens one of them.
  var hasRecoveryKey: Bool { contains { $0.kind == .recoveryKey } }
}
