// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Says how an epoch stands to the one that a vault is in.
enum EpochStanding {
  /// Its machines are to come.
  case before
  /// It is to be entered.
  case after
  /// Neither follows the other: a third one brings them together.
  case beside
}

extension EpochRecord {
  /// How this record's epoch stands to another one.
  func standing(
    _ epoch: DeviceTable.Epoch, to own: DeviceTable.Epoch, _ ownRecord: EpochRecord
  ) -> EpochStanding {
    if epoch == own || ownRecord.ancestors.contains(epoch) { return .before }
    if ancestors.contains(own) { return .after }
    // Of several that brought the same ones together the lowest id counts.
    guard parents.count > 1, parents == ownRecord.parents else { return .beside }
    return epoch < own ? .after : .before
  }
}

extension UnlockedVault {
  /// Checks that no two of the epochs that are to be brought together took out each other's makers: only their owner can
  /// say which of them counts.
  ///
  /// - Parameters:
  ///   - maker: Who began the one that is entered.
  ///   - removed: Whom it took out.
  mutating func checkMakers(
    _ maker: DeviceID, _ removed: [DeviceID: UInt64]
  ) throws(VaultError) {
    let table = try tableOfShared()
    let makers = Set([try epochRecord().maker] + (try besideTips().map { $0.record.maker }))
    guard table[maker]?.removedAt == nil || makers.isDisjoint(with: removed.keys) else {
      throw .eachRemoved
    }
  }

  /// The epochs that stay beside one that is entered, the own one among them where that does not follow it.
  mutating func beside(
    _ epoch: DeviceTable.Epoch, _ record: EpochRecord, _ standing: EpochStanding,
    under vaultKey: borrowing Key
  ) throws(VaultError) -> [RemoteMemory.Beside] {
    let memory = try memoryOfShared()
    let next = try vaultKey.subkey(.sync, of: id)
    var found: [RemoteMemory.Beside] = []
    for other in memory.beside
    where other.epoch != epoch && !record.ancestors.contains(other.epoch) {
      found.append(
        try beside(other.epoch, other.record, try proofKey(of: other), under: next))
    }
    if standing == .beside {
      let proof = try keys.epochProof.copied()
      found.append(try beside(try self.epoch(), memory.record, proof, under: next))
    }
    guard found.count < EpochRecord.mostParents else { throw .tooLarge }
    return found.sorted { $0.epoch < $1.epoch }
  }

  /// The epochs beside this vault's.
  mutating func besideTips() throws(VaultError) -> [SyncTip] {
    try memoryOfShared().beside.map { other throws(VaultError) in
      SyncTip(
        epoch: other.epoch, try EpochRecord(object: other.record.span, in: other.epoch),
        other.record)
    }
  }

  private func beside(
    _ epoch: DeviceTable.Epoch, _ record: [UInt8], _ proof: consuming Key,
    under next: borrowing Key
  ) throws(VaultError) -> RemoteMemory.Beside {
    let place = AssociatedData.besideProof(vault: id, epoch: epoch)
    let bytes = proof.finish()
    return RemoteMemory.Beside(
      epoch: epoch, record: record,
      proof: try fromCrypto(
        .header, Seal.seal(bytes.bytes, authenticating: place.span, under: next)))
  }

  /// By what a record proves that its maker had the key of an epoch beside.
  func proofKey(of beside: RemoteMemory.Beside) throws(VaultError) -> Key {
    let place = AssociatedData.besideProof(vault: id, epoch: beside.epoch)
    let bytes = try fromCrypto(
      .header, Seal.open(beside.proof.span, authenticating: place.span, under: keys.sync))
    return try fromCrypto(.header, Key(copying: bytes.bytes))
  }

  /// Whether another epoch brought the same ones together as this one, which only this machine is in as far as it knows: nobody
  /// has heard of it, and who is in the other one could not tell that it made none of it up.
  mutating func yields(to record: EpochRecord) throws(VaultError) -> Bool {
    let own = try epochRecord()
    guard own.parents.count > 1, own.parents == record.parents else { return false }
    let device = try settledSeed().device
    guard own.maker == device else { return false }
    return try tableOfShared().noted(device).heard == .none
  }

  /// What an epoch took over that has the vault key of this one; nil for another key.
  func cut(of tip: SyncTip) throws(VaultError) -> EpochCut? {
    let place = AssociatedData.remote(
      .epochRecord, vault: id, device: tip.record.maker, epoch: tip.epoch)
    do throws(VaultError) {
      let plain = try place.openPadded(tip.record.sealed.span, under: keys.remote, .header)
      return try fromFormat(.header, EpochCut(decoding: plain.bytes))
    } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Takes an epoch under the present vault key for the own one, which took nothing over, as that did not.
  mutating func adopt(_ tip: SyncTip) throws(VaultError) {
    let round = try toldReport(by: settledSeed().device)?.report?.round ?? 0
    try writing { vault, draft throws(VaultError) in
      vault.keys.ring.ledger?.epoch = tip.epoch
      try vault.remember(&draft) { memory, _ in
        (memory.record, memory.covered) = (tip.object, RevisionVector())
        (memory.mustRewrite, memory.mustWalk, memory.leavesOld) = (false, true, false)
        if round > 0 { memory.mustBeginRound = true }
        memory.standing = memory.standing.headAlone
        memory.pending = memory.pending?.headAlone
        return []
      }
      try vault.storeRing(&draft)
    }
  }

  /// Devices that this vault took out and the epoch that it is in did not, and up to which change they count: that is about to
  /// be brought together with another one, or it counts before one that was brought together here, amid which they were.
  mutating func barred() throws(VaultError) -> [DeviceID: UInt64] {
    var barred: [DeviceID: UInt64] = [:]
    for note in try tableOfShared().notes { barred[note.device] = note.removedAt }
    guard !barred.isEmpty else { return [:] }
    for known in try epochBeginning().cut.removed { barred[known.device] = nil }
    return barred
  }
}
