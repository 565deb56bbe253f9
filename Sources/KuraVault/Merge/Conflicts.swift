// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
public import KuraTerms
public import SecureMemory

/// Tells of one thing that the owner may choose: both contents are kept until then.
public struct ItemConflict: ~Copyable, Sendable {
  /// The item's name.
  public let name: SecretBytes
  /// What of it.
  public let part: ConflictPart
  /// The attribute's key, or the name that the item would have; without bytes for all else.
  public let text: SecretBytes
  /// The revision here that has the other content; 0 for none.
  public let revision: UInt64
}

extension UnlockedVault {
  /// Goes over all items on which copies do not agree, in no order that a person would see.
  ///
  /// - Parameters:
  ///   - last: Where the call before ended; nil to begin with.
  ///   - limit: How many rows to look at, at most.
  ///   - isEnough: Asked behind each row.
  ///   - body: Is given each conflict.
  /// - Returns: Where to go on; nil at the end.
  public mutating func eachConflict(
    from last: ItemTag?, limit: Int, until isEnough: () -> Bool = { false },
    _ body: (borrowing ItemConflict) throws(VaultError) -> Void
  ) throws(VaultError) -> ItemTag? {
    try reading { vault throws(VaultError) in
      let root = vault.trust.root
      let start = last ?? .zero
      var number = Tree.bucket(of: start, depth: root.depth)
      var left = limit
      while UInt64(number) < 1 << (6 * UInt64(root.depth)) {
        let bytes = try vault.rows.tree.leaves(
          ofBucket: number, under: root, in: &vault.rows.storage, vault.keys)
        let bucket = BucketLeaves(bytes.span)
        for place in 0..<bucket.count where bucket.tag(place) >= start {
          guard left > 0, !isEnough() else { return bucket.tag(place) }
          left -= 1
          try vault.conflicts(of: bucket.tag(place), bucket.leaf(place), body)
        }
        number += 1
      }
      return nil
    }
  }

  /// Goes over what copies do not agree on of one item.
  ///
  /// - Throws: ``VaultError/notFound`` for one that is not there, or deleted.
  public mutating func eachConflict(
    of name: Span<UInt8>, _ body: (borrowing ItemConflict) throws(VaultError) -> Void
  ) throws(VaultError) {
    let tag = try keys.tag(of: .checked(name))
    try reading { vault throws(VaultError) in
      let root = vault.trust.root
      guard
        let leaf = try vault.rows.tree.leaf(
          of: tag, under: root, in: &vault.rows.storage, vault.keys),
        try vault.rows.look(at: tag, leaf: leaf, vault.keys).kind != .deleted
      else { throw .notFound }
      try vault.conflicts(of: tag, leaf, body)
    }
  }

  private mutating func conflicts(
    of tag: ItemTag, _ leaf: Digest, _ body: (borrowing ItemConflict) throws(VaultError) -> Void
  ) throws(VaultError) {
    let isOpen = try rows.withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      if found.facts.kind == .purged { return false }
      let meta = try keys.openMeta(found.row.meta, found.facts)
      return meta.view.isOpen || meta.view.hasSides
    }
    guard isOpen == true else { return }
    var copy = try rows.itemCopy(tag, leaf: leaf, keys)
    guard let current = copy.current else { return }
    let id = current.facts.id
    copy.trace = try rows.purgeTrace(of: id, under: trust.root, keys)
    let merge = try ItemMerge.make(id, copy, nil, depth: HistoryList.mostEntries)
    try merge.eachConflict(of: current, body)
  }

  /// Leaves of an item what it shows, and nothing beside it: a new revision that follows all others.
  mutating func settle(
    _ change: consuming ItemChange, _ name: borrowing ItemName, _ draft: inout Draft
  ) throws(VaultError) -> UInt64 {
    let content = try currentContent(change.tag)
    let next = try change.next(
      name.bytes, AttributeEdits(), setting: .all, size: content.size, modified: draft.root.time)
    let kind = change.kind ?? .value
    return try finish(change, next, content, kind, &draft)
  }
}

extension ItemChange {
  /// Whether copies do not agree on the item, or it stands under a name that is not its own.
  var isUnsettled: Bool {
    switch current {
    case .some(let current): current.meta.view.hasSides || current.meta.view.isOpen
    case .none: false
    }
  }
}

extension ItemMerge {
  /// Tells of each conflict of the item.
  fileprivate borrowing func eachConflict(
    of shown: OpenedRow, _ body: (borrowing ItemConflict) throws(VaultError) -> Void
  ) throws(VaultError) {
    for other in standing.fields[.value]?.conflicts ?? [] {
      try tell(.value, try none(), table.holder(of: .value, other.stamp), of: shown, body)
    }
    for other in standing.fields[.name]?.conflicts ?? [] {
      try tell(.name, try none(), table.holder(of: .name, other.stamp), of: shown, body)
    }
    for key in try table.attributeKeys(of: rows) {
      let others = (standing.fields[key.field]?.conflicts ?? []).map { content in
        table.holder(of: key.field, content.stamp)
      }
      for row in try [holderOfLeftOut(key, by: shown)].filter({ $0 != nil }) + others {
        let text = try key.lend { text throws(VaultError) in
          try fromMemory(SecretBytes(copying: text))
        }
        try tell(.attribute, text, row, of: shown, body)
      }
    }
    if standing.against.contains(.deleted) { try tell(.deletion, try none(), nil, of: shown, body) }
    if standing.against.contains(.purged) { try tell(.purge, try none(), nil, of: shown, body) }
    let wanted = try withName { name throws(VaultError) in
      try fromMemory(SecretBytes(copying: name))
    }
    let isAway = try shown.withName { name throws(VaultError) in
      !name.isEqual(to: wanted.bytes)
    }
    // Of one that is deleted nobody can settle it: it gets its name when it comes back.
    if isAway, standing.state == .live { try tell(.place, wanted, nil, of: shown, body) }
  }

  private borrowing func tell(
    _ part: ConflictPart, _ text: consuming SecretBytes, _ row: OpenedRow?, of shown: OpenedRow,
    _ body: (borrowing ItemConflict) throws(VaultError) -> Void
  ) throws(VaultError) {
    let name = try shown.withName { name throws(VaultError) in
      try fromMemory(SecretBytes(copying: name))
    }
    try body(ItemConflict(name: name, part: part, text: text, revision: row?.facts.revision ?? 0))
  }

  private borrowing func none() throws(VaultError) -> SecretBytes {
    try fromMemory(SecretBytes(copying: Span()))
  }
}
