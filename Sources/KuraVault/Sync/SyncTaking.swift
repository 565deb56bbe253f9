// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Holds how far the head of another device is taken.
final class SyncTaking {
  let front: SyncFront
  let report: HeadReport
  /// The number of the head of this device that was taken before.
  let taken: UInt64
  /// The next pack.
  var next = 0
  /// The pack at hand, until it is brought together with the vault.
  var pack: CopyPack?
  /// The values of that pack that are to be fetched, and the next piece of the last of them.
  var values: [PackedValue] = []
  var piece = 0
  var work: MergeWork?
  var header: HeaderObject?
  var isHeaderKnown = false
  /// Whether nothing was missing.
  var isWhole = true
  /// Whether the head was read once more, since something that it names is missing.
  var isReadAgain = false

  init(_ front: SyncFront, _ report: HeadReport, beyond taken: UInt64) {
    (self.front, self.report, self.taken) = (front, report, taken)
  }

  var device: DeviceID { front.head.device }

  /// The last head of a device that its writer has taken, or written.
  func place(of other: DeviceID) -> HeadPlace {
    other == device ? front.place : report.seen(of: other)?.taken ?? .none
  }

  /// Where its objects stand.
  var place: ObjectPlace { ObjectPlace(device: device, epoch: front.head.epoch) }
}

extension SyncRun {
  /// Takes the heads that can be taken, as long as another one can.
  mutating func pull(_ vault: inout UnlockedVault) throws(SyncStop) {
    // A step that a merge is amid comes here again.
    if taking == nil {
      try learn(&vault)
      try hearAgain(&vault)
    }
    while true {
      try learn(&vault)
      if let taking {
        try take(taking, &vault)
        self.taking = nil
      }
      guard let name = try nextToTake(&vault) else { break }
      try begin(with: name, &vault)
    }
    try nameRest(&vault)
    try noteComplete(&vault)
    try compare(&vault)
  }

  /// Notes in one step which devices were heard whose heads are those that were taken before: with many machines most
  /// are, and a step for each would be most of a meeting.
  private mutating func hearAgain(_ vault: inout UnlockedVault) throws(SyncStop) {
    let table = try fromVault { () throws(VaultError) in try vault.tableOfShared() }
    var known: [DeviceID] = []
    for name in others where !isTried(name) {
      guard let front = fronts[name], table.holds(front), try judge(name, &vault) == .fits else {
        continue
      }
      known.append(name)
    }
    guard !known.isEmpty else { return }
    try fromVault { () throws(VaultError) in try vault.noteHeard(known) }
    tried.formUnion(known.compactMap { fronts[$0]?.place })
  }

  /// Gives what was taken of a device that turned out to be another one the right id.
  private mutating func learn(_ vault: inout UnlockedVault) throws(SyncStop) {
    let told = others.flatMap { reports[$0]?.was ?? [] }.sorted { $0.device < $1.device }
    try fromVault { () throws(VaultError) in try vault.heal(told) }
  }

  private func isTried(_ name: DeviceID) -> Bool {
    fronts[name].map { tried.contains($0.place) } ?? true
  }

  private var others: [DeviceID] { reports.keys.filter { $0 != device }.sorted() }

  private mutating func nextToTake(
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> DeviceID? {
    for name in others where !isTried(name) {
      if try judge(name, &vault) == .fits { return name }
    }
    return nil
  }

  /// Remembers a head that is about to be taken, and what its writer has seen.
  private mutating func begin(
    with name: DeviceID, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    guard let front = fronts[name], let inner = reports[name] else { return }
    tried.insert(front.place)
    let taken = try fromVault { () throws(VaultError) in
      try vault.believe(front, inner, by: device)
    }
    guard taken.number < front.place.number else { return }
    taking = SyncTaking(front, inner, beyond: taken.number)
  }

  /// Tells of heads that were not taken.
  private mutating func nameRest(_ vault: inout UnlockedVault) throws(SyncStop) {
    let table = try fromVault { () throws(VaultError) in try vault.tableOfShared() }
    for name in others where !isTried(name) {
      let verdict = try judge(name, &vault)
      let (heard, found) = (table[name]?.heard.number ?? 0, fronts[name]?.place.number ?? 0)
      if verdict == .twin || verdict == .back || heard > found { doubtful.insert(name) }
      switch verdict {
      case .twin: report.name(.twin, name)
      case .back: report.name(.back, name)
      case .waits, .over, .fits: report.name(.late, name)
      }
    }
    // Whatever epoch it is in: who is two has to see that first.
    for name in fronts.keys.sorted() where name != device && reports[name] == nil {
      guard let front = fronts[name] else { continue }
      let isTwin = try parts(front, from: table[name], &vault)
      guard isTwin || table[name]?.heard.number ?? 0 > front.place.number else { continue }
      doubtful.insert(name)
      report.name(isTwin ? .twin : .late, name)
    }
    let told = Set(report.findings.map { $0.device })
    for note in table.notes where note.device != device && note.removedAt == nil {
      let isMissing = fronts[note.device] == nil && note.heard != .none
      if isMissing, !told.contains(note.device) { report.name(.late, note.device) }
    }
  }

  /// Notes of which devices all is here that they had made up to their heads.
  private mutating func noteComplete(_ vault: inout UnlockedVault) throws(SyncStop) {
    guard barred.isEmpty else { return }
    let (table, all) = try fromVault { () throws(VaultError) in
      (try vault.tableOfShared(), try takenWhole(&vault))
    }
    var complete: [DeviceID: UInt64] = [:]
    for (name, inner) in all where inner.count > table[name]?.complete ?? 0 {
      complete[name] = inner.count
    }
    guard !complete.isEmpty else { return }
    try fromVault { () throws(VaultError) in
      try vault.remember { _, table in
        for (name, count) in complete {
          guard var note = table[name] else { continue }
          note.complete = count
          _ = table.set(note)
        }
        return []
      }
    }
  }
}

extension SyncRun {
  /// What those devices say of which all is here that they had made up to their heads.
  func takenWhole(
    _ vault: inout UnlockedVault
  ) throws(VaultError) -> [(device: DeviceID, report: HeadReport)] {
    let (beginning, table) = (try vault.epochBeginning(), try vault.tableOfShared())
    func taken(_ name: DeviceID) -> HeadPlace { table[name]?.taken ?? .none }
    var found: [(device: DeviceID, report: HeadReport)] = []
    for name in others {
      guard let front = fronts[name], let inner = reports[name], taken(name) == front.place
      else { continue }
      let leans =
        inner.seen.map { ($0.device, $0.taken.number) } + [(beginning.maker, beginning.cut.first)]
      let isAll = leans.allSatisfy { other, number in
        other == name || other == device || taken(other).number >= number
      }
      if isAll { found.append((name, inner)) }
    }
    return found
  }
}

// MARK: - One head

extension SyncRun {
  /// Takes the packs that are new since the head that was taken before.
  private mutating func take(
    _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    try takeHeader(taking, &vault)
    while taking.next < taking.report.packs.count {
      let pack = taking.report.packs[taking.next]
      if pack.number > taking.taken {
        if taking.pack == nil, taking.work == nil, try !open(pack, taking, &vault) {
          // Perhaps there is a later head, which names it no more.
          guard try isStillThere(taking, &vault) else { return }
          taking.isWhole = false
        } else {
          try fetchValues(taking, &vault)
          try merge(taking, &vault)
        }
      }
      taking.next += 1
    }
    guard taking.isWhole else { return }
    report.headCount += 1
    try fromVault { () throws(VaultError) in
      try vault.noteTaken(taking.front, taking.report, by: device)
    }
  }

  /// Reads which slots the writer has, for tables that name them.
  private mutating func takeHeader(
    _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    let hash = taking.front.head.header
    guard !taking.isHeaderKnown, hash.contains(where: { $0 != 0 }) else { return }
    let path = RemotePath.object(taking.device, hash: hash)
    let bytes = try shelf.file(path, most: RemoteObject.Kind.header.longest)
    taking.isHeaderKnown = true
    if let bytes, let header = header(in: bytes.span, named: hash) {
      let isSparing = try fromVault { () throws(VaultError) in try vault.sparesStore() }
      guard header.isSparing || !isSparing else {
        taking.isWhole = false
        return report.name(.passcodesLeft, taking.device)
      }
      taking.header = header
    } else {
      if let bytes {
        try nameBroken(hash, bytes, isCut: header(in: bytes.span) == nil, of: taking.device)
      } else {
        report.name(.late, taking.device)
      }
      taking.isWhole = false
    }
  }

  /// Reads what may be the object of a header; nil where it is none, or has another name.
  private func header(in bytes: Span<UInt8>, named hash: [UInt8]? = nil) -> HeaderObject? {
    guard let name = try? RemoteObject.name(of: bytes), hash == nil || hash == name,
      let body = try? RemoteObject.body(of: bytes, .header, in: epoch)
    else { return nil }
    return try? HeaderObject(decoding: body)
  }

  /// Opens the pack that comes next.
  ///
  /// - Returns: Whether it is here, and what its name says.
  private mutating func open(
    _ pack: HeadReport.Pack, _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    let path = RemotePath.object(taking.device, hash: pack.hash)
    guard let bytes = try shelf.file(path, most: Int(pack.length)) else {
      report.name(.late, taking.device)
      return false
    }
    shelf.forget(path)
    do throws(VaultError) {
      var opened = try vault.pack(
        bytes.span, named: pack.hash, at: taking.place, beside: taking.header)
      if taking.header == nil { opened.dropSlots() }
      try opened.bar(barred)
      opened.goingOn = vault.goingOn(try vault.memoryOfShared().was) { taking.place(of: $0) }
      taking.values = try vault.lacking(opened)
      (taking.pack, taking.piece) = (opened, 0)
      return true
    } catch {
      guard error == .copyDamaged else { throw .vault(error) }
      try nameBroken(pack.hash, bytes, isCut: bytes.count < pack.length, of: taking.device)
      return false
    }
  }

  /// Tells of an object that could not be opened: what is shorter than it was written may be a part of it.
  private mutating func nameBroken(
    _ hash: [UInt8], _ bytes: [UInt8], isCut: Bool, of name: DeviceID
  ) throws(SyncStop) {
    let found = try fromVault { () throws(VaultError) in
      try fromFormat(.item, RemoteObject.name(of: bytes.span))
    }
    guard found != hash else { return report.name(.forged, name) }
    report.name(isCut ? .cut : .changed, name)
  }

  /// Reads the head once more.
  ///
  /// - Returns: Whether it is the same as before.
  private mutating func isStillThere(
    _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    if !taking.isReadAgain {
      taking.isReadAgain = true
      shelf.forget(.head(taking.device))
    }
    try look(at: taking.device, &vault)
    return fronts[taking.device]?.bytes == taking.front.bytes
  }

  /// Puts the pieces of long values into the vault, before the rows that name them.
  private mutating func fetchValues(
    _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    while let value = taking.values.last, let pack = taking.pack {
      while taking.piece < value.pieces.count {
        guard try fetch(value, taking, &vault) else {
          // Its rows wait, and with them what leans on them.
          taking.pack = try fromVault { () throws(VaultError) in
            try pack.leaving(value.value)
          }
          taking.isWhole = false
          break
        }
        taking.piece += 1
      }
      if taking.piece == value.pieces.count {
        try fromVault { () throws(VaultError) in try vault.note(value, isWhole: true) }
      }
      taking.values.removeLast()
      taking.piece = 0
    }
  }

  /// - Returns: Whether the piece is here.
  private mutating func fetch(
    _ value: PackedValue, _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    let (piece, first) = (
      value.pieces[taking.piece], UInt64(taking.piece * PieceView.mostChunks)
    )
    if try fromVault({ () throws(VaultError) in try vault.hasChunk(first, of: value.value) }) {
      return true
    }
    let path = RemotePath.object(value.device, hash: piece.hash)
    guard let bytes = try shelf.file(path, most: Int(piece.length)) else {
      report.name(.late, value.device)
      return false
    }
    shelf.forget(path)
    do throws(VaultError) {
      try vault.takePiece(
        bytes, named: piece.hash, of: value.value, from: first,
        at: ObjectPlace(device: value.device, epoch: epoch))
      return true
    } catch {
      guard error == .copyDamaged else { throw .vault(error) }
      try nameBroken(piece.hash, bytes, isCut: bytes.count < piece.length, of: value.device)
      return false
    }
  }

  /// Brings the pack at hand together with the vault, a slice at a time.
  private mutating func merge(
    _ taking: SyncTaking, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    do throws(VaultError) {
      if let pack = taking.pack {
        taking.work = try vault.beginMerge(OtherCopy(pack))
        taking.pack = nil
      }
      guard var work = taking.work.take() else { return }
      guard try work.step() else { return report.taken.add(try vault.finish(work)) }
      taking.work = consume work
    } catch {
      guard error == .copyDamaged else { throw .vault(error) }
      report.name(.forged, taking.device)
      taking.isWhole = false
      return
    }
    throw .wish(.nothing)
  }
}

extension MergeReport {
  /// Counts what came of one more pack.
  fileprivate mutating func add(_ other: MergeReport) {
    added += other.added
    changed += other.changed
    purged += other.purged
    conflicting += other.conflicting
    renamed += other.renamed
    settings += other.settings
    looserSettings += other.looserSettings
    slots += other.slots
    waitingSlots = max(waitingSlots, other.waitingSlots)
    keptSlots = keptSlots || other.keptSlots
  }
}
