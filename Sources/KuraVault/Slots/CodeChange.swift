// SPDX-License-Identifier: MIT

internal import KuraFormat

extension UnlockedVault {
  /// Puts another code for this machine in the place of the one that `fresh` opened, with a fresh secret of
  /// this machine. The slot opens what it opened before, and keeps its number and label.
  ///
  /// Who has the code alone can do this: it gives nothing that the code did not.
  ///
  /// - Parameters:
  ///   - slot: What ``PreparedSlot/local(_:kdf:allowsWeak:withProtected:naming:availableMemory:)`` made.
  ///   - fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now for the current code.
  /// - Throws: ``VaultError/credentialStale``; ``VaultError/busy``: the same call again.
  public mutating func changeCode(
    _ slot: borrowing PreparedSlot, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) {
    guard fresh.credential == .local, slot.kind == .local,
      slot.holdsProtectedHalf == fresh.opensProtected
    else { throw .credentialStale }
    let old = try fresh.slotID
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    let manner: SlotManner = devices.submitLength(of: old) > 0 ? .submitted : []
    try keepingDeviceSecret(of: slot, manner) { vault throws(VaultError) in
      try vault.changeSlots(fresh, isOwnCode: true) { plan, wrap, _ throws(VaultError) in
        try plan.put(slot, at: fresh.slot, wrap, fresh)
      }
    }
    devices.remove(old)
  }
}

extension VaultKey {
  /// The id of the slot that it came from.
  fileprivate var slotID: SlotID {
    get throws(VaultError) {
      guard let id = row.id else { throw .credentialStale }
      return id
    }
  }
}
