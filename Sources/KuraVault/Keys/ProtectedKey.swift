// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Opens protected values; wiped when dropped.
///
/// An unlocked vault does not have it. The secret half of its protected pair, which opens all of them, comes
/// out of a slot for somebody who has just shown what opens that slot, and should be gone as soon as what they
/// asked for was read. What may be read again opens by keys of its own.
public struct ProtectedKey: ~Copyable, Sendable {
  private let pair: ProtectedPair?
  private let bodies: [BodyKey]
  private let opened: OpenedSeals?

  init(pair: consuming ProtectedPair) {
    self.pair = consume pair
    bodies = []
    opened = nil
  }

  /// What opens some values, and no others.
  ///
  /// - Parameters:
  ///   - bodies: The keys of the values.
  ///   - opened: Counts what is opened.
  public init(of bodies: [BodyKey], counting opened: OpenedSeals? = nil) {
    pair = nil
    self.bodies = bodies
    self.opened = opened
  }
}

extension ProtectedKey {
  /// Opens a protected body.
  ///
  /// - Parameter half: The public half of the vault's pair.
  /// - Throws: ``VaultError/protected`` where it opens others.
  borrowing func open(
    _ body: borrowing ProtectedBody, of item: ItemID, in vault: VaultID, half: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    do throws(FormatError) {
      switch pair {
      case .some(let pair):
        if pair.publicHalf == half { return try body.open(with: pair, vault: vault, item: item) }
      case .none:
        if let own = seal(beside: body.ephemeral, of: item) {
          return try body.open(under: own.key, vault: vault, item: item)
        }
      }
    } catch { throw VaultError(error, about: .item) }
    throw .protected
  }

  /// Opens the secret attributes of a protected item.
  ///
  /// - Throws: ``VaultError/protected`` where it opens others, or not all of them.
  borrowing func opened(
    _ secrets: borrowing SecretContent?, of item: ItemID, in vault: VaultID, half: [UInt8]
  ) throws(VaultError) -> SecretContent? {
    switch secrets {
    case .none: return nil
    case .some(let secrets):
      return try secrets.opened { cursor throws(VaultError) in
        try open(cursor, of: item, in: vault, half: half)
      }
    }
  }

  /// Seals the secret attributes of a protected item for another pair.
  ///
  /// - Parameters:
  ///   - old: The keys of the vault that they are of.
  ///   - keys: Those of the vault that they go to.
  /// - Throws: ``VaultError/protected`` where it opens others, or not all of them.
  borrowing func resealed(
    _ secrets: borrowing SecretContent?, of item: ItemID, from old: borrowing Keyring,
    for keys: borrowing Keyring
  ) throws(VaultError) -> SecretBytes? {
    let half = old.ring.protectedHalf
    let place = SecretPlace(
      protection: .protected, publicHalf: keys.ring.protectedHalf, vault: keys.vault, item: item)
    switch secrets {
    case .none: return nil
    case .some(let secrets):
      return try secrets.resealed(for: place) { cursor throws(VaultError) in
        try open(cursor, of: item, in: old.vault, half: half)
      }
    }
  }

  /// Opens the secret attribute that a walk is at.
  ///
  /// - Throws: ``VaultError/protected`` where it opens others.
  borrowing func open(
    _ cursor: borrowing SealedAttributeCursor, of item: ItemID, in vault: VaultID, half: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    do throws(FormatError) {
      switch pair {
      case .some(let pair):
        if pair.publicHalf == half { return try cursor.open(with: pair, vault: vault, item: item) }
      case .none:
        if let own = seal(beside: cursor.ephemeral, of: item) {
          return try cursor.open(under: own.key, vault: vault, item: item)
        }
      }
    } catch { throw VaultError(error, about: .item) }
    throw .protected
  }

  private borrowing func seal(beside ephemeral: Span<UInt8>, of item: ItemID) -> SealKey? {
    for body in bodies {
      guard let own = body.seal(beside: ephemeral, of: item) else { continue }
      opened?.add()
      return own
    }
    return nil
  }

  /// The keys of one body alone; nil where this opens others.
  fileprivate borrowing func key(
    of body: borrowing ProtectedBody, _ secrets: borrowing SecretContent?, _ item: ItemID,
    half: [UInt8]
  ) throws(VaultError) -> BodyKey? {
    switch pair {
    case .some(let pair):
      guard pair.publicHalf == half else { return nil }
      let value = try fromFormat(.item, body.openingKey(of: pair))
      var seals = [SealKey(beside: body.ephemeral, value)]
      switch secrets {
      case .some(let secrets):
        var cursor = try secrets.sealed().makeCursor()
        while cursor.advance() {
          let key = try fromFormat(.item, cursor.openingKey(of: pair))
          seals.append(SealKey(beside: cursor.ephemeral, key))
        }
      case .none: break
      }
      return BodyKey(of: item, seals)
    case .none:
      let ephemeral = body.ephemeral
      return bodies.first { $0.opensValue(beside: ephemeral, of: item) }
    }
  }
}

extension UnlockedVault {
  /// What opens one protected value and the secret attributes beside it, so that it can be kept in the place of what
  /// opens all of them.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - revision: An earlier one; nil for the current one.
  ///   - key: The secret half, or what opens single values.
  /// - Returns: nil for a value that is not protected, and for one that the key does not open.
  /// - Throws: As ``value(_:revision:with:)`` does.
  public mutating func bodyKey(
    _ name: Span<UInt8>, revision: UInt64? = nil, from key: borrowing ProtectedKey?
  ) throws(VaultError) -> BodyKey? {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let (facts, history) = try vault.verifiedHistory(tag) else { throw .notFound }
      guard let revision, revision != facts.revision else {
        guard facts.kind != .deleted else { throw .notFound }
        let found = try vault.rows.withCurrent(tag, under: vault.trust.root, vault.keys) {
          found, keys throws(VaultError) in try keys.bodyKey(found, key)
        }
        return found ?? nil
      }
      guard let entry = history.entries.first(where: { $0.revision == revision }) else {
        throw .revisionNotFound
      }
      return try vault.rows.withKept(entry, of: facts, vault.keys) {
        found, keys throws(VaultError) in try keys.bodyKey(found, key)
      }
    }
  }
}

extension UnlockedVault {
  /// Opens the protected pair's secret half.
  ///
  /// - Parameter fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now.
  /// - Throws: ``VaultError/noProtectedHalf`` when its slot does not hold that half;
  ///   ``VaultError/credentialStale`` when it belongs to another state of the vault;
  ///   ``VaultError/damaged(_:)`` when the half is not of the ring's pair; those of reading.
  public mutating func protectedKey(
    from fresh: borrowing VaultKey
  ) throws(VaultError) -> ProtectedKey {
    let row = fresh.row
    try reading { vault throws(VaultError) in
      guard vault.trust.slots.contains(row) else { throw .credentialStale }
    }
    guard fresh.holdsProtectedHalf else { throw .noProtectedHalf }
    let pair = ProtectedPair(secretHalf: try fresh.protectedHalf(vault: id))
    try keys.check(pair)
    return ProtectedKey(pair: pair)
  }
}

extension Keyring {
  /// Checks that what is sealed for the ring's public half opens with a slot's secret half.
  ///
  /// The root vouches for both by then: where they differ, it was no credential that is wrong, and what
  /// would be stored as protected could never be read.
  borrowing func check(_ pair: borrowing ProtectedPair) throws(VaultError) {
    guard pair.publicHalf == ring.protectedHalf else { throw .damaged(.ring) }
  }
}

extension VaultKey {
  /// Whether the slot opens protected values, too.
  public var holdsProtectedHalf: Bool { !row.protected.isEmpty }

  /// The protected pair's secret half, before the unlock that proves the slot to be the vault's: it
  /// opens nothing unless the pair is that of the sealed ring.
  ///
  /// - Parameter vault: The vault's id.
  /// - Throws: ``VaultError/noProtectedHalf``, ``VaultError/damaged(_:)``, ``VaultError/outOfMemory``.
  public borrowing func protectedKey(of vault: VaultID) throws(VaultError) -> ProtectedKey {
    guard holdsProtectedHalf else { throw .noProtectedHalf }
    return ProtectedKey(pair: ProtectedPair(secretHalf: try protectedHalf(vault: vault)))
  }
}

// MARK: - Bodies

extension ProtectedBody {
  /// Reads a protected item's body, without what is sealed in it.
  static func read(
    _ plaintext: consuming SecretBytes, of format: VaultFormat
  ) throws(VaultError) -> ProtectedBody {
    do { return try decode(plaintext, of: format) } catch { throw VaultError(error, about: .item) }
  }
}

extension Keyring {
  /// Opens a row's body as far as a standard one goes.
  ///
  /// - Parameter key: What opens a protected one.
  /// - Throws: ``VaultError/protected`` without the key, or when it opens others.
  borrowing func openStandard(
    _ sealed: Span<UInt8>, _ facts: RowFacts, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> PartedBody {
    let parts = try parts(sealed, facts)
    guard facts.protection == .protected else { return parts }
    switch key {
    case .none: throw .protected
    case .some(let key):
      let body = try protectedBody(parts.value, facts)
      return PartedBody(
        value: try key.open(body, of: facts.id, in: vault, half: ring.protectedHalf),
        secrets: try key.opened(parts.secrets, of: facts.id, in: vault, half: ring.protectedHalf))
    }
  }

  /// Opens the value of a row's body alone.
  ///
  /// - Throws: As ``openStandard(_:_:_:)`` does.
  borrowing func openValue(
    in sealed: Span<UInt8>, _ facts: RowFacts, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let parts = try parts(sealed, facts)
    guard facts.protection == .protected else { return parts.value }
    switch key {
    case .none: throw .protected
    case .some(let key):
      let body = try protectedBody(parts.value, facts)
      return try key.open(body, of: facts.id, in: vault, half: ring.protectedHalf)
    }
  }

  /// Opens the secret attributes of a row's body alone; nil for none.
  ///
  /// - Throws: As ``openStandard(_:_:_:)`` does, also where there are none.
  borrowing func openSecrets(
    in sealed: Span<UInt8>, _ facts: RowFacts, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretContent? {
    let parts = try parts(sealed, facts)
    guard facts.protection == .protected else { return parts.secrets }
    switch key {
    case .none: throw .protected
    case .some(let key):
      return try key.opened(parts.secrets, of: facts.id, in: vault, half: ring.protectedHalf)
    }
  }

  /// The parts of a row's body, which in a protected one stay sealed.
  borrowing func parts(
    _ sealed: Span<UInt8>, _ facts: RowFacts
  ) throws(VaultError) -> PartedBody {
    try PartedBody.part(try openBody(sealed, facts), facts.protection, of: format)
  }

  /// Reads a protected item's body, which cannot be of a later revision.
  borrowing func protectedBody(
    _ plaintext: consuming SecretBytes, _ facts: RowFacts
  ) throws(VaultError) -> ProtectedBody {
    let body = try ProtectedBody.read(plaintext, of: format)
    guard body.isSealed(upTo: facts.revision) else { throw .damaged(.item) }
    return body
  }

  /// The keys of a row's body alone; nil for a standard one.
  fileprivate borrowing func bodyKey(
    _ found: VerifiedRow, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> BodyKey? {
    guard found.facts.protection == .protected, found.facts.kind != .deleted else { return nil }
    switch key {
    case .none: return nil
    case .some(let key):
      let parts = try parts(found.row.body, found.facts)
      let body = try protectedBody(parts.value, found.facts)
      return try key.key(of: body, parts.secrets, found.facts.id, half: ring.protectedHalf)
    }
  }

  /// Seals a standard body so that only the secret half opens it, and that under the active data key.
  ///
  /// - Parameters:
  ///   - origin: Which revision set the value.
  ///   - secrets: The secret attributes as they are to stand beside it.
  borrowing func seal(
    protecting body: Span<UInt8>, _ facts: RowFacts, for origin: ProtectedBody.Origin,
    _ secrets: borrowing SecretBytes?
  ) throws(VaultError) -> [UInt8] {
    let inner = try protected(body, facts, for: origin)
    return try seal(inner.encoded, beside: secrets, facts)
  }

  /// A standard body as only the secret half of the vault's pair opens it.
  borrowing func protected(
    _ body: Span<UInt8>, _ facts: RowFacts, for origin: ProtectedBody.Origin
  ) throws(VaultError) -> ProtectedBody {
    try fromFormat(
      .item,
      ProtectedBody.seal(
        body, to: ring.protectedHalf, vault: vault, item: facts.id, for: origin))
  }
}
