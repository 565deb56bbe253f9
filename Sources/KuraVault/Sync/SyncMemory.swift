// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

// What a meeting with the store leaves behind in the vault, each in one transaction.

extension UnlockedVault {
  /// Remembers a head that is about to be taken, and what its writer has heard of others.
  ///
  /// - Returns: The head of that device that was taken before.
  mutating func believe(
    _ front: SyncFront, _ report: HeadReport, by own: DeviceID
  ) throws(VaultError) -> HeadPlace {
    let (name, now) = (front.head.device, options.now())
    var taken = HeadPlace.none
    try remember { memory, table throws(VaultError) in
      let itself = HeadReport.Seen(
        device: name, heard: front.place, taken: front.place, key: front.head.key)
      for seen in [itself] + report.seen where seen.device != own {
        var note = try table.noted(seen.device)
        guard note.removedAt == nil else { continue }
        if seen.heard.number > note.heard.number { note.heard = seen.heard }
        if note.key == nil, seen.key.contains(where: { $0 != 0 }) { note.key = seen.key }
        if seen.device == name {
          taken = note.taken
          (note.kept, note.heardTime, note.epoch) = (front.place.id, now, front.head.epoch)
          note.label = report.label
        }
        guard table.set(note) else { throw .damaged(.header) }
      }
      return [KeptHead(device: name, bytes: front.bytes)]
    }
    return taken
  }

  /// Notes that a head was taken, all of it, and what is in the store by that.
  mutating func noteTaken(
    _ front: SyncFront, _ report: HeadReport, by own: DeviceID
  ) throws(VaultError) {
    let name = front.head.device
    try remember { memory, table throws(VaultError) in
      var note = try table.noted(name)
      if front.place.number > note.taken.number { note.taken = front.place }
      guard table.set(note) else { throw .damaged(.header) }
      memory.covered.formUnion(
        RevisionVector(report.covered.entries.filter { $0.device != own }))
      if report.count > 0 {
        memory.covered.include(RevisionEntry(device: name, counter: report.count))
      }
      return []
    }
  }

  /// The epoch that the vault is in.
  func epoch() throws(VaultError) -> DeviceTable.Epoch {
    guard let ledger = keys.ring.ledger else { throw .takesNewFormat }
    return ledger.epoch
  }

  /// The record of the epoch that the vault is in.
  mutating func epochRecord() throws(VaultError) -> EpochRecord {
    let record = try memoryOfShared().record
    return try EpochRecord(object: record.span, in: epoch())
  }

  /// What an epoch took over from those before it, and who began it.
  mutating func epochBeginning() throws(VaultError) -> (maker: DeviceID, cut: EpochCut) {
    let record = try epochRecord()
    let place = AssociatedData.remote(
      .epochRecord, vault: id, device: record.maker, epoch: try epoch())
    let plain = try place.openPadded(record.sealed.span, under: keys.remote, .header)
    return (record.maker, try fromFormat(.header, EpochCut(decoding: plain.bytes)))
  }

  /// Notes in which objects a long value stands, or stands so far.
  mutating func note(_ value: PackedValue, isWhole: Bool) throws(VaultError) {
    // How many chunks the last piece has nobody asks.
    let pieces = value.pieces.count + (isWhole ? 0 : 1)
    let place = try fromFormat(
      .chunk, ValuePlace(value, chunkCount: UInt64(pieces * PieceView.mostChunks)))
    try setPlace(place)
  }

  /// Those of some long values that are not all here.
  mutating func lacking(_ values: some Collection<PackedValue>) throws(VaultError) -> [PackedValue]
  {
    try reading { vault throws(VaultError) -> [PackedValue] in
      var lacking: [PackedValue] = []
      for value in values.sorted(by: { $0.value > $1.value }) {
        let bytes = value.value.bytes
        let isMarked = try fromStorage(vault.rows.storage.isOrphan(bytes.span))
        let isHere = try vault.rows.storage.chunk(0, of: value.value) != nil
        if isMarked || !isHere { lacking.append(value) }
      }
      return lacking
    }
  }

  /// Whether a chunk of a long value is here.
  mutating func hasChunk(_ number: UInt64, of value: ValueID) throws(VaultError) -> Bool {
    try reading { vault throws(VaultError) in
      try vault.rows.storage.chunk(number, of: value) != nil
    }
  }
}

extension DeviceTable {
  /// The note of a device, a new one where it was never heard of.
  func noted(_ device: DeviceID) throws(VaultError) -> DeviceNote {
    if let note = self[device] { return note }
    return try fromFormat(.header, DeviceNote(device: device))
  }
}
