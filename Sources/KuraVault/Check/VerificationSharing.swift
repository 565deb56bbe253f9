// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

// What copies of the vault know of each other, and of the store between them.
extension Verification {
  /// Opens what stands in front of the items of it, and learns which heads there have to be.
  mutating func checkCopies(
    _ parts: CopyParts?, _ keys: borrowing Keyring
  ) throws(VaultError) {
    guard let parts else { return }
    do throws(VaultError) {
      let memory = try keys.open(parts)
      for note in memory.devices?.notes ?? [] where note.kept != .zero {
        expectedHeads[note.device] = note.kept
      }
      if let pending = memory.remote?.pending { expectedHeads[.zero] = pending.place.id }
    } catch {
      guard error.isDamage else { throw error }
      try findings.add(.header, "devices and store")
    }
  }

  /// Checks that every head that is kept is the one that was, and that there is no other.
  mutating func checkHeads(_ keys: borrowing Keyring) throws(VaultError) {
    let found = try fromStorage(storage.heads(limit: DeviceTable.most + 2))
    for bytes in found where bytes.count != DeviceID.byteCount || expectedHeads[id(bytes)] == nil {
      try findings.add(.header, "head of a device that has none")
    }
    for (device, head) in expectedHeads {
      do throws(VaultError) { _ = try storage.head(of: device, named: head) } catch {
        guard error.isDamageOfRow else { throw error }
        try findings.add(.header, "head of device \(device.hexadecimal)")
      }
    }
    budget -= found.count
    finishPhase()
  }

  private func id(_ bytes: [UInt8]) -> DeviceID { DeviceID(bytes.span) }

  /// Checks that what is remembered of where values stand can be read.
  mutating func checkPlaces(_ keys: borrowing Keyring) throws(VaultError) {
    while budget > 0 {
      guard let value = try fromStorage(storage.placedValue(after: lastPlaced)) else {
        return finishPhase()
      }
      lastPlaced = value
      budget -= 1
      do throws(VaultError) { _ = try storage.place(of: value, under: keys) } catch {
        guard error.isDamageOfRow else { throw error }
        try findings.add(.header, "place of a value in the store")
      }
    }
  }

  /// Checks that the journal is the one that the root vouches for.
  mutating func checkJournal(_ keys: borrowing Keyring) throws(VaultError) {
    do throws(VaultError) {
      while budget > 0 {
        budget -= JournalRecord.mostInRow / 4
        if try journal.next(in: &storage, root, keys) == nil { return finishPhase() }
      }
    } catch {
      guard error.isDamageOfRow else { throw error }
      try findings.add(.header, "journal")
      finishPhase()
    }
  }
}
