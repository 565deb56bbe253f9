// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

// What all items come to: two machines that have taken the same from each other have the same, or one of them is at fault.

extension UnlockedVault {
  /// Up to how many items a head says what they come to, whatever else is done; of more, where all are looked at anyway.
  static let mostFingerprinted: UInt64 = 4_096

  /// What all items come to, as of the last change: see kura-sync-format(5).
  mutating func fingerprintOfItems() throws(VaultError) -> [UInt8] {
    try reading { vault throws(VaultError) in try vault.fingerprint(of: vault.walkItems()) }
  }

  /// Tells what all items come to, for who compares two machines; empty where that takes long to know, of a vault of many
  /// items, and where one cannot be read.
  public mutating func knownFingerprint() throws(VaultError) -> [UInt8] {
    let root = trust.root
    if let known = fingerprinted, known.root == root.epoch { return known.hash }
    guard root.itemCount <= Self.mostFingerprinted else { return [] }
    var hash: [UInt8] = []
    do throws(VaultError) { hash = try fingerprintOfItems() } catch {
      guard error.isDamage else { throw error }
    }
    // Another engine may have changed something meanwhile.
    if trust.root.epoch == root.epoch { fingerprinted = (root.epoch, hash) }
    return hash
  }

  /// The same once they were walked over, in the same read transaction.
  mutating func fingerprint(of walk: ItemWalk) throws(VaultError) -> [UInt8] {
    var hash = try fromCrypto(.item, KeyedHash(key: keys.remote, byteCount: 32))
    try walk.eachItem { rows throws(VaultError) in
      let first = rows[rows.startIndex]
      let digest =
        rows.allSatisfy { $0.change != nil }
        ? first.digest : try digest(of: first.id, at: first.isTrace ? nil : first.tag)
      hash.update(first.id.bytes.span)
      hash.update(digest.bytes.span)
    }
    return hash.finalize().bytes
  }

  /// The same of an item with several sides, or of which something was purged.
  private mutating func digest(
    of id: ItemID, at tag: ItemTag?
  ) throws(VaultError) -> ContentID {
    guard let copy = try item(id, tag, CopyDifference(of: [], at: [])) else {
      throw .damaged(.item)
    }
    var table = try ContentTable()
    for row in copy.rows where row.isRevision { try table.add(row) }
    let history = try table.history(of: copy.rows, copy.trace)
    let sides = history.sides.map { $0.stamp.id }
    guard let name = history.standing.fields[.name]?.shown.stamp else {
      return try keys.remote.digestOfItem(sides, history.purged, name: Span())
    }
    guard let row = table.holder(of: .name, name) else { throw .damaged(.item) }
    return try row.withName { name throws(VaultError) in
      try keys.remote.digestOfItem(sides, history.purged, name: name)
    }
  }
}

extension Key {
  /// What an item comes to.
  borrowing func digestOfItem(
    _ sides: [RevisionID], _ purged: RevisionVector, name: Span<UInt8>
  ) throws(VaultError) -> ContentID {
    do throws(CryptoError) {
      var hash = try KeyedHash(key: self, byteCount: ContentID.byteCount)
      hash.update(integer: UInt16(truncatingIfNeeded: sides.count))
      for side in sides { hash.update(side.bytes.span) }
      hash.update(integer: UInt16(truncatingIfNeeded: purged.entries.count))
      for entry in purged.entries {
        hash.update(entry.device.bytes.span)
        hash.update(integer: entry.counter)
      }
      hash.update(name)
      return ContentID(hash.end().span)
    } catch { throw .outOfMemory }
  }
}

// MARK: - Comparing

extension SyncRun {
  /// Whether a head that is about to be written is to say what all items come to: they are those of that head alone where
  /// nothing was changed since it was begun.
  mutating func fingerprint(
    _ push: SyncPush, _ vault: inout UnlockedVault
  ) throws(VaultError) -> [UInt8]? {
    let isLookedAt =
      push.isRewrite || vault.trust.root.itemCount <= UnlockedVault.mostFingerprinted
    guard isLookedAt, vault.trust.root.epoch == push.rootEpoch else { return nil }
    if let known = push.fingerprint { return known }
    return try vault.fingerprintOfItems()
  }

  /// Compares what all items come to here and with those machines that have taken just what was taken here.
  mutating func compare(_ vault: inout UnlockedVault) throws(SyncStop) {
    let alike = try fromVault { () throws(VaultError) in try devicesAlike(&vault) }
    guard !alike.isEmpty else { return }
    let own = try fromVault { () throws(VaultError) in try vault.fingerprintOfItems() }
    for name in alike where reports[name]?.fingerprint != own { report.name(.differs, name) }
  }

  private mutating func devicesAlike(_ vault: inout UnlockedVault) throws(VaultError) -> [DeviceID]
  {
    let (memory, table) = (try vault.memoryOfShared(), try vault.tableOfShared())
    // What is here is what the own head says, and what was taken.
    guard memory.pending == nil, !memory.mustWalk, !isHeldBack,
      let told = try vault.toldReport(by: device)?.report,
      told.count == vault.trust.root.copy?.counter ?? 0
    else { return [] }
    let others = table.notes.filter { $0.isReader(but: device) }
    guard others.allSatisfy({ $0.taken == $0.heard }) else { return [] }
    return others.map { $0.device }.filter { name in
      guard let front = fronts[name], let inner = reports[name], tried.contains(front.place),
        inner.fingerprint.contains(where: { $0 != 0 }), table[name]?.taken == front.place,
        inner.seen(of: device)?.taken == memory.standing.place,
        inner.seen.allSatisfy({ $0.taken == $0.heard })
      else { return false }
      let seen = inner.seen.filter { $0.device != device && $0.taken != .none }
      return seen.count == others.count - 1
        && others.allSatisfy { $0.device == name || inner.seen(of: $0.device)?.taken == $0.taken }
    }
  }
}
