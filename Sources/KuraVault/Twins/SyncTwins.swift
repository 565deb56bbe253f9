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
    guard let line = try foreignLine(told, &vault) else { return false }
    do throws(VaultError) {
      let turn = try vault.turn(of: seed, along: line)
      try vault.become(turn.seed, turn.was, turn.changes)
      device = turn.was.device
      seed = turn.consumedSeed()
    } catch { throw .vault(error) }
    (lostJournal, renews) = (nil, false)
    return true
  }

  /// All that foreign heads say of where the two machines parted; nil where some of it is not here.
  private mutating func foreignLine(
    _ told: [HeadPlace], _ vault: inout UnlockedVault
  ) throws(SyncStop) -> ForeignLine? {
    let own = try fromVault { () throws(VaultError) in try vault.newestOwnHead(device) }
    var line = ForeignLine(own: own)
    for front in try foreignFronts(&vault) {
      guard try read(front, into: &line) else { return nil }
    }
    for place in told {
      var isKnown = false
      for front in line.fronts where !isKnown { isKnown = try holds(place, front) == true }
      guard isKnown else { return nil }
    }
    if let own {
      guard let void = try ids(of: own, beyond: line.common) else { return nil }
      line.void = void
    }
    return line
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

  /// - Returns: Whether all is here that a foreign head speaks of.
  private mutating func read(
    _ front: SyncFront, into line: inout ForeignLine
  ) throws(SyncStop) -> Bool {
    line.fronts.append(front)
    if let own = line.own {
      guard let common = try common(own, front) else { return false }
      line.common = max(line.common, common)
    }
    let known = Set(line.own?.head.journals ?? [])
    for (index, hash) in front.head.journals.enumerated() {
      let after = UInt64(index * RemoteBlock.count)
      guard !known.contains(hash) else {
        line.fork = max(line.fork, after + UInt64(RemoteBlock.count))
        continue
      }
      let path = RemotePath.object(device, hash: hash)
      guard let bytes = try shelf.file(path, most: RemoteObject.Kind.journal.longest),
        let body = try? RemoteObject.body(of: bytes.span, .journal, in: nil, named: hash),
        let ids = opened(body, after: after, isWhole: true, of: front.head.vault)
      else { return false }
      line.note(ids, after: after)
    }
    let after = UInt64(front.head.journals.count * RemoteBlock.count)
    guard let ids = opened(front.head.own.span, after: after, isWhole: false, of: front.head.vault)
    else { return false }
    line.note(ids, after: after)
    return true
  }

  /// What a machine with this id has said to itself; nil for what no such machine sealed.
  private func opened(
    _ sealed: Span<UInt8>, after: UInt64, isWhole: Bool, of vault: VaultID
  ) -> [RevisionID]? {
    let place = AssociatedData.ownChanges(after: after, vault: vault, device: device)
    guard let key = try? seed.ownKey(),
      let plain = try? place.openPadded(sealed, under: key, .header)
    else { return nil }
    return try? RemoteBlock.decode(plain.bytes, isWhole: isWhole)
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
  private mutating func ids(
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

/// Gathers what heads say that another machine wrote under this one's id.
struct ForeignLine {
  /// The last head that this machine was going to write.
  let own: SyncFront?
  var fronts: [SyncFront] = []
  /// The last head that both wrote, or neither, before they parted.
  var common = HeadPlace.none
  /// The own heads beyond it.
  var void: [HeadPlace] = []
  /// Up to which change both have the same, as far as whole journals say so.
  var fork: UInt64 = 0
  private(set) var changes: Set<Change> = []

  /// Names a change and the revision that it made.
  struct Change: Hashable {
    let counter: UInt64
    let revision: RevisionID
  }

  init(own: SyncFront?) { self.own = own }

  mutating func note(_ ids: [RevisionID], after: UInt64) {
    for (counter, id) in zip((after + 1)..., ids) where id != .zero {
      changes.insert(Change(counter: counter, revision: id))
    }
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
    of seed: borrowing DeviceSeed, along line: ForeignLine
  ) throws(VaultError) -> Turn {
    let records = try journal()
    let same = records.filter {
      line.changes.contains(ForeignLine.Change(counter: $0.counter, revision: $0.revision))
    }
    let fork = max(line.fork, same.last?.counter ?? 0)
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
      device: next.device, former: seed.device, fork: fork, common: line.common, void: line.void)
    return Turn(
      seed: next, was: was,
      changes: beyond.map {
        JournalRecord(counter: $0.counter - fork, revision: $0.revision, item: $0.item)
      })
  }

  /// Becomes another copy: what it changed beyond the fork are that one's changes from now on.
  fileprivate mutating func become(
    _ seed: borrowing DeviceSeed, _ was: HeadReport.Was, _ changes: [JournalRecord]
  ) throws(VaultError) {
    let key = try fromFormat(.header, seed.pair()).publicHalf
    try prepare(seed)
    try writing { vault, draft throws(VaultError) in
      guard let before = draft.root.copy, before.device == was.former else { throw .busy }
      try vault.renumber(was, &draft)
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
        (memory.standing, memory.pending) = (RemoteMemory.Standing(), nil)
        memory.standing.vouched = vouched
        let kept = try memory.heal(was, &table)
        // The other machine may be gone, and its head with it.
        memory.covered = RevisionVector(
          memory.covered.entries.filter { $0.device != was.former })
        return kept
      }
    }
    publishSeed()
  }

  /// Gives what was taken of a device that turned out to be another one that one's id.
  mutating func heal(_ was: HeadReport.Was) throws(VaultError) {
    try writing { vault, draft throws(VaultError) in
      let memory = try vault.memoryOfShared()
      let note = try vault.tableOfShared()[was.former]
      // Where nothing of that line came here, it is only remembered.
      let isTaken = note.map { was.void.contains($0.heard) || was.void.contains($0.taken) } ?? false
      guard isTaken || !memory.knows(was) else { return }
      if isTaken { try vault.renumber(was, &draft) }
      try vault.remember(&draft) { memory, table throws(VaultError) in
        guard isTaken else {
          memory.note(was)
          return []
        }
        return try memory.heal(was, &table)
      }
    }
  }
}

extension RemoteMemory {
  /// Whether all of that is known.
  func knows(_ other: HeadReport.Was) -> Bool {
    was.contains { $0.device == other.device && other.void.allSatisfy($0.void.contains) }
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
    standing.vouched.move(other.former, beyond: other.fork, to: other.device)
    (mustRewrite, mustWalk) = (true, true)
    return [KeptHead(device: other.former, bytes: nil)]
  }
}
