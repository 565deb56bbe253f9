// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Keeps where this machine looks for key files by itself: one file a slot, in clear, and an empty one beside it
/// while the key file has to wait.
struct KeyFilePlaces: Sendable {
  private let directory: String

  init(stateDirectory: String) { directory = stateDirectory + "/device" }

  private static let suffix = ".auto"

  private func place(of slot: SlotID) throws(StorageError) -> FilePlace {
    try StatePlace.file(slot.hexadecimal + Self.suffix, in: directory)
  }

  private func mark(_ name: String) throws(StorageError) -> FilePlace {
    try StatePlace.file(name + ".held", in: directory)
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
      release(file.slot)
    } catch { throw VaultError(error) }
  }

  /// Forgets a slot's key file.
  func forget(_ slot: SlotID) {
    (try? place(of: slot))?.remove()
    release(slot)
  }

  /// Moves what is remembered of a slot to the one that took its place.
  func move(from old: SlotID, to new: SlotID) {
    guard let file = look(for: old) else { return }
    if let moved = try? KeyFilePlace(slot: new, size: file.size, path: file.path) {
      try? remember(moved)
    }
    forget(old)
  }
}

// MARK: - Waiting

extension KeyFilePlaces {
  /// Has the key files of some slots wait, or all that this machine knows of.
  func hold(_ slots: [SlotID]? = nil) {
    let meant = slots.map { $0.map(\.hexadecimal) }
    for name in known where meant?.contains(name) ?? true { try? mark(name).createFile() }
  }

  /// The slots whose key files are looked for, by the names of their files.
  var known: [String] {
    FilePlace.names(in: directory).filter { $0.hasSuffix(Self.suffix) }
      .map { String($0.dropLast(Self.suffix.count)) }
  }

  /// Whether a key file has to wait.
  func isHeld(_ slot: SlotID) -> Bool { (try? mark(slot.hexadecimal).identity()) != nil }

  /// Ends that.
  func release(_ slot: SlotID) { (try? mark(slot.hexadecimal))?.remove() }
}

/// Key files that wait for a person: somebody locked the vault, and a command in the background must not undo that. It is
/// kept on the disk, since another engine may be asked next.
extension LockedVault {
  /// Has those of the vault wait until they were seen away, or the vault was unlocked.
  public func holdKeyFiles() {
    KeyFilePlaces(stateDirectory: options.stateDirectory).hold(slotRows.compactMap(\.id))
  }

  /// Has those of all vaults wait that this machine knows of.
  public static func holdAllKeyFiles(_ options: VaultOptions) {
    KeyFilePlaces(stateDirectory: options.stateDirectory).hold()
  }

  /// Whether this machine tries any by itself.
  public static func looksForKeyFiles(_ options: VaultOptions) -> Bool {
    !KeyFilePlaces(stateDirectory: options.stateDirectory).known.isEmpty
  }

  /// Notes which were seen away: who brings one back means to use it.
  public func noteAway(_ reports: [SlotReport]) {
    let places = KeyFilePlaces(stateDirectory: options.stateDirectory)
    for report in reports where report.isHeld && report.availability == .missing {
      if let file = report.looked { places.release(file.slot) }
    }
  }
}

extension UnlockedVault {
  /// Has those of the vault wait no more: somebody has unlocked it.
  public func releaseKeyFiles() {
    let places = KeyFilePlaces(stateDirectory: options.stateDirectory)
    for id in trust.slots.compactMap(\.id) where places.isHeld(id) { places.release(id) }
  }
}
