// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds what is to become an item's body.
struct NewContent: ~Copyable {
  /// The body's plaintext, with its padding behind it where it was made for a value: the one copy of it.
  private let plaintext: SecretBytes
  private let count: Int
  /// The value's bytes.
  let size: UInt64
  /// Where the value's chunks are, when it has any.
  let value: ValueID?
  /// Whether the plaintext is a protected body already, which needs no secret half to be kept.
  let isProtected: Bool
  /// The secret attributes that stood beside it; nil where it is a new value, or there were none.
  let secrets: SecretContent?
  /// Whether the value was there before, with the attributes that belong to it.
  let isKept: Bool

  init(inline value: Span<UInt8>) throws(VaultError) {
    do throws(SecureMemoryError) {
      // Beside the value stand the form's byte and the padding's first one.
      var buffer = try SecretBuffer(capacity: Padding.paddedCount(value.count + 2))
      try ItemBody.append(inline: value, to: &buffer)
      try Padding.pad(&buffer)
      plaintext = buffer.finish()
    } catch { throw .outOfMemory }
    count = 1 + value.count
    size = UInt64(value.count)
    self.value = nil
    isProtected = false
    secrets = nil
    isKept = false
  }

  init(_ manifest: borrowing Manifest) throws(VaultError) {
    plaintext = try fromFormat(.item, ItemBody.encode(manifest))
    count = plaintext.count
    size = manifest.length
    value = manifest.value
    isProtected = false
    secrets = nil
    isKept = false
  }

  /// An opened body, to be kept.
  init(
    plaintext: consuming SecretBytes, size: UInt64, _ protection: ProtectionClass,
    of format: VaultFormat
  ) throws(VaultError) {
    let parts = try PartedBody.part(plaintext, protection, of: format)
    value = try ItemBody.chunkedValue(in: parts.value, protection, of: format)
    isProtected = protection == .protected
    count = parts.value.count
    self.plaintext = parts.value
    self.secrets = parts.secrets
    isKept = true
    self.size = size
  }
}

extension NewContent {
  /// The body without padding.
  var body: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { plaintext.bytes.extracting(first: count) }
  }

  /// The body as it is sealed; nil where it has no padding yet.
  var padded: Span<UInt8>? {
    @_lifetime(borrow self) borrowing get { plaintext.count > count ? plaintext.bytes : nil }
  }
}

extension ItemBody {
  /// Reads a standard item's body.
  static func read(_ plaintext: consuming SecretBytes) throws(VaultError) -> ItemBody {
    do { return try decode(plaintext) } catch { throw VaultError(error, about: .item) }
  }

  /// Where the chunks of an opened body are; nil when the value stands in it.
  static func chunkedValue(
    in plaintext: borrowing SecretBytes, _ protection: ProtectionClass, of format: VaultFormat
  ) throws(VaultError) -> ValueID? {
    let copy = try plaintext.copied()
    do {
      guard protection == .standard else {
        return try ProtectedBody.decode(copy, of: format).value
      }
      switch try decode(copy) {
      case .inline: return nil
      case .chunked(let manifest): return manifest.value
      }
    } catch { throw VaultError(error, about: .item) }
  }
}

/// Carries an item that is about to get another revision: its verified path, and what it is until now.
struct ItemChange: ~Copyable {
  /// Holds the current revision.
  struct Current: ~Copyable {
    let facts: RowFacts
    let meta: ItemMeta
    let history: HistoryList
    /// What its row comes to.
    let leaf: Digest
    /// What its row comes to once it stands in the history.
    let keptLeaf: Digest

    static func load(
      _ found: VerifiedRow, _ leaf: Digest, _ keys: borrowing Keyring
    ) throws(VaultError) -> Current {
      Current(
        facts: found.facts, meta: try keys.openMeta(found.row.meta, found.facts),
        history: try HistoryList.checked(found.row.history, below: found.facts.revision),
        leaf: leaf, keptLeaf: try keys.leaf(of: found.row, found.facts, isKept: true))
    }
  }

  let tag: ItemTag
  /// The vault's.
  let format: VaultFormat
  var path: TreePath
  /// nil for an item that never was.
  let current: Current?
  /// What the item's row shows, where it is no revision itself.
  var shown: ShownSides?
  /// Says what was purged of the item, where its row speaks of contents that it has not; else nil.
  var purged: RevisionVector?

  /// The revision of a value that is there.
  var liveRevision: UInt64? {
    switch current {
    case .some(let current): current.facts.kind != .deleted ? current.facts.revision : nil
    case .none: nil
    }
  }

  /// What the item is; nil for one that never was.
  var kind: ItemKind? {
    switch current {
    case .some(let current): current.facts.kind
    case .none: nil
    }
  }

  /// Whether the item is protected until now.
  var isProtected: Bool {
    switch current {
    case .some(let current): current.facts.protection == .protected
    case .none: false
    }
  }

  /// Whether only the history of a deleted item is there.
  var isDeleted: Bool { current != nil && liveRevision == nil }

  /// Checks the condition of a put.
  func check(_ condition: PutCondition) throws(VaultError) {
    switch condition {
    case .create:
      if let liveRevision { throw .exists(revision: liveRevision) }
    case .replace: break
    case .revision(let wanted): try check(live: wanted)
    }
  }

  /// Checks that there is a value, and at which revision.
  ///
  /// - Parameter wanted: nil for any.
  func check(live wanted: UInt64?) throws(VaultError) {
    guard let liveRevision else { throw .notFound }
    guard wanted == nil || wanted == liveRevision else {
      throw .revisionConflict(current: liveRevision)
    }
  }

  /// The next revision; an item that was deleted begins anew.
  ///
  /// - Parameters:
  ///   - parts: What the change sets besides attributes.
  ///   - now: When it is stored.
  ///   - times: When it was made and changed elsewhere; nil: it is changed now.
  func next(
    _ name: Span<UInt8>, _ edits: borrowing AttributeEdits, setting parts: RevisionParts,
    size: UInt64, modified now: UInt64, _ times: ItemTimes? = nil
  ) throws(VaultError) -> NextRevision {
    guard !edits.hasSecrets || format > .first else { throw .takesNewFormat }
    try edits.checkRepetition()
    let meta = try newMeta(name, edits, size: size, modified: now, times)
    return NextRevision(
      meta, setting: parts, edited: try edits.editedKeys(), secrets: try edits.secretEdits())
  }

  private func newMeta(
    _ name: Span<UInt8>, _ edits: borrowing AttributeEdits, size: UInt64, modified now: UInt64,
    _ times: ItemTimes?
  ) throws(VaultError) -> ItemMeta {
    let modified = times?.modified ?? now
    switch current {
    case .some(let current) where current.facts.kind != .deleted:
      return try ItemMeta.made(
        name, created: times?.created ?? current.meta.created, modified: modified, size: size,
        try edits.applied(to: current.meta.attributes))
    case .some: break
    case .none: break
    }
    let none = try fromFormat(.item, Attributes.empty())
    return try ItemMeta.made(
      name, created: times?.created ?? modified, modified: modified, size: size,
      try edits.applied(to: none.list))
  }
}

extension ItemMeta {
  /// Reads an opened meta.
  static func read(
    _ plaintext: consuming SecretBytes, of format: VaultFormat
  ) throws(VaultError) -> ItemMeta {
    do { return try decode(plaintext, of: format) } catch { throw VaultError(error, about: .item) }
  }

  fileprivate static func made(
    _ name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    _ attributes: borrowing Attributes
  ) throws(VaultError) -> ItemMeta {
    try fromFormat(
      .item,
      ItemMeta(
        name: name, created: created, modified: modified, size: size, attributes: attributes.list))
  }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  /// Loads and verifies everything that a change of an item begins with.
  mutating func beginChange(of tag: ItemTag) throws(VaultError) -> ItemChange {
    let path = try rows.tree.path(to: tag, under: trust.root, in: &rows.storage, keys)
    let leaf = BucketLeaves(path.leaves.span).leaf(of: tag)
    return try change(of: tag, leaf: leaf, at: path)
  }

  /// Loads and verifies what an item is until now.
  ///
  /// - Parameters:
  ///   - leaf: The one that the tree has of it; nil for an item that never was.
  ///   - tree: What is done with many buckets at once; nil where the tree is as the root says.
  mutating func change(
    of tag: ItemTag, leaf: Digest?, at path: TreePath, in tree: TreeEdit? = nil
  ) throws(VaultError) -> ItemChange {
    guard let leaf else { return ItemChange(tag: tag, format: format, path: path, current: nil) }
    let current = try rows.withCurrent(tag, leaf: leaf, keys) { found, keys throws(VaultError) in
      try ItemChange.Current.load(found, leaf, keys)
    }
    guard let current else { throw .damaged(.item) }
    let shown = try shownSides(of: current, in: tree)
    let purged = try purgedBeside(current, in: tree)
    return ItemChange(
      tag: tag, format: format, path: path, current: current, shown: shown, purged: purged)
  }

  /// The current body of an item, to be sealed again.
  mutating func currentContent(_ tag: ItemTag) throws(VaultError) -> NewContent {
    let content = try rows.withCurrent(tag, under: trust.root, keys) {
      found, keys throws(VaultError) in
      let meta = try keys.openMeta(found.row.meta, found.facts)
      let body = try keys.openBody(found.row.body, found.facts)
      return try NewContent(
        plaintext: body, size: meta.size, found.facts.protection, of: keys.format)
    }
    guard let content else { throw .damaged(.item) }
    return content
  }

  /// Writes the next revision: history, row, bucket, nodes, counts and, when it is time, one more
  /// level of the tree. What was protected stays so.
  ///
  /// - Parameters:
  ///   - protecting: Whether the item is protected from now on, with its history.
  ///   - isKept: Whether the revision until now goes to the history.
  /// - Returns: The new revision.
  mutating func finish(
    _ change: consuming ItemChange, _ next: borrowing NextRevision,
    _ content: borrowing NewContent, _ kind: ItemKind, protecting: Bool = false,
    _ draft: inout Draft, keepingCurrent isKept: Bool = true
  ) throws(VaultError) -> UInt64 {
    var path = change.path
    let tag = change.tag
    let (revision, leaf) = try storeRevision(
      change, next, content, kind, protecting: protecting, &draft, keepingCurrent: isKept)
    path.leaves.setLeaf(leaf, of: tag)
    draft.root.treeRoot = try rows.tree.store(path, in: &rows.storage, keys)
    try growTree(&draft)
    return revision
  }

  /// Gives the tree one more level when it is time.
  mutating func growTree(_ draft: inout Draft) throws(VaultError) {
    while Tree.depth(for: draft.root.itemCount) > draft.root.depth {
      draft.root = try rows.tree.grow(from: draft.root, in: &rows.storage, keys)
    }
  }

  /// Writes the next revision but for its place in the tree.
  ///
  /// - Returns: The new revision, and the leaf that the tree is to have of it.
  mutating func storeRevision(
    _ change: borrowing ItemChange, _ next: borrowing NextRevision,
    _ content: borrowing NewContent, _ kind: ItemKind, protecting: Bool, _ draft: inout Draft,
    keepingCurrent isKept: Bool = true
  ) throws(VaultError) -> (revision: UInt64, leaf: Digest) {
    let isProtected = protecting || content.isProtected || change.isProtected
    let facts = try nextFacts(change, kind, isProtected ? .protected : .standard)
    var history =
      isKept
      ? try keepCurrent(change, newValue: content.value, &draft) : change.kept?.1 ?? HistoryList()
    if isProtected && !change.isProtected {
      history = try reseal(history, of: facts.id, as: .protected, nil, &draft)
    }
    let (sealedMeta, sealedBody) = try seal(next, content, change, facts, kind, &draft)
    let (tag, id, list) = (facts.tag.bytes, facts.id.bytes, history.encoded)
    let row = ItemRow(
      tag: tag.span, id: id.span, facts: facts.revisionFacts, history: list.span,
      meta: sealedMeta.span, body: sealedBody.span)
    try fromStorage(rows.storage.storeItem(row))
    let leaf = try keys.leaf(of: row, facts)
    if change.current == nil { draft.root.itemCount += 1 }
    return (facts.revision, leaf)
  }

  private func nextFacts(
    _ change: borrowing ItemChange, _ kind: ItemKind, _ protection: ProtectionClass
  ) throws(VaultError) -> RowFacts {
    let generation = keys.ring.active
    switch change.current {
    case .some(let current):
      // A revision is an integer of SQLite's, which has a sign.
      guard current.facts.revision < UInt64(Int64.max) else { throw .damaged(.item) }
      return RowFacts(
        tag: change.tag, id: current.facts.id, revision: current.facts.revision + 1,
        generation: generation, protection: protection, kind: kind)
    case .none:
      do {
        return RowFacts(
          tag: change.tag, id: try ItemID.random(), revision: 1, generation: generation,
          protection: protection, kind: kind)
      } catch {
        throw VaultError(error, about: .item)
      }
    }
  }
}
