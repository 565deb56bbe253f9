// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Names what stands in the store beside packs, for a head that is about to be written.
struct SyncPushRest {
  var chains: [[UInt8]] = []
  var former: [HeadID] = []
  var journals: [[UInt8]] = []
  /// The own changes that no journal has, sealed.
  var own: [UInt8] = []
  var record: [UInt8] = []
  /// The header object and the slots in it.
  var header = [UInt8](repeating: 0, count: RemoteObject.nameByteCount)
  var slots: [SlotID] = []
  var evidence: [HeadReport.Evidence] = []
}

// What a head says, and the objects that it names beside packs.

extension SyncRun {
  /// Puts the objects that the head is going to name into the outbox.
  mutating func draftRest(
    _ push: SyncPush, _ vault: inout UnlockedVault
  ) throws(VaultError) -> SyncPushRest {
    var rest = SyncPushRest()
    try draftChain(push, &rest)
    try draftJournals(push, &rest, &vault)
    let memory = try vault.memoryOfShared()
    rest.record = try fromFormat(.header, RemoteObject.name(of: memory.record.span))
    if push.told?.front.head.epoch != epoch { _ = try push.add(memory.record, of: device) }
    if let header = try vault.headerObject() {
      rest.slots = header.ids
      if let told = push.told, told.report != nil, rest.slots == memory.standing.slots {
        rest.header = told.front.head.header
      } else {
        let body = header.encoded
        let object = try fromFormat(
          .header, RemoteObject.encode(.header, in: epoch, body: body.span))
        rest.header = try push.add(object, of: device)
      }
    }
    for found in try evidence(&vault) {
      _ = try push.add(found.bytes, of: device)
      rest.evidence.append(HeadReport.Evidence(device: found.device, hash: found.hash))
    }
    return rest
  }

  /// Names all heads that were written before, by the thousand.
  private func draftChain(_ push: SyncPush, _ rest: inout SyncPushRest) throws(VaultError) {
    guard let before = push.before else { return }
    (rest.chains, rest.former) = (before.head.chains, before.head.former + [before.place.id])
    guard rest.former.count == RemoteBlock.count else { return }
    let body = RemoteBlock.encode(rest.former)
    let object = try fromFormat(
      .header, RemoteObject.encode(.chain, in: epoch, body: body.span))
    rest.chains.append(try push.add(object, of: device))
    rest.former = []
  }

  /// Says to the device itself, and to whoever has become a copy of it, what it has changed.
  private mutating func draftJournals(
    _ push: SyncPush, _ rest: inout SyncPushRest, _ vault: inout UnlockedVault
  ) throws(VaultError) {
    let key = try fromFormat(.header, seed.ownKey())
    rest.journals = push.told?.front.head.journals ?? []
    if let lostJournal { rest.journals.removeLast(rest.journals.count - lostJournal) }
    var after = UInt64(rest.journals.count * RemoteBlock.count)
    var ids = try vault.ownChanges(after: after, through: push.count)
    while ids.count >= RemoteBlock.count {
      let body = try seal(Array(ids.prefix(RemoteBlock.count)), after: after, under: key, vault.id)
      let object = try fromFormat(
        .header, RemoteObject.encode(.journal, in: epoch, body: body.span))
      rest.journals.append(try push.add(object, of: device))
      ids.removeFirst(RemoteBlock.count)
      after += UInt64(RemoteBlock.count)
    }
    rest.own = try seal(ids, after: after, under: key, vault.id)
  }

  private func seal(
    _ ids: [RevisionID], after: UInt64, under key: borrowing Key, _ vault: VaultID
  ) throws(VaultError) -> [UInt8] {
    let place = AssociatedData.ownChanges(after: after, vault: vault, device: device)
    return try place.sealPadded(RemoteBlock.encode(ids).span, under: key, .header)
  }

  /// Notes the head that is going to be written, and puts it into the outbox.
  mutating func noteHead(
    _ push: SyncPush, _ rest: SyncPushRest, _ listed: Set<[UInt8]>, _ vault: inout UnlockedVault
  ) throws(VaultError) {
    let inner = try draftReport(push, rest, listed, &vault)
    let seal = AssociatedData.remote(nil, vault: vault.id, device: device, epoch: epoch)
    var head = RemoteHead(vault: vault.id, device: device, epoch: epoch)
    head.number = push.number
    (head.record, head.header) = (rest.record, rest.header)
    (head.chains, head.former, head.journals) = (rest.chains, rest.former, rest.journals)
    head.own = rest.own
    head.sealed = try seal.sealPadded(inner.encoded.span, under: vault.keys.remote, .header)
    let bytes = head.signed(with: try fromFormat(.header, seed.pair()))
    guard bytes.count <= RemoteHead.longest else { throw .tooLarge }
    let front = try SyncFront(bytes, head)
    let isUndisturbed = vault.trust.root.epoch == push.rootEpoch
    let base = push.isRewrite ? push.packs.count : Int(try vault.memoryOfShared().standing.packBase)
    try vault.remember { memory, _ throws(VaultError) in
      // Another engine of this vault may have written one meanwhile.
      let newest = (memory.pending ?? memory.standing).place
      guard newest == push.before?.place ?? .none else { throw .busy }
      var pending = RemoteMemory.Standing()
      (pending.place, pending.packBase) = (front.place, UInt16(base))
      (pending.slots, pending.vouched) = (rest.slots, push.vouched)
      memory.pending = pending
      if isUndisturbed { memory.mustWalk = false }
      return [KeptHead(device: .zero, bytes: bytes)]
    }
    push.outbox.append((.head(device), bytes))
    push.noted = front.place
  }

  private mutating func draftReport(
    _ push: SyncPush, _ rest: SyncPushRest, _ listed: Set<[UInt8]>, _ vault: inout UnlockedVault
  ) throws(VaultError) -> HeadReport {
    let (memory, table) = (try vault.memoryOfShared(), try vault.tableOfShared())
    let others = table.notes.filter { $0.device != device && $0.removedAt == nil }
    var report = HeadReport(count: push.count)
    report.time = vault.options.now()
    (report.round, report.rounds) = (push.rounds.own, push.rounds.others)
    if let fingerprint = try fingerprint(push, &vault) { report.fingerprint = fingerprint }
    report.label = table[device]?.label ?? []
    report.packs = push.packs
    report.seen = others.map { note in
      HeadReport.Seen(
        device: note.device, heard: note.heard, taken: note.taken,
        key: note.key ?? [UInt8](repeating: 0, count: 32))
    }
    report.covered = memory.covered
    if push.count > 0 {
      report.covered.include(RevisionEntry(device: device, counter: push.count))
    }
    for note in others where note.complete > 0 {
      report.covered.include(RevisionEntry(device: note.device, counter: note.complete))
    }
    report.evidence = rest.evidence
    report.was = memory.was
    report.condemned = try condemned(push, rest, listed, &vault)
    return report
  }

  /// What stands in the store of this device's, and is of no use any more.
  private func condemned(
    _ push: SyncPush, _ rest: SyncPushRest, _ listed: Set<[UInt8]>, _ vault: inout UnlockedVault
  ) throws(VaultError) -> [HeadReport.Condemned] {
    var used = Set(push.packs.map(\.hash) + rest.chains + rest.journals)
    used.formUnion([rest.header, rest.record])
    used.formUnion(push.uploaded.values.flatMap(\.pieces).map(\.hash))
    used.formUnion(rest.evidence.map(\.hash))
    for known in try vault.places() where known.place.value.device == device {
      if known.isHeld {
        used.formUnion(known.place.value.pieces.map(\.hash))
      } else {
        try vault.deletePlace(of: known.place.value.value)
      }
    }
    // What a push wrote that came to nothing is named by no head.
    let all = push.condemned.filter { listed.contains($0.key) }.merging(
      listed.map { ($0, push.number) }, uniquingKeysWith: { first, _ in first })
    return all.filter { !used.contains($0.key) }
      .map { HeadReport.Condemned(hash: $0.key, number: $0.value) }
      .sorted { $0.hash.lexicographicallyPrecedes($1.hash) }
      .prefix(HeadReport.mostCondemned).map { $0 }
  }
}

extension UnlockedVault {
  /// The revisions that own changes made, one for each counter; zeros for a change that made none.
  fileprivate mutating func ownChanges(
    after: UInt64, through last: UInt64
  ) throws(VaultError) -> [RevisionID] {
    guard after < last else { return [] }
    var ids = [RevisionID](repeating: .zero, count: Int(last - after))
    for record in try journalRecords(after: after) where record.counter <= last {
      ids[Int(record.counter - after - 1)] = record.revision
    }
    return ids
  }

  /// The header and the slots that open the vault elsewhere, as far as the store is to get them; nil where there are
  /// none.
  mutating func headerObject() throws(VaultError) -> HeaderObject? {
    if try remoteMemory()?.awaitsSlots == true { return nil }
    let rows = trust.slots.map {
      WaitingSlot(header: $0.header, key: $0.key, protected: $0.protected)
    }
    let waiting = keys.ring.ledger?.waiting ?? []
    let slots = HeaderObject.travelling(rows + waiting, sparing: try sparesStore())
    return slots.isEmpty ? nil : try fromFormat(.slot, HeaderObject(header, slots: slots))
  }
}
