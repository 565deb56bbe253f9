// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

// Three machines that had one id, two of which have changes in common that the third has not, as of a copy of a copied disk.

extension SyncRun {
  /// Takes another id where another machine took one by a change that is this one's as well: the two have more in common
  /// with each other than with whom that one parted from, and who that is may go on under the id.
  ///
  /// - Returns: False as long as not all is here that tells how much they have in common; nil where there is none.
  mutating func turnAlong(_ vault: inout UnlockedVault) throws(SyncStop) -> Bool? {
    let turns = try followed(&vault)
    guard let last = turns.first else { return nil }
    report.name(.twin, device)
    let own = try fromVault { () throws(VaultError) in try vault.newestOwnHead(device) }
    var lines = ForeignLines(own: own)
    var line = ForeignLines.Line(last: .none)
    (line.fork, line.common) = (last.fork, last.common)
    guard try read(last, into: &line, &vault) else { return false }
    (lines.turns, lines.lines) = (turns, [line])
    if let own {
      guard let void = try ids(of: own, beyond: line.common) else { return false }
      lines.void = void
    }
    try turn(along: lines, &vault)
    return true
  }

  /// The devices that took another id by a change of this one's, that which has most in common with it first.
  private mutating func followed(
    _ vault: inout UnlockedVault
  ) throws(SyncStop) -> [HeadReport.Was] {
    try fromVault { () throws(VaultError) in
      var known = try vault.memoryOfShared().was
      for report in reports.values { known += report.was }
      known = known.filter { $0.former == device }
      guard !known.isEmpty else { return [] }
      let records = try vault.journal()
      var found: [DeviceID: HeadReport.Was] = [:]
      for was in known {
        guard let own = records.first(where: { $0.counter == was.fork + 1 }) else { continue }
        let twin = try fromFormat(.header, seed.twin(from: own.revision)).device
        guard twin == was.device else { continue }
        if found[twin] == nil { found[twin] = was } else { found[twin]?.formUnion(was) }
      }
      return found.values.sorted { ($1.fork, $1.device) < ($0.fork, $0.device) }
    }
  }

  /// Reads what another machine changed since it took its id, as this one would count it.
  ///
  /// - Returns: Whether all is here that it has written, or it writes nothing any more.
  private mutating func read(
    _ was: HeadReport.Was, into line: inout ForeignLines.Line, _ vault: inout UnlockedVault
  ) throws(SyncStop) -> Bool {
    let (own, isRemoved) = try fromVault { () throws(VaultError) in
      (
        try vault.journal().first { $0.counter == was.fork + 1 },
        try vault.tableOfShared()[was.device]?.removedAt != nil
      )
    }
    guard let own else { return false }
    line.note([own.revision], after: was.fork)
    guard let front = fronts[was.device] else { return isRemoved }
    let twin = try fromVault { () throws(VaultError) in
      try fromFormat(.header, seed.twin(from: own.revision))
    }
    for (index, hash) in front.head.journals.enumerated() {
      let after = UInt64(index * RemoteBlock.count)
      let path = RemotePath.object(was.device, hash: hash)
      guard let bytes = try shelf.file(path, most: RemoteObject.Kind.journal.longest),
        let body = try? RemoteObject.body(of: bytes.span, .journal, in: nil, named: hash),
        let ids = twin.opened(body, after: after, isWhole: true, of: front.head.vault)
      else { return false }
      line.note(ids, after: was.fork + after)
    }
    let after = UInt64(front.head.journals.count * RemoteBlock.count)
    guard
      let ids = twin.opened(
        front.head.own.span, after: after, isWhole: false, of: front.head.vault)
    else { return false }
    line.note(ids, after: was.fork + after)
    return true
  }
}

extension DeviceSeed {
  /// What a machine with this id has said to itself; nil for what no such machine sealed.
  borrowing func opened(
    _ sealed: Span<UInt8>, after: UInt64, isWhole: Bool, of vault: VaultID
  ) -> [RevisionID]? {
    let place = AssociatedData.ownChanges(after: after, vault: vault, device: device)
    guard let key = try? ownKey(),
      let plain = try? place.openPadded(sealed, under: key, .header)
    else { return nil }
    return try? RemoteBlock.decode(plain.bytes, isWhole: isWhole)
  }
}
