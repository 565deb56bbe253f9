// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Remembers which values' chunks are to be deleted.
struct Sweeper {
  /// Orphans that no upload claims and no item names.
  private(set) var queue: [ValueID] = []
  /// Whether the orphans of engines that are gone are still to be looked for.
  var mustSearch = true
  /// Orphans of engines that are gone, while no item was found yet that names them all the same.
  var search: OrphanSearch?

  /// Whether the device secrets of slots that engines never came to add are still to be looked for.
  var mustLookAtDevices = true

  /// Whether there is anything to do.
  var hasWork: Bool { mustSearch || search != nil || !queue.isEmpty || mustLookAtDevices }

  mutating func add(_ value: ValueID) { queue.append(value) }

  mutating func removeLast() { queue.removeLast() }

  /// Begins the search anew; what is known to belong to nobody still does.
  mutating func restart() {
    search = nil
    mustSearch = true
  }

  /// Forgets what belonged to nobody: it is looked for anew.
  mutating func forget() {
    queue = []
    restart()
  }

  /// Ends the search; what no item names is to be deleted.
  mutating func finishSearch() {
    if let search { queue += search.candidates }
    search = nil
  }
}

extension UnlockedVault {
  /// How many chunks one slice deletes: 1 MiB.
  private static let sliceCount = 16

  /// Deletes some chunks that nothing refers to: those of dropped revisions and of uploads that came
  /// to nothing; then this machine's secrets for slots that never came to be. Call it when there is nothing else to do.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/busy``: later again. ``VaultError/damaged(_:)`` when what is there cannot be
  ///   told from what nothing refers to; nothing more is deleted then.
  public mutating func sweep() throws(VaultError) -> Bool {
    if let value = sweeper.queue.last {
      if try sweepSlice(value) { sweeper.removeLast() }
    } else if sweeper.search != nil {
      try continueOrphanSearch()
    } else if sweeper.mustSearch {
      try beginOrphanSearch()
    } else if sweeper.mustLookAtDevices {
      sweeper.mustLookAtDevices = false
      try sweepDeviceSecrets()
    }
    return sweeper.hasWork
  }

  /// Deletes some chunks of a value.
  ///
  /// - Returns: Whether that was all of it.
  mutating func sweepSlice(_ value: ValueID) throws(VaultError) -> Bool {
    try checkInPlace()
    let bytes = value.bytes
    try fromStorage(rows.storage.beginWrite(durable: false))
    defer { rows.storage.end() }
    let isGone = try fromStorage(rows.storage.sweep(bytes.span, limit: Self.sliceCount))
    if isGone, rows.storage.isShared { try forgetPlace(of: value) }
    try fromStorage(rows.storage.commit())
    return isGone
  }

  /// The lock that every upload of this machine shares.
  ///
  /// - Returns: nil where this machine can keep no state. An upload goes on without it, and notices at
  ///   its end when somebody swept.
  func uploadLock(_ lock: StateFile.Lock) throws(StorageError) -> StateFile? {
    do {
      let place = try StatePlace.file(
        id.hexadecimal + ".uploads", in: options.stateDirectory, making: true)
      return try StateFile.open(place, lock: lock, creating: true)
    } catch {
      guard error == .readOnly || error == .permissionDenied || error == .missing else {
        throw error
      }
      return nil
    }
  }
}

extension Storage {
  /// Deletes some chunks of a value, within a transaction.
  ///
  /// - Returns: Whether that was all of it.
  mutating func sweep(_ value: Span<UInt8>, limit: Int) throws(StorageError) -> Bool {
    // What is marked no more belongs to an item now, or is gone already.
    guard try isOrphan(value) else { return true }
    guard try deleteChunks(value, limit: limit) < limit else { return false }
    try unmarkOrphan(value)
    return true
  }
}
