// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds the keys of an unlocked vault, and does all that is done with them. The vault key itself is not kept.
struct Keyring: ~Copyable {
  let vault: VaultID
  /// What rings, roots and rows are read as.
  var format: VaultFormat
  /// For names to tags.
  let name: Key
  /// For the key ring's seal.
  let ringKey: Key
  /// For the root's seal and the header digest.
  let root: Key
  /// For the seen file.
  let seen: Key
  /// For the access log.
  let log: LogKeys
  /// For what copies of the vault know of each other.
  let sync: Key
  /// For what stands in a store for other devices.
  let remote: Key
  /// Proves to them that who begins an epoch had the key of the one before.
  let epochProof: Key
  /// For the integrity tree.
  let tree: TreeHash
  /// The data keys and the policy.
  var ring: Ring

  /// Derives the keys, then opens the ring with them.
  static func derive(
    from vaultKey: borrowing Key, of header: VaultHeader, sealedRing: [UInt8]
  ) throws(VaultError) -> Keyring {
    let (vault, format) = (header.vault, header.format)
    let ringKey = try vaultKey.subkey(.ring, of: vault)
    let ring = try open(ring: sealedRing, under: ringKey, vault: vault, format)
    let log = try vaultKey.subkey(.log, of: vault)
    return Keyring(
      vault: vault, format: format, name: try vaultKey.subkey(.name, of: vault), ringKey: ringKey,
      root: try vaultKey.subkey(.root, of: vault), seen: try vaultKey.subkey(.seen, of: vault),
      log: try fromFormat(.ring, LogKeys(log, vault: vault)),
      sync: try vaultKey.subkey(.sync, of: vault),
      remote: try vaultKey.subkey(.remote, of: vault),
      epochProof: try vaultKey.subkey(.epoch, of: vault),
      tree: TreeHash(key: try vaultKey.subkey(.tree, of: vault), vault: vault), ring: ring)
  }

  /// Opens the ring as it stands now, after another engine wrote it.
  mutating func reload(ring sealed: [UInt8], of format: VaultFormat) throws(VaultError) {
    ring = try Keyring.open(ring: sealed, under: ringKey, vault: vault, format)
    self.format = format
  }

  /// The same keys with the ring of a state of the file, for somebody who goes on with that state.
  borrowing func copy(
    ring sealed: [UInt8], of format: VaultFormat
  ) throws(VaultError) -> Keyring {
    Keyring(
      vault: vault, format: format, name: try name.copied(), ringKey: try ringKey.copied(),
      root: try root.copied(), seen: try seen.copied(),
      log: try fromFormat(.ring, self.log.copy()), sync: try sync.copied(),
      remote: try remote.copied(), epochProof: try epochProof.copied(),
      tree: try fromFormat(.ring, self.tree.copy()),
      ring: try Keyring.open(ring: sealed, under: ringKey, vault: vault, format))
  }

  private static func open(
    ring sealed: [UInt8], under key: borrowing Key, vault: VaultID, _ format: VaultFormat
  ) throws(VaultError) -> Ring {
    let plaintext = try AssociatedData.ring(vault: vault).openPadded(sealed.span, under: key, .ring)
    return try fromFormat(.ring, Ring.decode(plaintext.bytes, of: format))
  }

  /// The ring as it is to stand in the file.
  borrowing func sealedRing() throws(VaultError) -> [UInt8] { try seal(ring) }

  /// A ring as it is to stand in the file.
  borrowing func seal(_ ring: borrowing Ring) throws(VaultError) -> [UInt8] {
    try Keyring.seal(ring, under: ringKey, vault: vault)
  }

  /// Seals the ring of a vault that has no keyring yet.
  static func sealFirst(
    _ ring: borrowing Ring, under vaultKey: borrowing Key, vault: VaultID
  ) throws(VaultError) -> [UInt8] {
    try seal(ring, under: try vaultKey.subkey(.ring, of: vault), vault: vault)
  }

  private static func seal(
    _ ring: borrowing Ring, under key: borrowing Key, vault: VaultID
  ) throws(VaultError) -> [UInt8] {
    let plaintext = try fromFormat(.ring, ring.encode())
    return try AssociatedData.ring(vault: vault).sealPadded(plaintext.bytes, under: key, .ring)
  }
}

// MARK: - The root

extension Keyring {
  /// Opens a root.
  borrowing func open(root sealed: Span<UInt8>) throws(VaultError) -> RootRecord {
    let plaintext = try AssociatedData.root(vault: vault).open(sealed, under: root, .root)
    return try fromFormat(.root, RootRecord(decoding: plaintext.bytes, of: format))
  }

  /// Seals a root.
  borrowing func seal(_ record: RootRecord) throws(VaultError) -> [UInt8] {
    try AssociatedData.root(vault: vault).seal(record.encoded.span, under: root, .root)
  }

  /// What names a root to people and to the root that follows it.
  borrowing func fingerprint(of record: RootRecord) throws(VaultError) -> Digest {
    try fromFormat(.root, tree.fingerprint(of: record))
  }

  /// What header, ring, what copies know of each other, and slots come to together.
  ///
  /// - Parameter copies: Nil in format 1.
  borrowing func headerDigest(
    header: [UInt8], ring: [UInt8], copies: CopyParts?, slots: [SlotRow]
  ) throws(VaultError) -> Digest {
    do {
      var digest = try HeaderDigest(
        key: root, header: header.span, ring: ring.span, devices: copies?.devices,
        remote: copies?.remote, slotCount: slots.count)
      for slot in slots {
        digest.add(
          slot: slot.number, header: slot.header.span, key: slot.key.span,
          protected: slot.protected.span)
      }
      return digest.finalize()
    } catch {
      throw VaultError(error, about: .header)
    }
  }
}

// MARK: - Items

extension Keyring {
  /// The tag of a name.
  borrowing func tag(of item: borrowing ItemName) throws(VaultError) -> ItemTag {
    try fromCrypto(.item, item.tag(under: name))
  }

  /// The leaf that a row comes to.
  ///
  /// - Parameter isKept: Whether the row is, or is to become, one of the history.
  borrowing func leaf(
    of row: borrowing ItemRow, _ facts: RowFacts, isKept: Bool = false
  ) throws(VaultError) -> Digest {
    do {
      let head = isKept ? Digest.zero : try tree.historyHead(of: facts.id, list: row.history)
      return try tree.leaf(facts, meta: row.meta, body: row.body, history: head)
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// The leaf that a row comes to which is to be an item's.
  ///
  /// - Parameter history: The encoded list of its history.
  borrowing func leaf(
    of sealed: ResealedRow, _ history: [UInt8]
  ) throws(VaultError) -> Digest {
    do {
      let head = try tree.historyHead(of: sealed.facts.id, list: history.span)
      return try tree.leaf(
        sealed.facts, meta: sealed.meta.span, body: sealed.body.span, history: head)
    } catch { throw VaultError(error, about: .item) }
  }

  /// Opens a row's meta.
  borrowing func openMeta(
    _ sealed: Span<UInt8>, _ facts: RowFacts
  ) throws(VaultError) -> ItemMeta {
    let plaintext = try AssociatedData.meta(vault: vault, facts: facts).openPadded(
      sealed, under: try dataKey(facts.generation, .item), .item)
    let meta = try ItemMeta.read(plaintext, of: format)
    // Only who has the keys can have put another item's name there.
    guard try fits(meta, facts) else { throw .damaged(.item) }
    return meta
  }

  private borrowing func fits(
    _ meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> Bool {
    guard try tag(of: meta, facts) == facts.tag else { return false }
    return meta.view.fits(facts.kind, revision: facts.revision)
  }

  /// The tag that a row has with a meta.
  borrowing func tag(
    of meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> ItemTag {
    facts.kind == .purged ? try tag(ofPurged: facts.id) : try tag(of: meta)
  }

  /// The tag under which stands what is left of a purged item.
  borrowing func tag(ofPurged item: ItemID) throws(VaultError) -> ItemTag {
    try fromCrypto(.item, ItemName.tag(ofPurged: item, under: name))
  }

  /// The tag of the name in a meta.
  borrowing func tag(of meta: borrowing ItemMeta) throws(VaultError) -> ItemTag {
    try fromCrypto(.item, ItemName.tag(of: meta.name, under: name))
  }

  /// Opens a row's body; what stands in it is not read yet. That of a protected item is an
  /// encoded ``ProtectedBody``.
  borrowing func openBody(
    _ sealed: Span<UInt8>, _ facts: RowFacts
  ) throws(VaultError) -> SecretBytes {
    try AssociatedData.body(vault: vault, facts: facts).openPadded(
      sealed, under: try dataKey(facts.generation, .item), .item)
  }

  /// Seals a meta under the active data key.
  borrowing func seal(
    _ meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> [UInt8] {
    // Nobody could read it again.
    guard meta.view.fits(facts.kind, revision: facts.revision) else { throw .damaged(.item) }
    return try AssociatedData.meta(vault: vault, facts: facts).sealPadded(
      meta.encoded, under: try dataKey(facts.generation, .item), .item)
  }

  /// Seals a new body under the active data key, without a copy where it has its padding.
  borrowing func seal(
    _ content: borrowing NewContent, _ facts: RowFacts
  ) throws(VaultError) -> [UInt8] {
    guard let padded = content.padded else { return try seal(body: content.body, facts) }
    let place = AssociatedData.body(vault: vault, facts: facts)
    let key = try dataKey(facts.generation, .item)
    return try fromCrypto(.item, Seal.seal(padded, authenticating: place.span, under: key))
  }

  /// Seals a body under the active data key.
  borrowing func seal(body: Span<UInt8>, _ facts: RowFacts) throws(VaultError) -> [UInt8] {
    let place = AssociatedData.body(vault: vault, facts: facts)
    let key = try dataKey(facts.generation, .item)
    return try fromCrypto(
      .item, Seal.sealPadded(body, authenticating: place.span, under: key))
  }
}

extension RowFacts {
  /// What a row says of itself, in the format's terms.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` for a kind or class of a later release.
  init(_ row: borrowing ItemRow, about subject: Damage = .item) throws(VaultError) {
    guard let protection = ProtectionClass(rawValue: row.facts.itemClass),
      let kind = ItemKind(rawValue: row.facts.kind)
    else { throw .damaged(subject) }
    self.init(
      tag: ItemTag(row.tag), id: ItemID(row.id), revision: row.facts.revision,
      generation: row.facts.generation, protection: protection, kind: kind)
  }

  /// The numbers of this revision as a row holds them.
  var revisionFacts: RevisionFacts {
    RevisionFacts(
      revision: revision, generation: generation, itemClass: protection.rawValue,
      kind: kind.rawValue)
  }
}
