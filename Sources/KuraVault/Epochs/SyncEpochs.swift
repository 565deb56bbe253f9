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
    guard !own.ancestors.contains(head.epoch) else {
      if isKnown { fronts[name] = front }
      return
    }
    let most = RemoteObject.Kind.epochRecord.longest
    guard let object = try shelf.file(.object(name, hash: head.record), most: most),
      let body = try? RemoteObject.body(
        of: object.span, .epochRecord, in: head.epoch, named: head.record),
      let record = try? EpochRecord(decoding: body), record.vault == vault.id
    else { return report.name(.late, name) }
    // Who is not known may have made all of it up.
    guard record.ancestors.contains(epoch) else {
      guard isKnown else { return report.name(.late, name) }
      // Neither follows the other.
      isHeldBack = true
      return report.name(.twoOwners, name)
    }
    let isMakerKnown = try fromVault { () throws(VaultError) in
      try key(of: record.maker, in: &vault) == record.key
    }
    guard record.parents.contains(epoch) || isMakerKnown else { return report.name(.late, name) }
    let isProved = try fromVault { () throws(VaultError) in
      guard record.parents.contains(epoch) else { return true }
      return try fromFormat(
        .header, record.isProved(for: epoch, under: vault.keys.epochProof))
    }
    guard isProved else { return report.name(.falseEpoch, name) }
    isHeldBack = true
    if isKnown { fronts[name] = front }
    try note(SyncTip(epoch: head.epoch, record, object), front)
  }

  /// Remembers by what a later epoch is entered; of several that follow one another the last.
  private mutating func note(_ tip: SyncTip, _ front: SyncFront) throws(SyncStop) {
    let name = front.head.device
    report.name(.passcodeWanted, name)
    if let known = self.tip {
      if known.record.ancestors.contains(tip.epoch) { return }
      guard known.epoch == tip.epoch || tip.record.ancestors.contains(known.epoch) else {
        (isForked, entrance) = (true, nil)
        return report.name(.twoOwners, name)
      }
    }
    // Whoever else is in one of them, there is no one key to enter.
    guard !isForked else { return }
    if self.tip?.epoch != tip.epoch { (self.tip, entrance) = (tip, nil) }
    guard entrance == nil, front.head.header.contains(where: { $0 != 0 }) else { return }
    let path = RemotePath.object(name, hash: front.head.header)
    guard let object = try shelf.file(path, most: RemoteObject.Kind.header.longest),
      let body = try? RemoteObject.body(
        of: object.span, .header, in: tip.epoch, named: front.head.header),
      let header = try? HeaderObject(decoding: body)
    else { return report.name(.late, name) }
    entrance = try? JoinOffer(
      header, record: tip.object, in: tip.epoch, of: front.head.vault)
  }

  /// Deletes what removed devices left, the head first, once all others have come into the epoch that removed them; who
  /// began it does that.
  mutating func sweep(_ vault: inout UnlockedVault) throws(SyncStop) {
    let (record, told, table) = try fromVault { () throws(VaultError) in
      (
        try vault.epochRecord(), try vault.toldReport(by: device), try vault.tableOfShared()
      )
    }
    let others = table.notes.filter { $0.isReader(but: device) }
    guard record.maker == device, told?.report != nil, !isHeldBack,
      others.allSatisfy({ reports[$0.device] != nil })
    else { return }
    for note in table.notes where note.removedAt != nil && note.device != device {
      let head = RemotePath.head(note.device)
      if try shelf.listedHeads().contains(note.device) { throw .wish(.delete(head)) }
      if let hash = try shelf.listedObjects(of: note.device).first {
        throw .wish(.delete(.object(note.device, hash: hash)))
      }
    }
  }
}

/// Names an epoch that follows this vault's.
struct SyncTip {
  let epoch: DeviceTable.Epoch
  let record: EpochRecord
  /// The record as it stands in the store.
  let object: [UInt8]

  init(epoch: DeviceTable.Epoch, _ record: EpochRecord, _ object: [UInt8]) {
    (self.epoch, self.record, self.object) = (epoch, record, object)
  }
}
