// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Holds what is being written for others, until the head that names it is in the store.
final class SyncPush {
  /// How many packs there may be beyond those that all was sealed anew into, before that is done again.
  static let mostPacksMore = 64
  /// After how many pieces of a long value it is noted how far it is.
  static let piecesBetweenNotes = 16

  /// Lists items that go into packs, and what of them.
  struct Load {
    let items: [PackableItem]
    let coverage: PackCoverage
    /// The number of the head that the packs count as new with.
    let number: UInt64
  }

  /// Is a long value whose pieces are written.
  struct Upload {
    let value: ValueID
    var pieces: [PackedValue.Piece]
  }

  /// The own head before this one, arrived or not.
  let before: SyncFront?
  /// The last one that arrived, and what it says.
  let told: SyncTold?
  /// All own changes up to it go out.
  let count: UInt64
  /// The root that it began with.
  let rootEpoch: UInt64
  /// Whether all of one's own is sealed anew.
  let isRewrite: Bool
  /// The rounds that its head tells of.
  let rounds: SyncRounds
  /// Whether there is anything to say.
  var isDue = false
  /// What all items come to at that root, where they were all walked over.
  var fingerprint: [UInt8]?
  var loads: [Load]
  var next = 0
  var packs: [HeadReport.Pack]
  var writer: PackWriter
  var upload: Upload?
  /// The long values that it has written all pieces of.
  var uploaded: [ValueID: PackedValue] = [:]
  /// Where the long values of the item at hand are.
  var known: [ValueID: PackedValue] = [:]
  /// The items of which something is in the packs.
  var sentCount: UInt64 = 0
  /// Changes of others that are in the packs.
  var vouched: CounterRuns
  var condemned: [[UInt8]: UInt64] = [:]
  /// What is to be written before anything else is done, and whether the first of it is under way.
  var outbox: [(path: RemotePath, bytes: [UInt8])] = []
  var isWriting = false
  /// What the head names beside packs, once that is in the outbox.
  var rest: SyncPushRest?
  /// Where the head stands that is in the outbox, and noted.
  var noted: HeadPlace?

  var number: UInt64 { (before?.place.number ?? 0) + 1 }

  init(
    after before: SyncFront?, told: SyncTold?, count: UInt64,
    rootEpoch: UInt64, isRewrite: Bool, in rounds: SyncRounds, _ memory: RemoteMemory,
    _ loads: [Load]
  ) throws(VaultError) {
    writer = try fromFormat(.item, PackWriter())
    (self.before, self.told, self.count, self.rootEpoch) = (before, told, count, rootEpoch)
    (self.isRewrite, self.rounds, self.loads) = (isRewrite, rounds, loads)
    packs = isRewrite ? [] : told?.report?.packs ?? []
    vouched = memory.standing.vouched
    for object in told?.report?.condemned ?? [] { condemned[object.hash] = object.number }
    if isRewrite {
      for pack in told?.report?.packs ?? [] { condemned[pack.hash] = number }
    }
  }

  /// Puts an object into the outbox.
  ///
  /// - Returns: Its name.
  func add(_ object: [UInt8], of device: DeviceID) throws(VaultError) -> [UInt8] {
    let hash = try fromFormat(.item, RemoteObject.name(of: object.span))
    outbox.append((.object(device, hash: hash), object))
    return hash
  }
}

extension SyncRun {
  /// Writes what others have not, and a head that says so, where there is anything to say.
  mutating func push(_ vault: inout UnlockedVault) throws(SyncStop) {
    if push == nil {
      guard !isHeldBack else { return }
      let isCleaned = try isCleaned(&vault)
      let begun = try fromVault { () throws(VaultError) in
        // The head of another engine may have begun one that this was asked for after.
        if wantsRound { try vault.wishForRound() }
        return try beginPush(&vault)
      }
      wantsRound = false
      if isCleaned { begun.isDue = true }
      push = begun
    }
    guard let push else { return }
    try flush(push)
    try writePacks(push, &vault)
    if isFull, !push.isRewrite {
      // What was written for it is of no use: the next head condemns it.
      self.push = nil
      return try self.push(&vault)
    }
    guard push.isDue else {
      self.push = nil
      return
    }
    if push.rest == nil {
      try fromVault { () throws(VaultError) in push.rest = try draftRest(push, &vault) }
      try flush(push)
    }
    if let rest = push.rest, push.noted == nil {
      let listed = try shelf.listedObjects(of: device)
      try fromVault { () throws(VaultError) in try noteHead(push, rest, listed, &vault) }
      try flush(push)
    }
    try fromVault { () throws(VaultError) in
      if let noted = push.noted { try vault.noteArrival(of: noted, by: device) }
      for value in push.uploaded.values { try vault.note(value, isWhole: true) }
    }
    // Nothing is out before a head says so.
    report.sentCount += push.sentCount
    self.push = nil
  }

  /// Writes what waits to be written.
  private mutating func flush(_ push: SyncPush) throws(SyncStop) {
    if push.isWriting {
      let written = push.outbox.removeFirst()
      report.sentObjects += 1
      report.sentBytes += UInt64(written.bytes.count)
      push.isWriting = false
    }
    guard let first = push.outbox.first else { return }
    push.isWriting = true
    throw .wish(.write(first.path, first.bytes))
  }

  private var place: ObjectPlace { ObjectPlace(device: device, epoch: epoch) }
}

// MARK: - Whether there is anything to say

extension SyncRun {
  private mutating func beginPush(_ vault: inout UnlockedVault) throws(VaultError) -> SyncPush {
    try vault.settleSlotTable()
    let memory = try vault.memoryOfShared()
    let told = try vault.toldReport(by: device)
    let before = try vault.newestOwnHead(device)
    // What is changed from here on, by another engine, is not in this head as a whole.
    let (count, rootEpoch) = (vault.trust.root.copy?.counter ?? 0, vault.trust.root.epoch)
    let lacking = try lackingValues(&vault)
    var rounds = SyncRounds(after: told?.report, memory)
    let others = try roundsAtHand(&vault)
    // What came in format 1, otherwise than by the store, is nobody's news: it goes out with all the rest.
    let isRewrite =
      memory.mustRewrite || memory.mustWalk || told?.report == nil || isFull
      || memory.mustBeginRound || !rounds.others.covers(others)
    let news = PackCoverage(
      covered: memory.covered, vouched: memory.standing.vouched, values: lacking)
    var loads: [SyncPush.Load] = []
    var (walked, fingerprint): ([PackableItem]?, [UInt8]?) = (nil, nil)
    let number = (before?.place.number ?? 0) + 1
    if memory.mustBeginRound { rounds.own = number }
    if isRewrite {
      rounds.others.formUnion(others)
      let kept = PackCoverage(
        covered: memory.covered, vouched: memory.standing.vouched, keptBy: device,
        leavingOld: memory.leavesOld)
      let found = try vault.walk(beyond: kept, news)
      (walked, fingerprint) = (found.news, found.fingerprint)
      let since = memory.mustWalk ? nil : told?.report?.packs.map(\.number).max()
      loads.append(
        SyncPush.Load(items: found.kept, coverage: kept, number: since ?? number))
    }
    let records = try vault.journalRecords(after: told?.report?.count ?? 0)
    let mustWalk = memory.pending != nil || !lacking.isEmpty
    if walked == nil, !mustWalk {
      walked = try vault.packableItems(of: Set(records.map { $0.item }))
    }
    let items = if let walked { walked } else { try vault.packableItems(beyond: news) }
    loads.append(SyncPush.Load(items: items, coverage: news, number: number))
    let slots = try vault.headerObject()?.ids ?? []
    let (evidence, table) = (try evidence(&vault).map { $0.hash }, try vault.tableOfShared())
    let isDue =
      isRewrite || renews || memory.was != told?.report?.was ?? [] || slots != memory.standing.slots
      || evidence != told?.report?.evidence.map { $0.hash } ?? []
      || table[device]?.label != told?.report?.label || isAwaited(told?.report, table)
    let push = try SyncPush(
      after: before, told: told, count: count, rootEpoch: rootEpoch,
      isRewrite: isRewrite, in: rounds, memory, loads)
    (push.isDue, push.fingerprint) = (isDue, fingerprint)
    return push
  }

  /// Whether somebody waits with deleting until this device says that it has taken their head.
  private func isAwaited(_ told: HeadReport?, _ table: DeviceTable) -> Bool {
    reports.contains { name, inner in
      guard name != device, let front = fronts[name], table[name]?.taken == front.place else {
        return false
      }
      return inner.condemned.contains { object in
        object.number <= front.place.number && told?.acknowledges(name, object.number) != true
      }
    }
  }

  /// Long values that stand here, and whose pieces others are about to delete, or have deleted.
  private func lackingValues(_ vault: inout UnlockedVault) throws(VaultError) -> Set<ValueID> {
    let going = Set(reports.filter { $0.key != device }.values.flatMap(\.condemned).map(\.hash))
    let gone = going.union(missing)
    guard !gone.isEmpty else { return [] }
    let values = try vault.places().filter(\.isHeld).map(\.place.value)
    return Set(
      values.filter { value in
        value.device != device && value.pieces.contains { gone.contains($0.hash) }
      }.map(\.value))
  }

  /// Heads that were believed here, of devices of which there seem to be two.
  func evidence(
    _ vault: inout UnlockedVault
  ) throws(VaultError) -> [(device: DeviceID, hash: [UInt8], bytes: [UInt8])] {
    var found: [(device: DeviceID, hash: [UInt8], bytes: [UInt8])] = []
    for name in doubtful.sorted() {
      guard let bytes = try vault.keptHead(of: name) else { continue }
      found.append((name, try fromFormat(.header, RemoteObject.name(of: bytes.span)), bytes))
    }
    return found
  }
}

extension UnlockedVault {
  /// Walks over all items when all of one's own is sealed anew.
  ///
  /// - Returns: Those that stand in packs of this machine already, those that are news, and what all come to.
  fileprivate mutating func walk(
    beyond kept: PackCoverage, _ news: PackCoverage
  ) throws(VaultError) -> (kept: [PackableItem], news: [PackableItem], fingerprint: [UInt8]) {
    try reading { vault throws(VaultError) in
      let walk = try vault.walkItems()
      return (
        walk.packable(beyond: kept), walk.packable(beyond: news),
        try vault.fingerprint(of: walk)
      )
    }
  }
}

// MARK: - Packs

extension SyncRun {
  private mutating func writePacks(
    _ push: SyncPush, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    while let load = push.loads.first {
      try goOnUpload(push, &vault)
      guard try !fill(push, load, &vault) else { continue }
      if push.packs.count == mostPacks, !push.writer.isEmpty, !push.isRewrite {
        isFull = true
        return
      }
      try fromVault { () throws(VaultError) in try finishPack(push, load, &vault) }
      if push.next > load.items.count {
        push.loads.removeFirst()
        push.next = 0
      }
      try flush(push)
    }
  }

  /// Puts items into the pack at hand, as far as there is room, and the settings and slots behind the last.
  ///
  /// - Returns: Whether pieces have to be written first; else the pack is as full as it gets.
  private mutating func fill(
    _ push: SyncPush, _ load: SyncPush.Load, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    do throws(VaultError) {
      // Room for what the seal puts around it, and for the settings and slots behind the last item.
      let limit = RemoteObject.Kind.pack.longest - PackCoverage.reservedByteCount
      while push.next < load.items.count {
        let before = push.writer.byteCount
        let step = try vault.pack(
          load.items[push.next], beyond: load.coverage, into: &push.writer, upTo: limit,
          at: push.known, noting: &push.vouched)
        switch step {
        case .isIn:
          push.next += 1
          push.known = [:]
          if push.writer.byteCount > before { push.sentCount += 1 }
        case .isFull:
          guard !push.writer.isEmpty else { throw .tooLarge }
          return false
        case .lacksPieces(let values):
          try find(values, push, load.coverage, &vault)
          if push.upload != nil { return true }
        }
      }
      try vault.packLedger(beyond: load.coverage, into: &push.writer, noting: &push.vouched)
      push.next += 1
      return false
    } catch { throw .vault(error) }
  }

  /// Finds out where long values are to be had; one that nobody has is to be written.
  private func find(
    _ values: [ValueID], _ push: SyncPush, _ coverage: PackCoverage,
    _ vault: inout UnlockedVault
  ) throws(VaultError) {
    for value in values {
      if let uploaded = push.uploaded[value] {
        push.known[value] = uploaded
        continue
      }
      let place = try vault.place(of: value)
      if let place, place.isWhole, place.value.device == device || !coverage.values.contains(value)
      {
        push.known[value] = place.value
        continue
      }
      let begun = place.flatMap { $0.value.device == device ? $0.value.pieces : nil } ?? []
      push.upload = SyncPush.Upload(value: value, pieces: begun)
      return
    }
  }

  /// Writes the pieces of a long value.
  private mutating func goOnUpload(
    _ push: SyncPush, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    while var upload = push.upload {
      try fromVault { () throws(VaultError) in
        let first = UInt64(upload.pieces.count * PieceView.mostChunks)
        let object = try vault.piece(of: upload.value, from: first, at: place)
        if let object {
          let hash = try push.add(object, of: device)
          upload.pieces.append(
            PackedValue.Piece(hash: hash, length: UInt32(object.count)))
        }
        try note(upload, isWhole: object == nil, push, &vault)
        push.upload = object == nil ? nil : upload
      }
      try flush(push)
    }
  }

  /// Notes how far the pieces of a long value are written, the last of them not counted. Of one that others are about to
  /// lose nothing is noted before the head is there: until then its rows have to be news.
  private func note(
    _ upload: SyncPush.Upload, isWhole: Bool, _ push: SyncPush, _ vault: inout UnlockedVault
  ) throws(VaultError) {
    let isLacking = push.loads.first?.coverage.values.contains(upload.value) == true
    guard isWhole else {
      let pieces = Array(upload.pieces.dropLast())
      guard !isLacking, !pieces.isEmpty, pieces.count % SyncPush.piecesBetweenNotes == 0 else {
        return
      }
      return try vault.note(PackedValue(upload.value, of: device, in: pieces), isWhole: false)
    }
    guard !upload.pieces.isEmpty else { throw .damaged(.chunk) }
    let value = PackedValue(upload.value, of: device, in: upload.pieces)
    push.uploaded[upload.value] = value
    if !isLacking { try vault.note(value, isWhole: true) }
  }

  /// Seals the pack at hand, if there is anything in it.
  private func finishPack(
    _ push: SyncPush, _ load: SyncPush.Load, _ vault: inout UnlockedVault
  ) throws(VaultError) {
    guard !push.writer.isEmpty else { return }
    let writer = exchange(&push.writer, with: try fromFormat(.item, PackWriter()))
    let object = try vault.sealed(writer, at: place)
    guard push.packs.count < mostPacks else { throw .tooLarge }
    let hash = try push.add(object, of: device)
    push.isDue = true
    push.packs.append(
      HeadReport.Pack(hash: hash, length: UInt32(object.count), number: load.number))
  }
}
