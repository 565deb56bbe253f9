// SPDX-License-Identifier: MIT

internal import KuraFormat

// What this device itself has in the store: its head, and what that names.

extension SyncRun {
  /// Finds out whether the own head in the store is the one that was written last, or was being written.
  mutating func settleOwn(_ vault: inout UnlockedVault) throws(SyncStop) {
    // Another copy may have come to the same id.
    while true {
      var isTurned = try turnAlong(&vault)
      if isTurned == nil {
        guard let told = try foreignOwn(&vault) else { return }
        isTurned = try turn(from: told, &vault)
      }
      guard isTurned == true else {
        report.name(.late, device)
        isHeldBack = true
        return
      }
    }
  }

  /// Finds heads under the own id that neither this machine wrote nor one that has given the id up; nil for none.
  private mutating func foreignOwn(
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> [HeadPlace]? {
    if !looked.contains(device) {
      try look(at: device, &vault)
      looked.insert(device)
    }
    let memory = try fromVault { () throws(VaultError) in try vault.memoryOfShared() }
    let place = fronts[device]?.place ?? .none
    if place != .none, place == memory.pending?.place {
      try fromVault { () throws(VaultError) in try vault.noteArrival(of: place, by: device) }
    } else if place == .none, memory.standing.place != .none {
      report.name(.ownHeadGone, device)
      renews = true
    } else if place != .none, place != memory.standing.place, try isOwn(place, &vault) == true {
      report.name(.ownHeadBack, device)
      renews = true
    }
    var told = Set(reports.values.flatMap(\.seen).filter { $0.device == device }.map(\.heard))
    told.insert(place)
    told.remove(.none)
    // Who wrote those has another id already, and leaves this one to who goes on under it.
    for void in try givenUp(&vault).intersection(told) {
      guard try isOwn(void, &vault) == false else { continue }
      told.remove(void)
      guard void == place else { continue }
      report.name(.ownHeadBack, device)
      renews = true
    }
    var foreign: [HeadPlace] = []
    for place in told.sorted() {
      switch try isOwn(place, &vault) {
      case .some(true): continue
      case .some(false): foreign.append(place)
      case .none:
        report.name(.late, device)
        isHeldBack = true
      }
    }
    guard !foreign.isEmpty else { return nil }
    report.name(.twin, device)
    return foreign
  }

  /// The heads that others wrote under the own id before they gave it up, as far as anybody says so.
  private func givenUp(_ vault: inout UnlockedVault) throws(SyncStop) -> Set<HeadPlace> {
    let memory = try fromVault { () throws(VaultError) in try vault.memoryOfShared() }
    let known = memory.was + reports.values.flatMap(\.was)
    return Set(known.filter { $0.former == device }.flatMap(\.void))
  }

  /// Looks whether all is there that the own head names, or the next one is going to; what was lost is written again.
  mutating func lookAfterOwn(_ vault: inout UnlockedVault) throws(SyncStop) {
    let (memory, told) = try fromVault { () throws(VaultError) in
      (try vault.memoryOfShared(), try vault.toldReport(by: device))
    }
    guard !isHeldBack else { return }
    let held = try fromVault { () throws(VaultError) in try vault.places() }
      .filter(\.isHeld).map(\.place)
    let lostPlaces = try lostPlaces(among: held)
    guard let told, let report = told.report else {
      // All is sealed anew, and with it what was lost.
      return try fromVault { () throws(VaultError) in try vault.cut(lostPlaces, of: device) }
    }
    let record = try fromVault { () throws(VaultError) in
      try fromFormat(.header, RemoteObject.name(of: memory.record.span))
    }
    var isLost = false
    for pack in report.packs where !isLost {
      isLost = try !isThere(pack.hash, most: Int(pack.length), isSealedAnew: true)
    }
    let header = told.front.head.header
    let hasHeader = header.contains { $0 != 0 }
    let mostHeader = RemoteObject.Kind.header.longest
    let lostHeader = if hasHeader { try !isThere(header, most: mostHeader) } else { false }
    for (index, hash) in told.front.head.journals.enumerated() where lostJournal == nil {
      if try !isThere(hash, most: RemoteObject.Kind.journal.longest) { lostJournal = index }
    }
    for value in held.map(\.value) where value.device != device {
      let listed = try shelf.listedObjects(of: value.device)
      missing.formUnion(value.pieces.map(\.hash).filter { !listed.contains($0) })
    }
    if try !isThere(record, most: RemoteObject.Kind.epochRecord.longest) {
      throw .wish(.write(.object(device, hash: record), memory.record))
    }
    // What no head has named yet is lost to nobody.
    isLost = isLost || lostPlaces.contains(where: \.isWhole)
    guard isLost || lostHeader || lostJournal != nil else {
      return try fromVault { () throws(VaultError) in try vault.cut(lostPlaces, of: device) }
    }
    self.report.name(.ownFilesGone, device)
    renews = true
    try fromVault { () throws(VaultError) in
      try vault.remember { memory, _ in
        if isLost { memory.mustRewrite = true }
        if lostHeader { memory.standing.slots = [] }
        return []
      }
      // After that: who was killed between looks again.
      try vault.cut(lostPlaces, of: device)
    }
  }

  /// The long values of which the store has not all pieces that this device wrote: it may have lost them before any
  /// head named them, as a database does that is left before the end of a transaction, and a folder.
  private mutating func lostPlaces(among held: [ValuePlace]) throws(SyncStop) -> [LostPlace] {
    var lost: [LostPlace] = []
    for place in held where place.value.device == device {
      let pieces = place.value.pieces
      for (index, piece) in pieces.enumerated()
      where try !isThere(piece.hash, most: Int(piece.length)) {
        let left = Array(pieces[..<index])
        lost.append(LostPlace(value: place.value.value, left: left, isWhole: place.isWhole))
        break
      }
    }
    return lost
  }

  /// Whether an object of one's own is in the store; a list may leave one out. Where all is sealed anew what is not
  /// sealed anew is looked at as well, and taken away where it is not what was written: then it is lost.
  private mutating func isThere(
    _ hash: [UInt8], most: Int, isSealedAnew: Bool = false
  ) throws(SyncStop) -> Bool {
    let isListed = try shelf.listedObjects(of: device).contains(hash)
    if isListed, isSealedAnew || !proves || sound.contains(hash) { return true }
    let path = RemotePath.object(device, hash: hash)
    let bytes = try shelf.file(path, most: most)
    let name = try fromVault { () throws(VaultError) -> [UInt8]? in
      guard let bytes else { return nil }
      return try fromFormat(.header, RemoteObject.name(of: bytes.span))
    }
    guard name == hash else {
      if isListed { throw .wish(.delete(path)) }
      return false
    }
    shelf.list(hash, of: device)
    sound.insert(hash)
    return true
  }

  /// Deletes what the own head condemns and all others have acknowledged.
  mutating func clean(_ vault: inout UnlockedVault) throws(SyncStop) {
    let (memory, told, table) = try fromVault { () throws(VaultError) in
      (
        try vault.memoryOfShared(), try vault.toldReport(by: device),
        try vault.tableOfShared()
      )
    }
    guard let told = told?.report, memory.pending == nil, !isHeldBack else { return }
    let others = table.notes.filter { $0.isReader(but: device) }.map(\.device)
    let listed = try shelf.listedObjects(of: device)
    for object in told.condemned where listed.contains(object.hash) {
      let isAcknowledged = others.allSatisfy { other in
        reports[other]?.acknowledges(device, object.number) ?? false
      }
      guard isAcknowledged else { continue }
      throw .wish(.delete(.object(device, hash: object.hash)))
    }
  }
}

/// Says of a long value of which the store has lost a piece how far it is still there.
private struct LostPlace {
  let value: ValueID
  /// The pieces before the first that is lost.
  let left: [PackedValue.Piece]
  /// Whether all pieces had been written, so that a head may name them.
  let isWhole: Bool
}

/// Holds the last own head that arrived.
struct SyncTold {
  let front: SyncFront
  /// What it says; nil where that was in another epoch.
  let report: HeadReport?
}

extension DeviceNote {
  /// Whether another device has been heard of, and not removed: one that may need what is condemned.
  func isReader(but own: DeviceID) -> Bool { device != own && removedAt == nil && heard != .none }
}

extension HeadReport {
  /// What it says of a device; nil for nothing.
  func seen(of device: DeviceID) -> Seen? { seen.first { $0.device == device } }

  /// Whether its writer has taken all of a device's head of that number.
  func acknowledges(_ device: DeviceID, _ number: UInt64) -> Bool {
    seen(of: device).map { $0.taken.number >= number } ?? false
  }
}

extension UnlockedVault {
  /// Notes how far long values still stand in the store: a push goes on from there.
  fileprivate mutating func cut(_ places: [LostPlace], of device: DeviceID) throws(VaultError) {
    for place in places {
      if place.left.isEmpty {
        try deletePlace(of: place.value)
      } else {
        try note(PackedValue(place.value, of: device, in: place.left), isWhole: false)
      }
    }
  }

  /// What is remembered of the store.
  ///
  /// - Throws: ``VaultError/notShared``.
  mutating func memoryOfShared() throws(VaultError) -> RemoteMemory {
    guard let memory = try remoteMemory() else { throw .notShared }
    return memory
  }

  /// What is known of the devices that share the vault.
  ///
  /// - Throws: ``VaultError/notShared``.
  mutating func tableOfShared() throws(VaultError) -> DeviceTable {
    guard let table = try deviceTable() else { throw .notShared }
    return table
  }

  /// The last own head that arrived, and what it says, if it is of this epoch; nil before the first.
  mutating func toldReport(by device: DeviceID) throws(VaultError) -> SyncTold? {
    guard let front = try keptFront(of: device) else { return nil }
    guard try front.head.epoch == epoch() else { return SyncTold(front: front, report: nil) }
    guard let report = try report(in: front) else { throw .damaged(.header) }
    return SyncTold(front: front, report: report)
  }

  /// Notes that the head that was being written is in the store, if no other engine has.
  ///
  /// - Parameter place: The head's.
  /// - Throws: ``VaultError/busy`` where another engine has written the next one; those of the file.
  mutating func noteArrival(of place: HeadPlace, by device: DeviceID) throws(VaultError) {
    let front = try keptFront(of: .zero)
    // Of an epoch that is left by now it has nothing that counts.
    var told: HeadReport?
    if let front, try front.head.epoch == epoch() { told = try report(in: front) }
    try remember { [told] memory, _ throws(VaultError) in
      guard memory.standing.place != place else { return [] }
      guard let pending = memory.pending, pending.place == place else { throw .busy }
      guard let front, front.place == place else { throw .damaged(.header) }
      memory.standing = pending
      memory.pending = nil
      if let told {
        memory.covered.formUnion(told.covered)
        memory.mustRewrite = told.packs.count > Int(pending.packBase) + SyncPush.mostPacksMore
        if told.round == place.number { memory.mustBeginRound = false }
      }
      return [KeptHead(device: device, bytes: front.bytes), KeptHead(device: .zero, bytes: nil)]
    }
  }
}
