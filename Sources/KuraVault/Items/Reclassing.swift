// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Protects an item: from now on its value, and each earlier one that is kept, takes a fresh passcode.
  ///
  /// All its rows are sealed anew in one transaction; what they were is overwritten in the file, and the
  /// WAL is cleared. It is no new revision. A copy of the file from before is as readable as it was.
  ///
  /// - Parameter name: The name as given; normalised here.
  /// - Returns: The item's revision.
  /// - Throws: ``VaultError/notFound`` and those of reading and writing.
  @discardableResult
  public mutating func protect(_ name: Span<UInt8>) throws(VaultError) -> UInt64 {
    try reclass(name, as: .protected, nil, by: nil)
  }

  /// Ends the protection of an item and of its earlier values.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - owner: The owner's proof, which holds what opens protected values.
  /// - Returns: The item's revision.
  /// - Throws: ``VaultError/notFound``; ``VaultError/ownerNeeded``; those of reading and writing.
  @discardableResult
  public mutating func unprotect(
    _ name: Span<UInt8>, by owner: borrowing OwnerProof?
  ) throws(VaultError) -> UInt64 {
    switch owner {
    case .none: try reclass(name, as: .standard, nil, by: nil)
    case .some(let proof):
      try reclass(name, as: .standard, try protectedKey(from: proof.key), by: owner)
    }
  }

  private mutating func reclass(
    _ name: Span<UInt8>, as protection: ProtectionClass, _ key: borrowing ProtectedKey?,
    by owner: borrowing OwnerProof?
  ) throws(VaultError) -> UInt64 {
    let tag = try tag(of: name)
    if let revision = try revision(of: tag, already: protection) { return revision }
    let revision = try writing(by: owner) { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      try change.check(live: nil)
      if protection == .standard { try draft.checkRelease(of: change) }
      return try vault.reclass(change, as: protection, key, &draft)
    }
    try clearWAL()
    return revision
  }

  /// The revision of an item that has a class already; nil when it has another.
  private mutating func revision(
    of tag: ItemTag, already protection: ProtectionClass
  ) throws(VaultError) -> UInt64? {
    try reading { vault throws(VaultError) in
      guard let item = try vault.currentItem(tag), !item.isDeleted else { throw .notFound }
      return item.facts.protection == protection ? item.revision : nil
    }
  }
}

// MARK: - Within a write transaction

/// Holds a row that was sealed anew, to be written in the place of the old one.
struct ResealedRow {
  let facts: RowFacts
  let meta: [UInt8]
  let body: [UInt8]

  /// How much was sealed.
  var byteCount: Int { meta.count + body.count }
}

extension UnlockedVault {
  /// Seals all rows of an item anew, the current one last.
  private mutating func reclass(
    _ change: consuming ItemChange, as protection: ProtectionClass,
    _ key: borrowing ProtectedKey?, _ draft: inout Draft
  ) throws(VaultError) -> UInt64 {
    guard let (facts, kept) = change.kept else { throw .notFound }
    if protection == .standard { draft.freesName = true }
    let history = try reseal(kept, of: facts.id, as: protection, key, &draft)
    let lineage = try nextLineage(of: change, facts.id, &draft)
    let isDisplaced = change.shown?.isDisplaced ?? false
    let row = try rows.withCurrent(facts.tag, under: trust.root, keys) {
      found, keys throws(VaultError) in
      try keys.reseal(found, as: protection, key, by: lineage, settingName: isDisplaced)
    }
    guard let row else { throw .damaged(.item) }
    let leaf = try rows.storage.store(row, history, keys)
    var path = change.path
    path.leaves.setLeaf(leaf, of: facts.tag)
    draft.root.treeRoot = try rows.tree.store(path, in: &rows.storage, keys)
    return facts.revision
  }

  /// Seals all kept revisions of an item anew.
  ///
  /// - Returns: The list of them with their new leaves.
  mutating func reseal(
    _ history: HistoryList, of item: ItemID, as protection: ProtectionClass,
    _ key: borrowing ProtectedKey?, _ draft: inout Draft
  ) throws(VaultError) -> HistoryList {
    var result = HistoryList()
    for entry in history.entries {
      let row = try rows.withKept(entry, of: item, keys) { found, keys throws(VaultError) in
        try keys.reseal(found, as: protection, key)
      }
      result.append(revision: entry.revision, leaf: try rows.storage.store(kept: row, keys))
    }
    draft.leavesOldBodies = true
    return result
  }
}

extension ItemChange {
  /// What stands there, and the list of what stood there before.
  var kept: (RowFacts, HistoryList)? {
    switch current {
    case .some(let current): (current.facts, current.history)
    case .none: nil
    }
  }
}

extension Keyring {
  /// Seals a row anew under the active data key, as one of another class or of the same.
  ///
  /// What a protected body holds inside stays as it is, so that only the end of its protection takes
  /// the key.
  ///
  /// - Parameters:
  ///   - lineage: The revision that another class makes of a current row; nil for one that is kept.
  ///   - setsName: Whether the name that it stands under becomes its own.
  borrowing func reseal(
    _ found: VerifiedRow, as protection: ProtectionClass, _ key: borrowing ProtectedKey?,
    by lineage: Lineage? = nil, settingName setsName: Bool = false
  ) throws(VaultError) -> ResealedRow {
    let before = try openMeta(found.row.meta, found.facts)
    var facts = found.facts
    facts.generation = ring.active
    facts.protection = protection
    guard protection != found.facts.protection else {
      let plaintext = try openBody(found.row.body, found.facts)
      return ResealedRow(
        facts: facts, meta: try seal(before, facts), body: try seal(body: plaintext.bytes, facts))
    }
    // The class counts to who an old revision is: it has to be written down what it was.
    let meta = try following(
      try fromFormat(.item, ItemMeta(copying: before.view)), before, found.facts, as: lineage,
      settingName: setsName)
    let body = try reclassed(found, facts, meta, key)
    return ResealedRow(facts: facts, meta: try seal(meta, facts), body: body)
  }

  /// A body as another class has it.
  private borrowing func reclassed(
    _ found: VerifiedRow, _ facts: RowFacts, _ meta: borrowing ItemMeta,
    _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> [UInt8] {
    let body = try openStandard(found.row.body, found.facts, key)
    guard let trail = try fromFormat(.item, meta.view.trail()) else {
      return facts.protection == .protected
        ? try seal(protecting: body.value.bytes, facts, for: .number(facts.revision), nil)
        : try seal(body: body.value.bytes, facts)
    }
    let list = try SecretList(body.secrets, SecretEdits())
    let place = SecretPlace(
      protection: facts.protection, publicHalf: ring.protectedHalf, vault: vault, item: facts.id)
    let secrets = trail.secrets.isEmpty ? nil : try list.encoded(for: place, trail.secrets)
    guard facts.protection == .protected else {
      return try seal(body.value.bytes, beside: secrets, facts)
    }
    let setter = (trail.value.first ?? trail.lineage.stamp).id
    return try seal(protecting: body.value.bytes, facts, for: .revision(setter), secrets)
  }
}
