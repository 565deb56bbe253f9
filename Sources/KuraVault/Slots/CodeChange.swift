// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Puts another code for this machine, or for its TPM, in the place of the one that `fresh` opened, with a fresh
  /// secret of either. The slot opens what it opened before, and keeps its number and label.
  ///
  /// Who has the code alone can do this: it gives nothing that the code did not.
  ///
  /// - Parameters:
  ///   - slot: What ``PreparedSlot/local(_:kdf:allowsWeak:withProtected:naming:availableMemory:)`` made, or
  ///     ``PreparedSlot/tpm(_:kdf:allowsWeak:withProtected:beside:naming:availableMemory:)``.
  ///   - fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now for the current code.
  /// - Throws: ``VaultError/credentialStale``; ``VaultError/busy``: the same call again.
  public mutating func changeCode(
    _ slot: borrowing PreparedSlot, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) {
    guard fresh.credential == .local || fresh.credential == .tpm,
      slot.kind == fresh.credential.slotKind, slot.header.kdf != nil, fresh.takesCode,
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
  /// Whether something had to be typed for it, and not the TPM alone to be there.
  var takesCode: Bool { (try? SlotHeader(decoding: row.header.span))?.kdf != nil }

  /// The id of the slot that it came from.
  fileprivate var slotID: SlotID {
    get throws(VaultError) {
      guard let id = row.id else { throw .credentialStale }
      return id
    }
  }
}
