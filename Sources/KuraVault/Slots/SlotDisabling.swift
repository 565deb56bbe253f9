// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Puts a way to open the vault out of use, until it is enabled again; one that is stays so.
  ///
  /// The whole of the slot is sealed under a key that only the open vault has: a flag would stop nobody who has
  /// the file. A copy of the file from before still opens by it. The secret of a `local` slot stays.
  ///
  /// - Parameters:
  ///   - number: Where the slot stands.
  ///   - fresh: As for ``changeSlots(authorizedBy:passcode:recovery:)``.
  /// - Throws: ``VaultError/slotNotFound(_:)``; ``VaultError/lastSlot`` when neither a passcode nor a
  ///   recovery key would be left in use; ``VaultError/recoveryKeyNeeded`` of the only one that a store gets;
  ///   ``VaultError/credentialStale``; ``VaultError/busy``.
  public mutating func disableSlot(
    _ number: UInt8, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) {
    try changeSlots(fresh) { plan, _, keys throws(VaultError) in try plan.disable(number, keys) }
  }

  /// Puts a slot back into use as it was; one that is stays so.
  ///
  /// - Parameters:
  ///   - number: Where the slot stands.
  ///   - fresh: As for ``changeSlots(authorizedBy:passcode:recovery:)``.
  /// - Throws: ``VaultError/slotNotFound(_:)``; ``VaultError/slotsFull(limit:)`` and
  ///   ``VaultError/recoveryKeyExists`` and ``VaultError/credentialTaken(_:)`` when others have taken its place;
  ///   ``VaultError/credentialStale``; ``VaultError/busy``.
  public mutating func enableSlot(
    _ number: UInt8, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) {
    try changeSlots(fresh) { plan, _, keys throws(VaultError) in try plan.enable(number, keys) }
  }
}

extension SlotRow {
  /// What opens it; nil where the header cannot be read.
  var kind: SlotKind? { (try? SlotHeader(decoding: header.span))?.kind }

  /// Whether its owner put it out of use.
  var isDisabled: Bool { kind == .disabled }

  /// The same out of use.
  func disabled(_ id: SlotID, _ keys: borrowing Keyring) throws(VaultError) -> SlotRow {
    let slot = DisabledSlot(header: header, key: key, protected: protected)
    let sealed = try AssociatedData.disabledSlot(vault: keys.vault, slot: id)
      .sealPadded(slot.encoded.span, under: keys.ringKey, .slot)
    return SlotRow(
      number: number, header: SlotHeader(disabled: id).encoded, key: sealed, protected: [])
  }

  /// The slot as it is, or was before it was put out of use.
  func inUse(_ keys: borrowing Keyring) throws(VaultError) -> SlotRow {
    guard isDisabled, let id else { return self }
    let plaintext = try AssociatedData.disabledSlot(vault: keys.vault, slot: id)
      .openPadded(key.span, under: keys.ringKey, .slot)
    let slot = try fromFormat(.slot, DisabledSlot(decoding: plaintext.bytes, slot: id))
    let row = SlotRow(
      number: number, header: slot.header, key: slot.key, protected: slot.protected)
    try SlotTable.check([row])
    return row
  }
}
