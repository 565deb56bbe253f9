// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

// Which heads there are, and which of them are to be believed.

extension SyncRun {
  /// Reads the heads that the store names, and those of all devices that are known.
  mutating func readHeads(_ vault: inout UnlockedVault) throws(SyncStop) {
    let table = try fromVault { () throws(VaultError) in try vault.tableOfShared() }
    let listed = try shelf.listedHeads()
    let known = table.notes.filter { $0.removedAt == nil }.map(\.device)
    // Who is known comes first, however many others somebody makes up.
    let others = Set(listed).subtracting(known).filter { table[$0]?.removedAt == nil }
    let names = Set(known + [device]).sorted() + others.subtracting([device]).sorted()
    for name in names.prefix(known.count + HeadReport.mostDevices) where !looked.contains(name) {
      try look(at: name, &vault)
      looked.insert(name)
    }
    if let tip = sameKey.take()?.tip {
      try fromVault { () throws(VaultError) in try vault.adopt(tip) }
      epoch = tip.epoch
      (fronts, reports, looked, tips) = ([:], [:], [], [:])
      (report.findings, isHeldBack) = ([], false)
      return try readHeads(&vault)
    }
    for note in table.notes where note.removedAt != nil && listed.contains(note.device) {
      try look(atRemoved: note, &vault)
    }
  }

  /// Reads one head, as far as it can be read.
  mutating func look(at name: DeviceID, _ vault: inout UnlockedVault) throws(SyncStop) {
    (fronts[name], reports[name]) = (nil, nil)
    guard let bytes = try shelf.file(.head(name), most: RemoteHead.longest) else { return }
    guard let head = try? RemoteHead(decoding: bytes.span) else {
      guard !RemoteHead.isNewer(bytes.span) else { return report.name(.newer, name) }
      // Of the own one that was cut off it is told that it is written again.
      guard name != device || !RemoteHead.isCut(bytes.span) else { return }
      return report.name(RemoteHead.isCut(bytes.span) ? .late : .forged, name)
    }
    let known = try fromVault { () throws(VaultError) in try key(of: name, in: &vault) }
    guard head.vault == vault.id else { return report.name(.otherVault, name) }
    guard head.device == name else { return report.name(.swapped, name) }
    guard known == nil || head.key == known else { return report.name(.otherKey, name) }
    let front = try fromVault { () throws(VaultError) in try SyncFront(bytes, head) }
    guard head.epoch == epoch else { return try look(in: front, &vault) }
    guard let inner = try fromVault({ () throws(VaultError) in try vault.report(in: front) }) else {
      return report.name(.forged, name)
    }
    (fronts[name], reports[name]) = (front, inner)
  }

  /// What a device's heads are signed with; nil where that is not known yet.
  func key(
    of name: DeviceID, in vault: inout UnlockedVault
  ) throws(VaultError) -> [UInt8]? {
    if name == device { return try fromFormat(.header, seed.pair()).publicHalf }
    return try vault.tableOfShared()[name]?.key
  }
}

extension UnlockedVault {
  /// What stands sealed in a head; nil where that is not what its writer has sealed.
  func report(in front: SyncFront) throws(VaultError) -> HeadReport? {
    let place = AssociatedData.remote(
      nil, vault: id, device: front.head.device, epoch: front.head.epoch)
    do throws(VaultError) {
      let plain = try place.openPadded(front.head.sealed.span, under: keys.remote, .header)
      return try fromFormat(.header, HeadReport(decoding: plain.bytes))
    } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }
}

// MARK: - Believing

/// Says what is to be done with a head.
enum SyncVerdict {
  /// It is taken.
  case fits
  /// It waits for something that is to come.
  case waits
  /// There are two lines of one device.
  case twin
  /// It is older than one that was taken.
  case back
  /// It is another machine's, that has given the id up.
  case over
}

extension SyncRun {
  /// Whether the head of a device that is at hand is to be taken.
  mutating func judge(
    _ name: DeviceID, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> SyncVerdict {
    guard let front = fronts[name], let inner = reports[name] else { return .waits }
    let table = try fromVault { () throws(VaultError) in try vault.tableOfShared() }
    let note = table[name]
    let (taken, heard) = (note?.taken ?? .none, note?.heard ?? .none)
    if try isVoid(front.place, of: name, &vault) { return .over }
    if front.place.number < taken.number { return .back }
    if front.place.number < heard.number { return .waits }
    for place in [taken, heard] where place != .none {
      guard let isIn = try holds(place, front) else { return .waits }
      guard isIn else { return .twin }
    }
    var isWaiting = false
    for seen in inner.seen where table[seen.device]?.removedAt == nil {
      switch try judge(hearsay: seen.heard, of: seen.device, table[seen.device], &vault) {
      case .twin: return .twin
      case .waits: isWaiting = true
      case .fits, .back, .over: break
      }
    }
    return isWaiting ? .waits : .fits
  }

  /// Whether what a head has seen of a third device is on the line that is known of that one.
  private mutating func judge(
    hearsay place: HeadPlace, of name: DeviceID, _ note: DeviceNote?,
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> SyncVerdict {
    let heard = note?.heard ?? .none
    if place == .none || place == heard { return .fits }
    if name == device {
      switch try isOwn(place, &vault) {
      case .some(true): return .fits
      case .some(false): return .twin
      case .none: return .waits
      }
    }
    if try isVoid(place, of: name, &vault) { return .waits }
    if place.number == heard.number { return .twin }
    if let verdict = try judge(place, beyond: heard, by: fronts[name], &vault) { return verdict }
    // Of as many machines as there are each has heard of all others: to read and check what is kept of one takes longer
    // than all else, and is seldom needed.
    let kept = try fromVault { () throws(VaultError) in try vault.keptFront(of: name) }
    if let verdict = try judge(place, beyond: heard, by: kept, &vault) { return verdict }
    return heard == .none ? .fits : .waits
  }

  /// The same by a head of that device; nil where that says nothing of it.
  private mutating func judge(
    _ place: HeadPlace, beyond heard: HeadPlace, by front: SyncFront?,
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> SyncVerdict? {
    guard let front, try !isVoid(front.place, of: front.head.device, &vault),
      place.number <= front.place.number
    else { return nil }
    if heard != .none, try holds(heard, front) != true { return nil }
    guard let isIn = try holds(place, front) else { return .waits }
    return isIn ? .fits : .twin
  }

  /// Whether a head is of another line than those that are remembered of its device.
  mutating func parts(
    _ front: SyncFront, from note: DeviceNote?, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    guard let note, try !isVoid(front.place, of: note.device, &vault) else { return false }
    for place in [note.taken, note.heard]
    where place != .none && place.number <= front.place.number {
      if try holds(place, front) == false { return true }
    }
    return false
  }

  /// Whether a head is one that another machine wrote under an id that it gave up.
  private func isVoid(
    _ place: HeadPlace, of name: DeviceID, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    let memory = try fromVault { () throws(VaultError) in try vault.remoteMemory() }
    return memory?.was.contains { $0.former == name && $0.void.contains(place) } ?? false
  }

  /// Whether a head is that one, or one that its device wrote before; nil where that cannot be told yet.
  mutating func holds(
    _ place: HeadPlace, _ front: SyncFront
  ) throws(SyncStop) -> Bool? {
    guard place.number < front.place.number else { return place == front.place }
    let index = Int(place.number - 1)
    let (block, offset) = index.quotientAndRemainder(dividingBy: RemoteBlock.count)
    guard block < front.head.chains.count else {
      return offset < front.head.former.count && front.head.former[offset] == place.id
    }
    return try chain(front, block).map { $0[offset] == place.id }
  }

  /// The ids that a chain names which a head does; nil where it is not here.
  mutating func chain(_ front: SyncFront, _ block: Int) throws(SyncStop) -> [HeadID]? {
    let hash = front.head.chains[block]
    let most = RemoteObject.Kind.chain.longest
    guard let bytes = try shelf.file(.object(front.head.device, hash: hash), most: most),
      let body = try? RemoteObject.body(of: bytes.span, .chain, in: nil, named: hash)
    else { return nil }
    return try? RemoteBlock.decode(body, isWhole: true)
  }

  /// Whether a head is one of this device's own; nil where that cannot be told.
  mutating func isOwn(
    _ place: HeadPlace, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool? {
    guard let last = try fromVault({ () throws(VaultError) in try vault.newestOwnHead(device) })
    else { return false }
    return try holds(place, last)
  }
}

extension UnlockedVault {
  /// The last head of a device that was believed; nil before the first.
  mutating func keptFront(of device: DeviceID) throws(VaultError) -> SyncFront? {
    guard let bytes = try keptHead(of: device) else { return nil }
    return try SyncFront(kept: bytes)
  }

  /// The last own head that was going to be written, whether it arrived or not.
  mutating func newestOwnHead(_ device: DeviceID) throws(VaultError) -> SyncFront? {
    if let pending = try keptFront(of: .zero) { return pending }
    return try keptFront(of: device)
  }
}
