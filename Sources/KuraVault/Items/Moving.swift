// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Tells what a new name came to.
public struct MoveResult: Equatable, Sendable {
  /// The item's revision, which stays.
  public let revision: UInt64
  /// Whether the item had that name already, so that nothing was changed.
  public let isSame: Bool
}

extension UnlockedVault {
  /// Gives an item another name, in one transaction. Its id, its revision and its history stay; nothing of
  /// its value is opened.
  ///
  /// What stood under the new name is lost in no case: it takes the old name, as a deleted item with all
  /// its history.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - new: The name it is to have, likewise.
  ///   - replacing: Whether a value may stand under the new name.
  ///   - owner: The owner's proof, without which neither name loses what is protected under it, deleted
  ///     or not.
  /// - Throws: ``VaultError/notFound``, ``VaultError/exists(revision:)``, ``VaultError/ownerNeeded``, and
  ///   those of names and the file.
  public mutating func move(
    _ name: Span<UInt8>, to new: Span<UInt8>, replacing: Bool = false,
    by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) -> MoveResult {
    var names = try ItemNames.one(name, to: new)
    return try move(&names, replacing: replacing, by: owner)
  }

  /// Gives an item another name, and others with it, in one transaction.
  ///
  /// - Parameters:
  ///   - names: The item first, each with the name that it is to have; where it is refused, they tell for which one.
  ///   - replacing: Whether values may stand under the new names.
  ///   - owner: The owner's proof, as for one item.
  /// - Returns: What came of the first one; where it has its name already, nothing is changed.
  /// - Throws: As ``move(_:to:replacing:by:)`` does: nothing is moved then.
  public mutating func move(
    _ names: inout ItemNames, replacing: Bool = false, by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) -> MoveResult {
    let first = try names.name(0)
    if try keys.tag(of: first) == keys.tag(of: try names.new(0)) {
      return MoveResult(revision: try item(first.bytes).revision, isSame: true)
    }
    var revision: UInt64 = 0
    try writing(by: owner) { vault, draft throws(VaultError) in
      try vault.each(of: &names, &draft) { vault, names, index, draft throws(VaultError) in
        let now = try vault.move(
          try names.name(index), to: try names.new(index), replacing: replacing, &draft)
        if index == 0 { revision = now }
      }
    }
    return MoveResult(revision: revision, isSame: false)
  }

  private mutating func move(
    _ old: borrowing ItemName, to new: borrowing ItemName, replacing: Bool, _ draft: inout Draft
  ) throws(VaultError) -> UInt64 {
    let (tag, newTag) = (try keys.tag(of: old), try keys.tag(of: new))
    let change = try beginChange(of: tag)
    try change.check(live: nil)
    guard let (facts, history) = change.kept else { throw .notFound }
    if tag == newTag { return facts.revision }
    let lineage = try nextLineage(of: change, facts.id, &draft)
    let row = try renamed(tag, new, newTag, as: lineage)
    draft.freesName = true
    try vacate(newTag, to: change, old, replacing: replacing, &draft)
    try place(row, history, &draft)
    return row.facts.revision
  }
}

extension UnlockedVault {
  /// Sets an item's modified time to now, and nothing else; nothing of its value is opened.
  ///
  /// - Parameter name: The name as given; normalised here.
  /// - Returns: The item's revision, which stays.
  /// - Throws: ``VaultError/notFound``, and those of names and the file.
  @discardableResult
  public mutating func touch(_ name: Span<UInt8>) throws(VaultError) -> UInt64 {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    return try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      try change.check(live: nil)
      guard let (_, history) = change.kept else { throw .notFound }
      let row = try vault.renamed(tag, name, tag, as: nil, modified: draft.root.time)
      try vault.store(row, history, at: change.path, &draft)
      return row.facts.revision
    }
  }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  /// An item's row under another name, or with another time, to be written there.
  private mutating func renamed(
    _ tag: ItemTag, _ new: borrowing ItemName, _ newTag: ItemTag, as lineage: Lineage?,
    modified: UInt64? = nil
  ) throws(VaultError) -> ResealedRow {
    let row = try rows.withCurrent(tag, under: trust.root, keys) {
      found, keys throws(VaultError) in
      try keys.renamed(found, new, newTag, as: lineage, modified: modified)
    }
    guard let row else { throw .damaged(.item) }
    return row
  }

  /// Takes the row of an old name away. What stands under the new one, deleted or not, takes its place.
  private mutating func vacate(
    _ newTag: ItemTag, to old: consuming ItemChange, _ name: borrowing ItemName, replacing: Bool,
    _ draft: inout Draft
  ) throws(VaultError) {
    let (oldTag, path) = (old.tag, old.path)
    let other = try beginChange(of: newTag)
    let revision = other.liveRevision
    if let revision, !replacing { throw .exists(revision: revision) }
    try draft.checkRelease(of: old)
    try draft.checkRelease(of: other)
    if revision != nil {
      try retire(other, to: oldTag, path, name, &draft)
    } else if let (facts, history) = other.kept {
      let lineage = try nextLineage(of: other, facts.id, &draft)
      let row = try renamed(newTag, name, oldTag, as: lineage)
      try store(row, history, at: path, &draft)
    } else {
      try removeRow(oldTag, path, &draft)
    }
    // The new name's path goes through these.
    rows.tree.keepStaged()
  }

  /// Deletes an item into its history, and gives it another name.
  private mutating func retire(
    _ other: consuming ItemChange, to tag: ItemTag, _ path: TreePath,
    _ name: borrowing ItemName, _ draft: inout Draft
  ) throws(VaultError) {
    try draft.countDeleted(true)
    let content = try NewContent(inline: Span())
    let next = try other.next(
      name.bytes, AttributeEdits(), setting: [.deletion, .name], size: 0,
      modified: draft.root.time)
    let moved = other.moved(to: tag, path)
    _ = try finish(moved, next, content, .deleted, &draft)
  }

  /// Writes a row under its new name.
  private mutating func place(
    _ row: ResealedRow, _ history: HistoryList, _ draft: inout Draft
  ) throws(VaultError) {
    let path = try rows.tree.path(to: row.facts.tag, under: draft.root, in: &rows.storage, keys)
    try store(row, history, at: path, &draft)
  }

  /// Writes a row, and its leaf on a path that was verified.
  mutating func store(
    _ row: ResealedRow, _ history: HistoryList, at path: consuming TreePath,
    _ draft: inout Draft
  ) throws(VaultError) {
    path.leaves.setLeaf(try rows.storage.store(row, history, keys), of: row.facts.tag)
    draft.root.treeRoot = try rows.tree.store(path, in: &rows.storage, keys)
  }

  /// Takes an item's row and its leaf away.
  mutating func removeRow(
    _ tag: ItemTag, _ path: consuming TreePath, _ draft: inout Draft
  ) throws(VaultError) {
    try rows.storage.delete(tag)
    path.leaves.removeLeaf(of: tag)
    draft.root.treeRoot = try rows.tree.store(path, in: &rows.storage, keys)
  }
}

extension ItemChange {
  /// The same item, whose next revision stands under another name.
  consuming func moved(to tag: ItemTag, _ path: TreePath) -> ItemChange {
    ItemChange(tag: tag, format: format, path: path, current: current, shown: shown)
  }
}

extension ItemMeta {
  /// The same under a name.
  borrowing func renamed(
    _ name: borrowing ItemName, modified: UInt64
  ) throws(VaultError) -> ItemMeta {
    try fromFormat(
      .item,
      ItemMeta(
        name: name.bytes, created: created, modified: modified, size: size, attributes: attributes))
  }
}

extension Keyring {
  /// A meta with what its revision follows, where the format has that.
  ///
  /// - Parameters:
  ///   - meta: Without it.
  ///   - before: What stood there.
  ///   - facts: Those of the row that stood there.
  ///   - lineage: The revision that the change makes; nil where it makes none, and the row stays who it is.
  borrowing func following(
    _ meta: consuming ItemMeta, _ before: borrowing ItemMeta, _ facts: RowFacts,
    as lineage: Lineage?, settingName setsName: Bool = false
  ) throws(VaultError) -> ItemMeta {
    guard format > .first else { return meta }
    let trail = try fromFormat(.item, before.view.trail(orOldOf: facts))
    guard let lineage else { return try meta.following(trail) }
    let next = try fromFormat(
      .item, MetaTrail(after: trail, as: lineage, settingName: setsName))
    return try meta.following(next)
  }

  /// A row with another name, or time, in its meta. The body, which does not know of names, stays as it is, unless
  /// its key is one that is being replaced.
  fileprivate borrowing func renamed(
    _ found: VerifiedRow, _ name: borrowing ItemName, _ tag: ItemTag, as lineage: Lineage?,
    modified: UInt64?
  ) throws(VaultError) -> ResealedRow {
    let before = try openMeta(found.row.meta, found.facts)
    let old = found.facts
    let facts = RowFacts(
      tag: tag, id: old.id, revision: old.revision, generation: ring.active,
      protection: old.protection, kind: old.kind)
    let renamed = try before.renamed(name, modified: modified ?? before.modified)
    let meta = try following(renamed, before, old, as: lineage, settingName: true)
    let body: [UInt8]
    if old.generation == ring.active {
      body = [UInt8](copying: found.row.body)
    } else {
      let plaintext = try openBody(found.row.body, old)
      body = try seal(body: plaintext.bytes, facts)
    }
    return ResealedRow(facts: facts, meta: try seal(meta, facts), body: body)
  }
}
