// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Keeps where this machine looks for key files by itself: one file a slot, in clear.
struct KeyFilePlaces: Sendable {
  private let directory: String

  init(stateDirectory: String) { directory = stateDirectory + "/device" }

  private func place(of slot: SlotID) throws(StorageError) -> FilePlace {
    try StatePlace.file(slot.hexadecimal + ".auto", in: directory)
  }

  /// Where the slot's key file is looked for; nil where it is not.
  func look(for slot: SlotID) -> KeyFilePlace? {
    guard let place = try? place(of: slot),
      let bytes = try? StateFile.peek(place, KeyFilePlace.longest + 1)
    else { return nil }
    return try? KeyFilePlace(decoding: bytes.span, slot: slot)
  }

  /// Remembers a key file in the place of what was remembered of its slot.
  func remember(_ file: KeyFilePlace) throws(VaultError) {
    do {
      try FilePlace.makeDirectory(directory)
      let place = try place(of: file.slot)
      let bytes = file.encoded
      // A longer path would leave its end.
      place.remove()
      let state = try StateFile.open(place, lock: .exclusive, creating: true, patience: 50)
      try state.write(bytes.span, at: 0, length: bytes.count)
      try place.syncDirectory()
    } catch { throw VaultError(error) }
  }

  /// Forgets a slot's key file.
  func forget(_ slot: SlotID) { (try? place(of: slot))?.remove() }

  /// Moves what is remembered of a slot to the one that took its place.
  func move(from old: SlotID, to new: SlotID) {
    guard let file = look(for: old) else { return }
    if let moved = try? KeyFilePlace(slot: new, size: file.size, path: file.path) {
      try? remember(moved)
    }
    forget(old)
  }
}
