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
      for seen in [itself] + report.seen {
        var note = try table.noted(seen.device)
        guard note.removedAt == nil else { continue }
        if seen.heard.number > note.heard.number { note.heard = seen.heard }
        guard seen.device != own else {
          guard table.set(note) else { throw .damaged(.header) }
          continue
        }
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

  /// Notes that devices were heard, and have said nothing new.
  mutating func noteHeard(_ names: [DeviceID]) throws(VaultError) {
    let now = options.now()
    try remember { _, table throws(VaultError) in
      for name in names {
        var note = try table.noted(name)
        note.heardTime = now
        guard table.set(note) else { throw .damaged(.header) }
      }
      return []
    }
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

  /// The long values of a pack that have to be fetched: those of rows that would be taken, and are not all here. Where the
  /// others stand is noted, if that was not known.
  mutating func lacking(_ pack: CopyPack) throws(VaultError) -> [PackedValue] {
    var (lacking, known) = ([PackedValue](), [PackedValue]())
    guard !pack.values.isEmpty else { return [] }
    let wanted = try wantedValues(of: pack)
    for value in pack.values.values.sorted(by: { $0.value > $1.value }) {
      if try holds(value.value) {
        if try place(of: value.value) == nil { known.append(value) }
      } else if wanted.contains(value.value) {
        lacking.append(value)
      }
    }
    for value in known { try note(value, isWhole: true) }
    return lacking
  }

  private mutating func holds(_ value: ValueID) throws(VaultError) -> Bool {
    try reading { vault throws(VaultError) -> Bool in
      let bytes = value.bytes
      guard try !fromStorage(vault.rows.storage.isOrphan(bytes.span)) else { return false }
      return try vault.rows.storage.chunk(0, of: value) != nil
    }
  }

  /// The long values of the rows that a merge with a pack would take.
  private mutating func wantedValues(of pack: CopyPack) throws(VaultError) -> Set<ValueID> {
    try reading { vault throws(VaultError) -> Set<ValueID> in
      let places = try vault.places(of: pack)
      var wanted: Set<ValueID> = []
      for (id, theirs) in pack.items {
        guard try theirs.hasLongValue() else { continue }
        var tag: ItemTag?
        for place in places
        where try vault.rows.look(at: place.tag, leaf: place.leaf, vault.keys).id == id {
          tag = place.tag
        }
        let mine = try vault.item(id, tag, CopyDifference(of: [], at: [])) ?? ItemCopy()
        var table = try ContentTable()
        for row in mine.rows + theirs.rows { try table.add(row) }
        let here = try table.history(of: mine.rows, mine.trace)
        let there = try table.history(of: theirs.rows, theirs.trace)
        let merged = here.taking(there)
        let opened = merged.opened(with: there, mine.rows + theirs.rows)
        let news = Set((opened ?? merged).news(since: here).map(\.stamp.id))
        for row in theirs.rows where news.contains(row.stamp.id) {
          if let value = try row.valueID() { wanted.insert(value) }
        }
      }
      return wanted
    }
  }

  /// Whether a chunk of a long value is here.
  mutating func hasChunk(_ number: UInt64, of value: ValueID) throws(VaultError) -> Bool {
    try reading { vault throws(VaultError) in
      try vault.rows.storage.chunk(number, of: value) != nil
    }
  }
}

extension ItemCopy {
  fileprivate func hasLongValue() throws(VaultError) -> Bool {
    for row in rows where try row.valueID() != nil { return true }
    return false
  }
}

extension DeviceTable {
  /// Whether a head was taken, with all that it says, and is the one that is kept.
  func holds(_ front: SyncFront) -> Bool {
    guard let note = self[front.head.device] else { return false }
    return note.taken == front.place && note.kept == front.place.id
      && note.epoch == front.head.epoch
  }

  /// The note of a device, a new one where it was never heard of.
  func noted(_ device: DeviceID) throws(VaultError) -> DeviceNote {
    if let note = self[device] { return note }
    return try fromFormat(.header, DeviceNote(device: device))
  }
}
