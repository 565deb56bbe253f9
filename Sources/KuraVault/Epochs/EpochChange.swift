// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Says what a vault remembers of a store once it is in another epoch.
struct EpochChange: Sendable {
  /// The epoch.
  let id: DeviceTable.Epoch
  /// Its record, as it stands in the store.
  let record: [UInt8]
  /// What of each device is in the store under it.
  let covered: RevisionVector
  /// The devices that share the vault no longer, and up to which change they count.
  let removed: [DeviceID: UInt64]
  /// Slots that open the vault, and find no room here.
  var waiting: [WaitingSlot] = []
  /// Whether another copy began it, whose slot table is to come.
  var isOthers = false
  /// Whether a round that this copy began is to be begun once more.
  var awaitsRound = false
  /// Epochs that stay beside it.
  var beside: [RemoteMemory.Beside] = []

  /// Forgets what stood in the store under the key before.
  func change(
    _ memory: inout RemoteMemory?, _ devices: inout DeviceTable
  ) throws(VaultError) {
    for (device, counter) in removed {
      var note = try devices.noted(device)
      (note.removedAt, note.complete) = (counter, min(note.complete, counter))
      guard devices.set(note) else { throw .damaged(.header) }
    }
    guard var changed = memory else { return }
    (changed.record, changed.covered) = (record, covered)
    (changed.mustRewrite, changed.mustWalk, changed.awaitsSlots) = (false, true, isOthers)
    changed.beside = beside
    changed.leavesOld = false
    if awaitsRound { changed.mustBeginRound = true }
    changed.standing = changed.standing.headAlone
    changed.pending = changed.pending?.headAlone
    memory = changed
  }
}

extension RemoteMemory.Standing {
  /// The same of which nothing stands in the store but the head.
  var headAlone: RemoteMemory.Standing {
    var standing = RemoteMemory.Standing()
    standing.place = place
    return standing
  }
}

// MARK: - Beginning an epoch

extension UnlockedVault {
  /// The epoch that a new vault key begins; nil where the vault is not shared.
  ///
  /// - Parameters:
  ///   - key: The vault key that is to be.
  ///   - removed: Who is to share the vault no longer: all that is known of them counts.
  mutating func nextEpoch(
    under key: borrowing Key, removing removed: Set<DeviceID>
  ) throws(VaultError) -> EpochChange? {
    guard try isShared() else { return nil }
    let seed = try settledSeed()
    let (table, before) = (try tableOfShared(), try epochRecord())
    let memory = try memoryOfShared()
    let parents = Set([try self.epoch()] + memory.beside.map { $0.epoch })
    let epoch = try DeviceTable.Epoch.fresh()
    var ancestors = parents.union(before.ancestors)
    for other in try besideTips() { ancestors.formUnion(other.record.ancestors) }
    guard ancestors.count <= EpochRecord.mostAncestors else { throw .tooLarge }
    var gone: [DeviceID: UInt64] = [:]
    for note in table.notes where note.device != seed.device {
      if let counter = note.removedAt { gone[note.device] = counter }
      // What others have of it counts, too.
      if removed.contains(note.device) {
        gone[note.device] = max(note.complete, memory.covered.counter(of: note.device))
      }
    }
    let first = (try newestOwnHead(seed.device)?.place.number ?? 0) + 1
    let others = table.notes.filter { $0.device != seed.device && gone[$0.device] == nil }
    let cut = EpochCut(
      removed: gone.map { EpochCut.Removed(device: $0.key, counter: $0.value) },
      taken: others.map {
        EpochCut.Taken(device: $0.device, head: $0.taken, counter: $0.complete)
      }, first: first, sparing: try sparesStore())
    let place = AssociatedData.remote(.epochRecord, vault: id, device: seed.device, epoch: epoch)
    let remote = try key.subkey(.remote, of: id)
    var record = EpochRecord(
      vault: id, maker: seed.device, parents: parents, ancestors: ancestors,
      sealed: try place.sealPadded(cut.encoded.span, under: remote, .header))
    return EpochChange(
      id: epoch, record: try signed(&record, in: epoch, by: seed), covered: RevisionVector(),
      removed: gone, awaitsRound: try awaitsRound(of: seed.device, but: gone.keys))
  }

  /// The object of a record, with the signature of its maker, and proved by the keys that the vault has to those who have
  /// that of its parents.
  mutating func signed(
    _ record: inout EpochRecord, in epoch: DeviceTable.Epoch, by seed: borrowing DeviceSeed
  ) throws(VaultError) -> [UInt8] {
    let beside = try remoteMemory()?.beside ?? []
    do throws(FormatError) {
      let body = try record.signed(with: seed.pair()) { parent throws(FormatError) in
        do throws(VaultError) {
          guard let other = beside.first(where: { $0.epoch == parent }) else {
            return try keys.epochProof.copied()
          }
          return try proofKey(of: other)
        } catch { throw error.isDamage ? .damaged : .outOfMemory }
      }
      return try RemoteObject.encode(.epochRecord, in: epoch, body: body.span)
    } catch { throw VaultError(error, about: .header) }
  }
}

// MARK: - Entering one

extension UnlockedVault {
  /// Begins to put everything under the key of an epoch that another device began. Slots of this vault that are none
  /// of that epoch end with it. Nothing is changed before ``finish(_:)-(Rekey)``.
  ///
  /// - Parameters:
  ///   - offer: What ``SyncRun/entrance`` gave.
  ///   - key: What ``JoinOffer/attempt(stateDirectory:availableMemory:)`` opened with a passcode or recovery key.
  ///   - fresh: What opened this vault just now, so that protected values can be sealed anew.
  /// - Throws: ``VaultError/copyDamaged`` for an epoch whose record the key does not open, that does not follow this
  ///   vault's, or that has the key which the vault has already;
  ///   ``VaultError/passcodesInStore`` for one that has passcodes in a store which this vault is shared without;
  ///   ``VaultError/deviceRemoved`` where this device was removed by it; ``VaultError/noProtectedHalf``; those of
  ///   ``beginRekey(authorizedBy:_:removing:)``.
  public mutating func beginEntering(
    _ offer: JoinOffer, by key: borrowing VaultKey, authorizedBy fresh: borrowing VaultKey
  ) throws(VaultError) -> Rekey {
    let oldPair = try protectedKey(from: fresh)
    let seed = try settledSeed()
    let cut = try offer.cut(under: key.payload.vaultKey)
    var removed: [DeviceID: UInt64] = [:]
    for device in cut.removed { removed[device.device] = device.counter }
    guard removed[seed.device] == nil else { throw .deviceRemoved }
    if try sparesStore(), !cut.isSparing { throw .passcodesInStore }
    guard offer.rivals.isDisjoint(with: removed.keys) else { throw .eachRemoved }
    let record = try offer.openedRecord()
    let standing = try record.standing(offer.epoch, to: epoch(), epochRecord())
    let isOver = if standing == .before { try !yields(to: record) } else { false }
    guard try offer.hasOtherKey(key.payload.vaultKey, than: fresh.payload.vaultKey), !isOver
    else { throw .copyDamaged }
    if standing == .beside { try checkMakers(record.maker, removed) }
    guard key.holdsProtectedHalf else { throw .noProtectedHalf }
    let pair = ProtectedPair(secretHalf: try key.protectedHalf(vault: id))
    let covered = RevisionVector(
      cut.taken.filter { $0.counter > 0 }.map {
        RevisionEntry(device: $0.device, counter: $0.counter)
      })
    let slots = offer.slots(opened: key.row)
    var change = EpochChange(
      id: offer.epoch, record: offer.record, covered: covered, removed: removed,
      waiting: slots.waiting, isOthers: true)
    let taken = cut.taken.first { $0.device == seed.device }?.head.number ?? 0
    change.awaitsRound = try awaitsRound(of: seed.device, but: removed.keys, taken: taken)
    change.beside = try beside(offer.epoch, record, standing, under: key.payload.vaultKey)
    // Who made it has all of its own.
    var known = covered
    known.include(
      RevisionEntry(device: record.maker, counter: RevisionEntry.counters.upperBound))
    try leaveOut(removed, followedBy: known)
    return try beginRekey(
      from: oldPair, to: key.payload.vaultKey, half: pair.publicHalf, slots.rows,
      try key.notes(beside: slots.rows), at: 0, change)
  }
}

extension EpochRecord {
  /// Reads the object of a record.
  init(object: Span<UInt8>, in epoch: DeviceTable.Epoch) throws(VaultError) {
    do throws(FormatError) {
      let body = try RemoteObject.body(
        of: object, .epochRecord, in: epoch, named: RemoteObject.name(of: object))
      try self.init(decoding: body)
    } catch { throw VaultError(error, about: .header) }
  }
}
