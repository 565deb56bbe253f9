// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

// Who a copy of the vault is in the store.

extension UnlockedVault {
  /// Whether the vault is shared through a store.
  public mutating func isShared() throws(VaultError) -> Bool { try remoteMemory() != nil }

  /// Begins to share the vault: it gets a name of its own, under which its changes are counted from 1, and the first
  /// epoch. Nothing is written to a store yet.
  ///
  /// - Parameters:
  ///   - label: What its owner calls this copy; nil for the machine's name.
  ///   - isSparing: Whether no slot but a recovery key's ever gets into the store, as long as it is shared so.
  /// - Throws: ``VaultError/takesNewFormat``; ``VaultError/busy`` where it is shared already;
  ///   ``VaultError/labelInvalid(_:)``; ``VaultError/recoveryKeyNeeded`` where the store would get no slot at all; those of
  ///   the file.
  public mutating func share(
    label: [UInt8]? = nil, sparing isSparing: Bool = false
  ) throws(VaultError) {
    guard format > .first else { throw .takesNewFormat }
    guard try !isShared() else { throw .busy }
    guard !isSparing || trust.slots.hasRecoveryKey else { throw .recoveryKeyNeeded }
    let device = try becomeAnother()
    let epoch = try DeviceTable.Epoch.fresh()
    let seed = try fromFormat(.header, DeviceSeed.random(vault: id, device: device))
    let place = AssociatedData.remote(.epochRecord, vault: id, device: device, epoch: epoch)
    let cut = EpochCut(first: 1, sparing: isSparing).encoded
    var record = EpochRecord(
      vault: id, maker: device, parents: [], ancestors: [],
      sealed: try place.sealPadded(cut.span, under: keys.remote, .header))
    let object = try signed(&record, in: epoch, by: seed)
    try store(seed)
    try beginSharing(record: object, in: epoch, key: record.key, label: label)
  }

  /// Counts what is changed from now on under another name.
  private mutating func becomeAnother() throws(VaultError) -> DeviceID {
    try writing { vault, draft throws(VaultError) in
      try draft.root.copy?.becomeAnother()
      try fromStorage(vault.rows.storage.deleteJournal(from: 1))
    }
    guard let copy = trust.root.copy else { throw .takesNewFormat }
    return copy.device
  }

  /// The secret half of this copy's pair; a copy that has none, or is not the one that the vault remembers, takes a name
  /// of its own.
  ///
  /// - Throws: ``VaultError/notShared``; those of the file.
  mutating func settledSeed() throws(VaultError) -> DeviceSeed {
    var device = try ownDevice()
    let memory = try memoryOfShared()
    if let seed = try seed(of: device) {
      if memory.device != device { try settle(seed) }
      return seed
    }
    if memory.device == device { device = try becomeAnother() }
    let seed = try fromFormat(.header, DeviceSeed.random(vault: id, device: device))
    try store(seed)
    try settle(seed)
    return seed
  }

  /// Goes on as the copy that a seed is of: what was remembered until now was another one's.
  private mutating func settle(_ seed: borrowing DeviceSeed) throws(VaultError) {
    let (device, key) = (seed.device, try fromFormat(.header, seed.pair()).publicHalf)
    let awaitsRound = try awaitsRound(of: memoryOfShared().device)
    try remember { memory, table throws(VaultError) in
      let former = memory.device
      var note = try fromFormat(.header, DeviceNote(device: device, key: key))
      if var before = table[former] {
        // What it wrote until now was another device's.
        (before.heard, before.taken) = (memory.standing.place, memory.standing.place)
        note.label = before.label
        guard table.set(before) else { throw .damaged(.header) }
      }
      guard table.set(note) else { throw .damaged(.header) }
      memory.leaveOld()
      let vouched = memory.standing.vouched
      memory.device = device
      (memory.standing, memory.pending) = (RemoteMemory.Standing(), nil)
      memory.standing.vouched = vouched
      memory.mustWalk = true
      if awaitsRound { memory.mustBeginRound = true }
      return []
    }
  }
}
