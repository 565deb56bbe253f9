// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// The keys of an unlocked vault, and what is done with them. The vault key itself is not kept.
struct Keyring: ~Copyable {
  let vault: VaultID
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
  /// For the integrity tree.
  let tree: TreeHash
  /// The data keys and the policy.
  var ring: Ring

  /// Derives the keys, then opens the ring with them.
  static func derive(
    from vaultKey: borrowing Key, vault: VaultID, sealedRing: [UInt8]
  ) throws(VaultError) -> Keyring {
    let id = vault.bytes
    do {
      let ringKey = try vaultKey.subkey(.ring, vault: id.span)
      let ring = try open(ring: sealedRing, under: ringKey, vault: vault)
      return Keyring(
        vault: vault, name: try vaultKey.subkey(.name, vault: id.span), ringKey: ringKey,
        root: try vaultKey.subkey(.root, vault: id.span),
        seen: try vaultKey.subkey(.seen, vault: id.span),
        log: try LogKeys(try vaultKey.subkey(.log, vault: id.span), vault: vault),
        tree: TreeHash(key: try vaultKey.subkey(.tree, vault: id.span), vault: vault),
        ring: ring)
    } catch {
      throw VaultError(error, about: .ring)
    }
  }

  /// Opens the ring as it stands now, after another engine wrote it.
  mutating func reload(ring sealed: [UInt8]) throws(VaultError) {
    ring = try Keyring.open(ring: sealed, under: ringKey, vault: vault)
  }

  /// The same keys with the ring of a state of the file, for somebody who goes on with that state.
  borrowing func copy(ring sealed: [UInt8]) throws(VaultError) -> Keyring {
    do {
      return Keyring(
        vault: vault, name: try name.copy(), ringKey: try ringKey.copy(), root: try root.copy(),
        seen: try seen.copy(), log: try log.copy(), tree: try tree.copy(),
        ring: try Keyring.open(ring: sealed, under: ringKey, vault: vault))
    } catch {
      throw VaultError(error, about: .ring)
    }
  }

  private static func open(
    ring sealed: [UInt8], under key: borrowing Key, vault: VaultID
  ) throws(VaultError) -> Ring {
    do {
      let plaintext = try Seal.openPadded(
        sealed.span, authenticating: AssociatedData.ring(vault: vault).span, under: key)
      return try Ring.decode(plaintext.bytes)
    } catch {
      throw VaultError(error, about: .ring)
    }
  }

  /// The ring as it is to stand in the file.
  borrowing func sealedRing() throws(VaultError) -> [UInt8] { try seal(ring) }

  /// A ring as it is to stand in the file.
  borrowing func seal(_ ring: borrowing Ring) throws(VaultError) -> [UInt8] {
    do {
      let plaintext = try ring.encode()
      return try Seal.sealPadded(
        plaintext.bytes, authenticating: AssociatedData.ring(vault: vault).span, under: ringKey)
    } catch {
      throw VaultError(error, about: .ring)
    }
  }
}

// MARK: - The root

extension Keyring {
  /// Opens a root.
  borrowing func open(root sealed: Span<UInt8>) throws(VaultError) -> RootRecord {
    do {
      let plaintext = try Seal.open(
        sealed, authenticating: AssociatedData.root(vault: vault).span, under: root)
      return try RootRecord(decoding: plaintext.bytes)
    } catch {
      throw VaultError(error, about: .root)
    }
  }

  /// Seals a root.
  borrowing func seal(_ record: RootRecord) throws(VaultError) -> [UInt8] {
    do {
      return try Seal.seal(
        record.encoded.span, authenticating: AssociatedData.root(vault: vault).span, under: root)
    } catch {
      throw VaultError(error, about: .root)
    }
  }

  /// What names a root to people and to the root that follows it.
  borrowing func fingerprint(of record: RootRecord) throws(VaultError) -> Digest {
    do { return try tree.fingerprint(of: record) } catch {
      throw VaultError(error, about: .root)
    }
  }

  /// What header, ring and slots come to together.
  borrowing func headerDigest(
    header: [UInt8], ring: [UInt8], slots: [SlotRow]
  ) throws(VaultError) -> Digest {
    do {
      var digest = try HeaderDigest(
        key: root, header: header.span, ring: ring.span, slotCount: slots.count)
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
    do { return try item.tag(under: name) } catch { throw VaultError(error, about: .item) }
  }

  /// The tags of names, one after the other.
  borrowing func tagHasher() throws(VaultError) -> TagHasher {
    do { return try TagHasher(key: name) } catch { throw VaultError(error, about: .item) }
  }

  /// The leaf that a row comes to.
  ///
  /// - Parameter isKept: Whether the row is, or is to become, one of the history.
  borrowing func leaf(
    of row: borrowing ItemRow, _ facts: ItemFacts, isKept: Bool = false
  ) throws(VaultError) -> Digest {
    do {
      let head = isKept ? Digest.zero : try tree.historyHead(of: facts.id, list: row.history)
      return try tree.leaf(facts, meta: row.meta, body: row.body, history: head)
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Opens a row's meta.
  borrowing func openMeta(
    _ sealed: Span<UInt8>, _ facts: ItemFacts
  ) throws(VaultError) -> ItemMeta {
    do {
      let key = try ring.dataKey(facts.generation)
      let meta = try ItemMeta.decode(
        try Seal.openPadded(
          sealed, authenticating: AssociatedData.meta(vault: vault, facts: facts).span,
          under: key))
      try check(nameOf: meta, facts)
      guard facts.kind.admits(size: meta.size) else { throw FormatError.damaged }
      return meta
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Only who has the keys can have put another item's name there.
  private borrowing func check(nameOf meta: borrowing ItemMeta, _ facts: ItemFacts) throws {
    guard try ItemName.tag(of: meta.name, under: name) == facts.tag else {
      throw VaultError.damaged(.item)
    }
  }

  /// Opens a row's body; what stands in it is not read yet. That of a protected item is an
  /// encoded ``ProtectedBody``.
  borrowing func openBody(
    _ sealed: Span<UInt8>, _ facts: ItemFacts
  ) throws(VaultError) -> SecretBytes {
    do {
      let key = try ring.dataKey(facts.generation)
      return try Seal.openPadded(
        sealed, authenticating: AssociatedData.body(vault: vault, facts: facts).span, under: key)
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Seals a meta under the active data key.
  borrowing func seal(
    _ meta: borrowing ItemMeta, _ facts: ItemFacts
  ) throws(VaultError) -> [UInt8] {
    do {
      let key = try ring.dataKey(facts.generation)
      return try Seal.sealPadded(
        meta.encoded, authenticating: AssociatedData.meta(vault: vault, facts: facts).span,
        under: key)
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Seals a body under the active data key.
  borrowing func seal(body: Span<UInt8>, _ facts: ItemFacts) throws(VaultError) -> [UInt8] {
    do {
      let key = try ring.dataKey(facts.generation)
      return try Seal.sealPadded(
        body, authenticating: AssociatedData.body(vault: vault, facts: facts).span, under: key)
    } catch {
      throw VaultError(error, about: .item)
    }
  }
}

extension ItemFacts {
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
  var rowFacts: RevisionFacts {
    RevisionFacts(
      revision: revision, generation: generation, itemClass: protection.rawValue,
      kind: kind.rawValue)
  }
}
