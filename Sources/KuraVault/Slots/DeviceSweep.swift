// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraFormat
internal import KuraStorage

/// Notes that a slot's device secret was stored and the slot may not be in the vault yet.
///
/// It is locked as long as this value lives, so that nobody takes a slot that is being added for one
/// whose engine was killed.
struct AddingNote: ~Copyable {
  fileprivate let place: FilePlace
  fileprivate let file: StateFile

  /// Ends the note: the slot is in the vault, or its secret is gone.
  consuming func end() { place.remove() }
}

extension DeviceSecrets {
  /// Notes that a secret is about to be stored for a vault's slot.
  func beginAdding(_ slot: SlotID, to vault: VaultID) throws(VaultError) -> AddingNote {
    do {
      try FilePlace.makeDirectory(directory)
      let place = try note(slot, vault)
      return AddingNote(
        place: place, file: try StateFile.open(place, lock: .exclusive, creating: true))
    } catch { throw VaultError(error) }
  }

  private func note(_ slot: SlotID, _ vault: VaultID) throws(StorageError) -> FilePlace {
    try FilePlace.resolve("\(directory)/\(slot.hexadecimal).\(vault.hexadecimal).adding")
  }

  /// The secrets that were stored for a vault by engines that were killed before they were done; each is
  /// held until the list is dropped.
  fileprivate func leftBehind(for vault: VaultID) -> [LeftSecret] {
    var left: [LeftSecret] = []
    for name in FilePlace.names(in: directory) where name.hasSuffix(".\(vault.hexadecimal).adding")
    {
      guard let slot = SlotID(hexadecimal: name.prefix { $0 != "." }),
        let place = try? note(slot, vault),
        let file = try? StateFile.open(place, lock: .exclusive, creating: false),
        // Whoever had the lock may have ended the note just before it was let go.
        (try? place.identity()) != nil
      else { continue }
      left.append(LeftSecret(slot, AddingNote(place: place, file: file)))
    }
    return left
  }
}

/// Holds a secret whose slot may never have come to be.
private final class LeftSecret {
  let slot: SlotID
  private var note: AddingNote?

  init(_ slot: SlotID, _ note: consuming AddingNote) {
    self.slot = slot
    self.note = consume note
  }

  func end() { note.take()?.end() }
}

extension UnlockedVault {
  /// Destroys the secrets that were stored on this machine for slots which never got into this vault.
  ///
  /// - Throws: As every call that reads the vault; nothing is destroyed then.
  mutating func sweepDeviceSecrets() throws(VaultError) {
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    let left = devices.leftBehind(for: id)
    guard !left.isEmpty else { return }
    // Only what is read after the notes were locked tells which slots came to be.
    let there = try reading { vault throws(VaultError) in vault.trust.slots.compactMap(\.id) }
    for secret in left {
      if !there.contains(secret.slot) { devices.remove(secret.slot) }
      secret.end()
    }
  }
}
