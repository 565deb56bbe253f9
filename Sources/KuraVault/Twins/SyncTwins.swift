// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

// Two machines with one id, as of a copied disk: the one that finds out takes another.

extension SyncRun {
  /// Takes another id, since there are heads under the own one that this machine did not write.
  ///
  /// - Parameter told: Those heads.
  /// - Returns: False as long as not all is here that tells where the two parted.
  mutating func turn(
    from told: [HeadPlace], _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    guard let lines = try foreignLines(told, &vault) else { return false }
    try turn(along: lines, &vault)
    return true
  }

  mutating func turn(
    along lines: ForeignLines, _ vault: inout UnlockedVault
  ) throws(SyncStop) {
    do throws(VaultError) {
      let turn = try vault.turn(of: seed, along: lines)
      try vault.become(turn.seed, turn.was, turn.changes, beside: lines)
      device = turn.was.device
      seed = turn.consumedSeed()
    } catch { throw .vault(error) }
    (lostJournal, renews) = (nil, false)
  }

  /// All that foreign heads say of where the machines parted; nil where some of it is not here.
  private mutating func foreignLines(
    _ told: [HeadPlace], _ vault: inout UnlockedVault
  ) throws(SyncStop) -> ForeignLines? {
    let own = try fromVault { () throws(VaultError) in try vault.newestOwnHead(device) }
    var found = ForeignLines(own: own)
    let fronts = try foreignFronts(&vault)
    for front in fronts {
      var isOlder = false
      for other in fronts where !isOlder && other.place.number > front.place.number {
        isOlder = try holds(front.place, other) == true
      }
      guard !isOlder else { continue }
      guard let line = try line(front, own) else { return nil }
      found.lines.append(line)
    }
    for place in told {
      var isKnown = false
      for front in fronts where !isKnown { isKnown = try holds(place, front) == true }
      guard isKnown else { return nil }
    }
    if let own {
      guard let void = try ids(of: own, beyond: found.common) else { return nil }
      found.void = void
    }
    return found
  }

  /// The heads under the own id that this machine did not write: that in its place, and those that others keep.
  private mutating func foreignFronts(
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> [SyncFront] {
    var found: [SyncFront] = []
    if let front = fronts[device], try isOwn(front.place, &vault) == false { found.append(front) }
    let key = try fromVault { () throws(VaultError) in
      try fromFormat(.header, seed.pair()).publicHalf
    }
    for (name, inner) in reports.sorted(by: { $0.key < $1.key }) {
      for evidence in inner.evidence where evidence.device == device {
        let path = RemotePath.object(name, hash: evidence.hash)
        guard let bytes = try shelf.file(path, most: RemoteHead.longest),
          (try? RemoteObject.name(of: bytes.span)) == evidence.hash,
          let head = try? RemoteHead(decoding: bytes.span), head.vault == vault.id,
          head.device == device, head.key == key
        else { continue }
        let front = try fromVault { () throws(VaultError) in try SyncFront(bytes, head) }
        if try isOwn(front.place, &vault) == false { found.append(front) }
      }
    }
    return found
  }

  /// What a foreign head says; nil where some of that is not here.
  private mutating func line(
    _ front: SyncFront, _ own: SyncFront?
  ) throws(SyncStop) -> ForeignLines.Line? {
    var line = ForeignLines.Line(last: front.place)
    if let own {
      guard let common = try common(own, front) else { return nil }
      line.common = common
    }
    let known = Set(own?.head.journals ?? [])
    for (index, hash) in front.head.journals.enumerated() {
      let after = UInt64(index * RemoteBlock.count)
      guard !known.contains(hash) else {
        line.fork = max(line.fork, after + UInt64(RemoteBlock.count))
        continue
      }
      let path = RemotePath.object(device, hash: hash)
      guard let bytes = try shelf.file(path, most: RemoteObject.Kind.journal.longest),
        let body = try? RemoteObject.body(of: bytes.span, .journal, in: nil, named: hash),
        let ids = seed.opened(body, after: after, isWhole: true, of: front.head.vault)
      else { return nil }
      line.note(ids, after: after)
    }
    let after = UInt64(front.head.journals.count * RemoteBlock.count)
    guard
      let ids = seed.opened(
        front.head.own.span, after: after, isWhole: false, of: front.head.vault)
    else { return nil }
    line.note(ids, after: after)
    return line
  }

  // MARK: - Lines of heads

  /// The last head that two lines have in common; nil where that cannot be told yet.
  private mutating func common(
    _ own: SyncFront, _ other: SyncFront
  ) throws(SyncStop) -> HeadPlace? {
    var last = HeadPlace.none
    for block in 0...min(own.head.chains.count, other.head.chains.count) {
      guard let mine = try ids(of: own, block), let theirs = try ids(of: other, block) else {
        return nil
      }
      let count = zip(mine, theirs).prefix { $0 == $1 }.count
      if count > 0 {
        last = HeadPlace(
          number: UInt64(block * RemoteBlock.count + count), id: mine[count - 1])
      }
      guard count == RemoteBlock.count else { break }
    }
    return last
  }

  /// The heads of a line behind one of them; nil where they cannot be told yet.
  mutating func ids(
    of front: SyncFront, beyond common: HeadPlace
  ) throws(SyncStop) -> [HeadPlace]? {
    var places: [HeadPlace] = []
    for block in Int(common.number) / RemoteBlock.count...front.head.chains.count {
      guard let ids = try ids(of: front, block) else { return nil }
      let first = UInt64(block * RemoteBlock.count) + 1
      places += zip(first..., ids).map { HeadPlace(number: $0, id: $1) }
    }
    return places.filter { $0.number > common.number }
  }

  /// The ids of the n-th thousand of a line, with the head itself behind the last.
  private mutating func ids(
    of front: SyncFront, _ block: Int
  ) throws(SyncStop) -> [HeadID]? {
    guard block < front.head.chains.count else { return front.head.former + [front.place.id] }
    return try chain(front, block)
  }
}

/// Gathers what heads say that other machines wrote under this one's id.
struct ForeignLines {
  /// The last head that this machine was going to write.
  let own: SyncFront?
  var lines: [Line] = []
  /// The own heads beyond those that all have.
  var void: [HeadPlace] = []
  /// The ids that another machine took by changes which this one has as well, the last one first.
  var turns: [HeadReport.Was] = []

  init(own: SyncFront?) { self.own = own }

  /// The last head that all wrote, or none, before they parted.
  var common: HeadPlace { lines.map(\.common).min() ?? .none }

  /// The last head of the only other line: it is that one's from now on which is known under the id; nil where there are
  /// several, of which any may go on under it.
  var goingOn: HeadPlace? { lines.count == 1 && turns.isEmpty ? lines[0].last : nil }

  /// Says what one other machine wrote.
  struct Line {
    /// Its last head.
    let last: HeadPlace
    /// The last head that this machine has as well.
    var common = HeadPlace.none
    /// Up to which change both have the same, as far as whole journals say so.
    var fork: UInt64 = 0
    private var changes: Set<Change> = []

    init(last: HeadPlace) { self.last = last }

    mutating func note(_ ids: [RevisionID], after: UInt64) {
      for (counter, id) in zip((after + 1)..., ids) where id != .zero {
        changes.insert(Change(counter: counter, revision: id))
      }
    }

    /// Up to which change both have the same.
    func fork(from records: [JournalRecord]) -> UInt64 {
      let same = records.last {
        changes.contains(Change(counter: $0.counter, revision: $0.revision))
      }
      return max(fork, same?.counter ?? 0)
    }
  }

  /// Names a change and the revision that it made.
  private struct Change: Hashable {
    let counter: UInt64
    let revision: RevisionID
  }
}

// MARK: - The vault

extension UnlockedVault {
  /// Carries who this copy is from now on, and the changes that it takes along.
  struct Turn: ~Copyable {
    let seed: DeviceSeed
    let was: HeadReport.Was
    let changes: [JournalRecord]

    consuming func consumedSeed() -> DeviceSeed { seed }
  }

  /// Finds out who this copy is to be, and what it counts under that id.
  fileprivate mutating func turn(
    of seed: borrowing DeviceSeed, along lines: ForeignLines
  ) throws(VaultError) -> Turn {
    let records = try journal()
    // Beyond the first that some machine has not, the former id says nothing any more.
    let fork = lines.lines.map { $0.fork(from: records) }.min() ?? 0
    let beyond = records.filter { $0.counter > fork }
    // Derived, so that several copies of one such line come to the same.
    let next: DeviceSeed
    if let first = beyond.first {
      next = try fromFormat(.header, seed.twin(from: first.revision))
    } else {
      let device = try DeviceID.fresh()
      next = try fromFormat(.header, DeviceSeed.random(vault: id, device: device))
    }
    let was = HeadReport.Was(
      device: next.device, former: seed.device, fork: fork,
      last: trust.root.copy?.counter ?? 0, common: lines.common, void: lines.void)
    return Turn(
      seed: next, was: was,
      changes: beyond.map {
        JournalRecord(counter: $0.counter - fork, revision: $0.revision, item: $0.item)
      })
  }

  /// Becomes another copy: what it changed beyond the fork are that one's changes from now on.
  fileprivate mutating func become(
    _ seed: borrowing DeviceSeed, _ was: HeadReport.Was, _ changes: [JournalRecord],
    beside lines: ForeignLines
  ) throws(VaultError) {
    let key = try fromFormat(.header, seed.pair()).publicHalf
    try prepare(seed)
    let round = try toldReport(by: was.former)?.report?.round ?? 0
    try writing { vault, draft throws(VaultError) in
      guard let before = draft.root.copy, before.device == was.former, before.counter <= was.last
      else { throw .busy }
      for turn in [was] + lines.turns { try vault.renumber(ChangeNames(turn), &draft) }
      var copy = CopyState(
        device: was.device, counter: before.counter > was.fork ? before.counter - was.fork : 0)
      try fromStorage(vault.rows.storage.deleteJournal(from: 1))
      try vault.keys.append(changes, to: &copy, in: &vault.rows.storage)
      draft.root.copy = copy
      try vault.remember(&draft) { memory, table throws(VaultError) in
        var note = try fromFormat(.header, DeviceNote(device: was.device, key: key))
        note.label = table[was.former]?.label ?? []
        guard table.set(note) else { throw .damaged(.header) }
        let vouched = memory.standing.vouched
        memory.device = was.device
        // One that began beyond that nobody will have heard of.
        if round > was.common.number { memory.mustBeginRound = true }
        (memory.standing, memory.pending) = (RemoteMemory.Standing(), nil)
        memory.standing.vouched = vouched
        var kept = try memory.heal(was, &table)
        for var turn in lines.turns {
          // Who took a head of this one's has to know that what it named has that name.
          turn.formUnion(was)
          kept += try memory.heal(turn, &table)
        }
        if let last = lines.goingOn, var former = table[was.former] {
          former.heard = last
          guard table.set(former) else { throw .damaged(.header) }
        }
        // The other machine may be gone, and its head with it.
        memory.covered = RevisionVector(
          memory.covered.entries.filter { $0.device != was.former })
        return kept
      }
    }
    publishSeed()
  }

  /// Gives what was taken of devices that turned out to be other ones those ones' ids.
  mutating func heal(_ told: [HeadReport.Was]) throws(VaultError) {
    let known = try memoryOfShared()
    let news = told.filter { !known.knows($0) }
    guard !news.isEmpty else { return }
    let table = try tableOfShared()
    // Where nothing of that line came here, it is only remembered.
    let taken = news.filter { was in
      table[was.former].map { was.void.contains($0.heard) || was.void.contains($0.taken) } ?? false
    }.sorted { ($1.fork, $1.device) < ($0.fork, $0.device) }
    try writing { vault, draft throws(VaultError) in
      for was in taken { try vault.renumber(ChangeNames(was), &draft) }
      try vault.remember(&draft) { memory, table throws(VaultError) in
        for was in news { memory.note(was) }
        var kept: [KeptHead] = []
        for was in taken { kept += try memory.heal(was, &table) }
        return kept
      }
    }
  }

  /// The devices whose former id is a third machine's, by the heads of that which somebody has taken.
  func goingOn(_ was: [HeadReport.Was], _ taken: (DeviceID) -> HeadPlace) -> Set<DeviceID> {
    Set(was.filter { $0.goesOn(in: taken($0.former)) }.map(\.device))
  }

  /// The same by those that this one has taken.
  mutating func goingOn(_ was: [HeadReport.Was]) throws(VaultError) -> Set<DeviceID> {
    guard !was.isEmpty, let table = try deviceTable() else { return [] }
    return goingOn(was) { table[$0]?.taken ?? .none }
  }
}

extension RemoteMemory {
  /// Whether all of that is known.
  func knows(_ other: HeadReport.Was) -> Bool {
    was.contains {
      $0.device == other.device && other.last <= $0.last
        && other.void.allSatisfy($0.void.contains)
    }
  }

  /// Remembers a device that took another id.
  mutating func note(_ other: HeadReport.Was) {
    if let index = was.firstIndex(where: { $0.device == other.device }) {
      was[index].formUnion(other)
      return
    }
    if was.count == RemoteMemory.mostWas { was.removeFirst() }
    was.append(other)
    was.sort { $0.device < $1.device }
  }

  /// The same, and what is remembered of the former id ends where the two parted.
  mutating func heal(
    _ other: HeadReport.Was, _ table: inout DeviceTable
  ) throws(VaultError) -> [KeptHead] {
    note(other)
    var former = try table.noted(other.former)
    (former.taken, former.heard) = (min(former.taken, other.common), other.common)
    former.complete = min(former.complete, other.fork)
    if let counter = former.removedAt { former.removedAt = min(counter, other.fork) }
    guard table.set(former) else { throw .damaged(.header) }
    let known = covered.counter(of: other.former)
    if known > other.fork {
      covered = RevisionVector(covered.entries.filter { $0.device != other.former })
      if other.fork > 0 {
        covered.include(RevisionEntry(device: other.former, counter: other.fork))
      }
    }
    standing.vouched.move(other.former, beyond: other.bound, to: other.device)
    (mustRewrite, mustWalk) = (true, true)
    return [KeptHead(device: other.former, bytes: nil)]
  }
}
