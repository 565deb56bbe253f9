// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

// Which ways to open the vault the store gets that machines share it by: all that mean something elsewhere, or those of
// recovery keys alone, at which nobody can guess. Whoever begins to share it decides that, and every epoch after the first
// repeats it under its own key: nobody changes it who has none.

extension UnlockedVault {
  /// Whether the store gets recovery keys alone, so that all other slots are each machine's own.
  mutating func sparesStore() throws(VaultError) -> Bool {
    guard let record = try remoteMemory()?.record else { return false }
    if let sparing, sparing.record == record { return sparing.isSparing }
    let isSparing = try epochBeginning().cut.isSparing
    sparing = (record, isSparing)
    return isSparing
  }

  /// Refuses slots that leave a store which gets recovery keys alone with none.
  ///
  /// - Parameters:
  ///   - rows: The slots as they are to be.
  ///   - before: As they are; where there is no recovery key already, any change is for the better.
  /// - Throws: ``VaultError/recoveryKeyNeeded``.
  mutating func checkStore(of rows: [SlotRow], after before: [SlotRow]) throws(VaultError) {
    guard before.hasRecoveryKey, !rows.hasRecoveryKey else { return }
    if try sparesStore() { throw .recoveryKeyNeeded }
  }
}

extension Sequence<SlotRow> {
  /// Whether a recovery key opens one of them.
  var hasRecoveryKey: Bool { contains { $0.kind == .recoveryKey } }
}
