// SPDX-License-Identifier: MIT

internal import KuraFormat

// Heads that were written under another vault key than this vault has.

extension SyncRun {
  /// Finds out how the epoch of a head stands to this vault's: behind it, so that its device is to come, or after it.
  mutating func look(in front: SyncFront, _ vault: inout UnlockedVault) throws(SyncStop) {
    let (head, name) = (front.head, front.head.device)
    let own = try fromVault { () throws(VaultError) in try vault.epochRecord() }
    // Of who is known the head counts as one of its line, whatever key the rest of it is under.
    let isKnown = try fromVault { () throws(VaultError) in try key(of: name, in: &vault) != nil }
    // What this machine itself was in it left knowing of it.
    let isLeft = if name == device { try isOwn(front.place, &vault) == true } else { false }
    guard !own.ancestors.contains(head.epoch), !isLeft else {
      if isKnown { fronts[name] = front }
      return
    }
    guard let tip = try openedTip(of: front) else {
      try awaitRecord(of: front, own, &vault)
      return report.name(.late, name)
    }
    let record = tip.record
    switch record.standing(head.epoch, to: epoch, own) {
    case .before:
      guard isKnown else { return }
      fronts[name] = front
      if try fromVault({ () throws(VaultError) in try vault.yields(to: record) }) {
        rivals[head.epoch, default: tip].fronts.append(front)
      }
      return
    case .after:
      // Who is not known may have made all of it up, unless somebody known is in it.
      let isMakerKnown = try fromVault { () throws(VaultError) in
        try key(of: record.maker, in: &vault) == record.key
      }
      guard record.parents.contains(epoch) || isMakerKnown || isKnown else {
        return report.name(.stranger, name)
      }
      guard try isProved(record, &vault) else { return report.name(.falseEpoch, name) }
    case .beside:
      if let cut = try fromVault({ () throws(VaultError) in try vault.cut(of: tip) }) {
        return try compare(tip, cut, of: front, own, &vault)
      }
      guard isKnown else {
        try awaitMaker(of: record, own, &vault)
        return report.name(.stranger, name)
      }
    }
    isHeldBack = true
    if isKnown { fronts[name] = front }
    tips[head.epoch, default: tip].fronts.append(front)
  }

  /// Finds out whether a device that is taken out goes on in an epoch beside this one, as where each of two machines took the
  /// other one out. Of all else that it left nothing is read.
  mutating func look(
    atRemoved note: DeviceNote, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    let name = note.device
    guard let bytes = try shelf.file(.head(name), most: RemoteHead.longest),
      let head = try? RemoteHead(decoding: bytes.span),
      head.vault == vault.id, head.device == name
    else { return }
    let (front, own) = try fromVault { () throws(VaultError) in
      (try SyncFront(bytes, head), try vault.epochRecord())
    }
    guard head.epoch != epoch, !own.ancestors.contains(head.epoch) else { return }
    apart.insert(name)
    // To whoever gave that key this machine may come yet.
    guard head.key == note.key, tips[head.epoch] == nil, let tip = try openedTip(of: front),
      tip.record.standing(tip.epoch, to: epoch, own) == .beside
    else { return }
    report.name(.removedOwner, name)
  }

  /// Looks which epoch counts of two copies of one file that began to be shared apart: one that keeps passcodes out of
  /// the store before one that does not, then that of the lowest id. The others come to it.
  private mutating func compare(
    _ tip: SyncTip, _ cut: EpochCut, of front: SyncFront, _ own: EpochRecord,
    _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    let name = front.head.device
    // Who has no key may name a record that somebody made who had it.
    let isGenuine = try isProved(front, &vault)
    guard isGenuine else { return report.name(.late, name) }
    let isSparing = try fromVault { () throws(VaultError) in try vault.sparesStore() }
    guard cut.isSparing || !isSparing else { return report.name(.passcodesLeft, name) }
    report.name(.late, name)
    let isFirst = tip.record.parents.isEmpty && own.parents.isEmpty
    let counts = cut.isSparing != isSparing || tip.epoch < epoch
    guard isFirst, counts else { return }
    let isBetter =
      cut.isSparing == sameKey?.isSparing
      ? tip.epoch < sameKey?.tip.epoch ?? .last : cut.isSparing || sameKey == nil
    if isBetter { sameKey = (tip, cut.isSparing) }
  }

  /// Leaves no slot in the store before it is known whether another copy of this file keeps passcodes out of it.
  private mutating func awaitRecord(
    of front: SyncFront, _ own: EpochRecord, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    guard own.parents.isEmpty, try isProved(front, &vault) else { return }
    let isOpen = try fromVault { () throws(VaultError) in
      if try vault.sparesStore() { return false }
      return try vault.memoryOfShared().standing.slots.isEmpty
    }
    isHeldBack = isHeldBack || isOpen
  }

  /// Leaves no slot in the store where another copy of this file gave the vault a key from there, unless others are known
  /// here: what that keeps out of the store nobody can read who has not the key.
  private mutating func awaitMaker(
    of record: EpochRecord, _ own: EpochRecord, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    guard own.parents.isEmpty else { return }
    let waits = try fromVault { () throws(VaultError) in
      var isProved = false
      for parent in record.parents where !isProved {
        isProved = try fromFormat(
          .header, record.isProved(for: parent, under: vault.keys.epochProof))
      }
      guard isProved, try !vault.sparesStore() else { return false }
      let memory = try vault.memoryOfShared()
      let isAlone = try vault.tableOfShared().notes.allSatisfy { $0.device == device }
      return isAlone && !memory.awaitsSlots && memory.standing.slots.isEmpty
    }
    isHeldBack = isHeldBack || waits
  }

  /// Whether an epoch that is said to take the place of this one was begun by who had the key of this one.
  private func isProved(
    _ record: EpochRecord, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    guard record.parents.contains(epoch) else { return true }
    return try fromVault { () throws(VaultError) in
      try fromFormat(.header, record.isProved(for: epoch, under: vault.keys.epochProof))
    }
  }

  /// Whether a head of another epoch was sealed by who had the key of this one.
  private func isProved(
    _ front: SyncFront, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    try fromVault { () throws(VaultError) in try vault.report(in: front) != nil }
  }

  /// Reads the record of a head's epoch; nil where it is not here.
  private mutating func openedTip(of front: SyncFront) throws(SyncStop) -> SyncTip? {
    let head = front.head
    let most = RemoteObject.Kind.epochRecord.longest
    guard let object = try shelf.file(.object(head.device, hash: head.record), most: most),
      let body = try? RemoteObject.body(
        of: object.span, .epochRecord, in: head.epoch, named: head.record),
      let record = try? EpochRecord(decoding: body), record.vault == head.vault
    else { return nil }
    return SyncTip(epoch: head.epoch, record, object)
  }

  /// Finds out which epoch is to be entered: first those that follow this vault's, then one beside it.
  mutating func chooseEntrance(_ vault: inout UnlockedVault) throws(SyncStop) {
    let (own, beside, table) = try fromVault { () throws(VaultError) in
      (try vault.epochRecord(), try vault.besideTips(), try vault.tableOfShared())
    }
    // Whom nobody has heard of comes to who is known.
    if !reports.keys.contains(where: { $0 != device && table[$0]?.key != nil }) {
      for (epoch, tip) in rivals where tips[epoch] == nil {
        tips[epoch] = tip
        isHeldBack = true
      }
    }
    // What one beside follows is behind, also where no head has that one yet.
    let all = beside + tips.values
    let leading = tips.values.filter { tip in
      !all.contains { $0.takesThePlace(of: tip) } && !beside.contains { $0.epoch == tip.epoch }
    }.sorted { $0.epoch < $1.epoch }
    let after = leading.filter { $0.record.standing($0.epoch, to: epoch, own) == .after }
    for tip in leading {
      let isRemoved = table[tip.record.maker]?.removedAt != nil
      for front in tip.fronts {
        report.name(isRemoved ? .twoOwners : .passcodeWanted, front.head.device)
      }
    }
    var found: [(tip: SyncTip, offer: JoinOffer)] = []
    for tip in leading { if let offer = try offer(of: tip) { found.append((tip, offer)) } }
    // One that nobody can enter, as of a machine that was lost with half of it, stands in no other one's way.
    let makers = Set(found.map(\.tip.record.maker))
    var offers: [JoinOffer] = []
    for (tip, offer) in found
    where after.isEmpty || after.contains(where: { $0.epoch == tip.epoch }) {
      var offer = offer
      offer.rivals = makers.subtracting([tip.record.maker])
      offers.append(offer)
    }
    entrance = offers.first
    entrance?.others = Array(offers.dropFirst())
    // Whom this machine alone has taken out all are to take out, by another key.
    guard !beside.isEmpty || !barred.isEmpty else { return }
    isHeldBack = true
    guard leading.isEmpty else { return }
    unites = true
    report.name(.passcodeWanted, device)
  }

  /// Finds by what an epoch is entered.
  private mutating func offer(of tip: SyncTip) throws(SyncStop) -> JoinOffer? {
    for front in tip.fronts where front.head.header.contains(where: { $0 != 0 }) {
      let path = RemotePath.object(front.head.device, hash: front.head.header)
      guard let object = try shelf.file(path, most: RemoteObject.Kind.header.longest),
        let body = try? RemoteObject.body(
          of: object.span, .header, in: tip.epoch, named: front.head.header),
        let header = try? HeaderObject(decoding: body)
      else {
        report.name(.late, front.head.device)
        continue
      }
      return try? JoinOffer(header, record: tip.object, in: tip.epoch, of: front.head.vault)
    }
    return nil
  }

  /// Deletes what removed devices left, the head first, once all others have come into the epoch that removed them; who
  /// began it does that, and who is asked to leave nothing there that no vault has.
  mutating func sweep(_ vault: inout UnlockedVault) throws(SyncStop) {
    let (told, table) = try fromVault { () throws(VaultError) in
      (try vault.toldReport(by: device), try vault.tableOfShared())
    }
    let removed = Set(table.notes.filter { $0.removedAt != nil }.map(\.device))
    guard told?.report != nil, !isHeldBack, !removed.isEmpty else { return }
    let beginning = try fromVault { () throws(VaultError) in try vault.epochBeginning() }
    let gone = beginning.cut.removed.map(\.device).filter(removed.contains).sorted()
    // Who may not take them away once may not the next time; who may by then unlocks anew.
    vault.keptOfOthers.formUnion(shelf.kept)
    let left = gone.filter { !vault.keptOfOthers.contains($0) }
    if compacts { try endApart(left) }
    let isHere =
      beginning.maker == device
      || compacts && table[beginning.maker]?.taken.number ?? 0 >= beginning.cut.first
    let others = table.notes.filter { $0.isReader(but: device) }
    guard isHere, others.allSatisfy({ reports[$0.device] != nil }) else { return }
    // Their owner says which of two machines goes on.
    for name in left where !apart.contains(name) || compacts {
      if try shelf.listedHeads().contains(name) { throw .wish(.delete(.head(name))) }
      if let hash = try shelf.listedObjects(of: name).first {
        throw .wish(.delete(.object(name, hash: hash)))
      }
    }
  }

  /// Deletes the heads of those who go on apart: as long as they stand, who knows of both keys can enter neither, and
  /// who begins anew begins with theirs.
  private mutating func endApart(_ left: [DeviceID]) throws(SyncStop) {
    for name in left where apart.contains(name) {
      if try shelf.listedHeads().contains(name) { throw .wish(.delete(.head(name))) }
      report.withdraw(.removedOwner, name)
    }
  }
}

/// Names an epoch that follows this vault's, or stands beside it.
struct SyncTip {
  let epoch: DeviceTable.Epoch
  let record: EpochRecord
  /// The record as it stands in the store.
  let object: [UInt8]
  /// The heads that are in it.
  var fronts: [SyncFront] = []

  init(epoch: DeviceTable.Epoch, _ record: EpochRecord, _ object: [UInt8]) {
    (self.epoch, self.record, self.object) = (epoch, record, object)
  }

  /// Whether the other one counts no more since there is this one.
  func takesThePlace(of other: SyncTip) -> Bool {
    record.ancestors.contains(other.epoch)
      || record.parents.count > 1 && record.parents == other.record.parents && epoch < other.epoch
  }
}
