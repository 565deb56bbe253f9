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
    changed.standing = changed.standing.headAlone
    changed.pending = changed.pending?.headAlone
    memory = changed
  }
}

extension RemoteMemory.Standing {
  /// The same of which nothing stands in the store but the head.
  fileprivate var headAlone: RemoteMemory.Standing {
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
    let parent = try epoch()
    let epoch = try DeviceTable.Epoch.fresh()
    var gone: [DeviceID: UInt64] = [:]
    for note in table.notes where note.device != seed.device {
      if let counter = note.removedAt { gone[note.device] = counter }
      if removed.contains(note.device) { gone[note.device] = note.complete }
    }
    let first = (try newestOwnHead(seed.device)?.place.number ?? 0) + 1
    let others = table.notes.filter { $0.device != seed.device && gone[$0.device] == nil }
    let cut = EpochCut(
      removed: gone.map { EpochCut.Removed(device: $0.key, counter: $0.value) },
      taken: others.map {
        EpochCut.Taken(device: $0.device, head: $0.taken, counter: $0.complete)
      }, first: first)
    let place = AssociatedData.remote(.epochRecord, vault: id, device: seed.device, epoch: epoch)
    let remote = try key.subkey(.remote, of: id)
    var record = EpochRecord(
      vault: id, maker: seed.device, parents: [parent],
      ancestors: Set(before.ancestors).union([parent]),
      sealed: try place.sealPadded(cut.encoded.span, under: remote, .header))
    return EpochChange(
      id: epoch, record: try signed(&record, in: epoch, by: seed), covered: RevisionVector(),
      removed: gone)
  }

  /// The object of a record, with the signature of its maker, and proved by the key that the vault has to those who have
  /// that of its parents.
  func signed(
    _ record: inout EpochRecord, in epoch: DeviceTable.Epoch, by seed: borrowing DeviceSeed
  ) throws(VaultError) -> [UInt8] {
    do throws(FormatError) {
      let body = try record.signed(with: seed.pair()) { _ throws(FormatError) in
        do { return try keys.epochProof.copied() } catch { throw .outOfMemory }
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
    guard try offer.follows(try epoch(), of: key.payload.vaultKey, fresh.payload.vaultKey) else {
      throw .copyDamaged
    }
    guard key.holdsProtectedHalf else { throw .noProtectedHalf }
    let pair = ProtectedPair(secretHalf: try key.protectedHalf(vault: id))
    let covered = cut.taken.filter { $0.counter > 0 }.map {
      RevisionEntry(device: $0.device, counter: $0.counter)
    }
    let slots = offer.slots(opened: key.row)
    let change = EpochChange(
      id: offer.epoch, record: offer.record, covered: RevisionVector(covered), removed: removed,
      waiting: slots.waiting, isOthers: true)
    var notes = SlotNotes()
    notes.set(try key.note())
    return try beginRekey(
      from: oldPair, to: key.payload.vaultKey, half: pair.publicHalf, slots.rows, notes, at: 0,
      change)
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
