// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Changes a setting.
  ///
  /// - Parameters:
  ///   - key: Which one.
  ///   - value: What it is to be, in the unit of the setting.
  ///   - owner: The owner's proof, which a looser value takes than the one that holds.
  /// - Throws: ``VaultError/policyInvalid(_:)`` when the value is out of its range;
  ///   ``VaultError/ownerNeeded``.
  public mutating func setPolicy(
    _ key: Setting, to value: UInt64, by owner: borrowing OwnerProof?
  ) throws(VaultError) {
    var kept = keys.ring.policy
    defer { keys.ring.policy = kept }
    let changed = try writing(by: owner) { vault, draft throws(VaultError) in
      // Another engine may have changed it since: that is where this change begins.
      kept = vault.policy
      var policy = kept
      try fromFormat(.ring, policy.set(value, for: key))
      try draft.check(key, from: kept[key], to: value)
      vault.keys.ring.policy = policy
      try vault.noteSide(of: key, value, &draft)
      try vault.storeRing(&draft)
      return policy
    }
    kept = changed
  }

  /// Notes who changed a setting, for copies of the vault; what is of this machine alone is nobody else's.
  mutating func noteSide(
    of key: Setting, _ value: UInt64, _ draft: inout Draft
  ) throws(VaultError) {
    guard var ledger = keys.ring.ledger, key.strictest(of: [value]) != nil else { return }
    let before = ledger.settings.first { $0.key == key.rawValue }
    let sides = before?.sides.map(\.lineage) ?? []
    guard let lineage = try draft.nextLineage(after: sides, of: .zero) else { return }
    ledger.settings.removeAll { $0.key == key.rawValue }
    ledger.settings.append(
      SettingSides(key.rawValue, sides: [SettingSides.Side(lineage, value: value)]))
    ledger.settings.sort { $0.key < $1.key }
    keys.ring.ledger = ledger
  }

  /// Seals and writes the ring as it is now.
  mutating func storeRing(_ draft: inout Draft) throws(VaultError) {
    try store(ring: try keys.sealedRing(), &draft)
  }

  /// Writes a sealed ring.
  mutating func store(ring sealed: [UInt8], _ draft: inout Draft) throws(VaultError) {
    try fromStorage(rows.storage.storePart(.ring, sealed.span))
    draft.sealedRing = sealed
    try digestFront(&draft)
  }

  /// Seals and writes what copies know of each other.
  mutating func store(
    _ devices: DeviceTable, _ remote: RemoteMemory?, _ draft: inout Draft
  ) throws(VaultError) {
    let parts = try keys.seal(devices, remote)
    try fromStorage(rows.storage.store(parts))
    draft.copies = parts
    try digestFront(&draft)
  }

  /// Gives the root the digest of what stands in front of the items once the draft is committed.
  private func digestFront(_ draft: inout Draft) throws(VaultError) {
    draft.root.headerDigest = try keys.headerDigest(
      header: draft.header ?? trust.header, ring: draft.sealedRing ?? trust.sealedRing,
      copies: draft.copies ?? trust.copies, slots: draft.slots ?? trust.slots)
  }
}
