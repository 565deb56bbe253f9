// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage
public import SecureMemory

extension UnlockedVault {
  /// The value of a secret attribute.
  ///
  /// - Parameters:
  ///   - key: In normal form C.
  ///   - name: The item's as given; normalised here.
  ///   - half: What opens protected values; nil where nobody gave a fresh passcode.
  /// - Throws: ``VaultError/notFound``, also for an item without that attribute; ``VaultError/protected`` without the
  ///   half.
  public mutating func secretAttribute(
    _ key: Span<UInt8>, of name: Span<UInt8>, with half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in try vault.currentSecret(key, tag, half) }
  }

  /// The same within a transaction.
  mutating func currentSecret(
    _ key: Span<UInt8>, _ tag: ItemTag, _ half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let value = try rows.withCurrent(tag, under: trust.root, keys) {
      found, keys throws(VaultError) in try keys.secretAttribute(key, found, half)
    }
    guard let value else { throw .notFound }
    return value
  }
}

extension UnlockedVault {
  /// All secret attributes of an item, as a list that is encoded; of none its count alone.
  ///
  /// - Parameters:
  ///   - name: The item's as given; normalised here.
  ///   - revision: An earlier one out of the history; nil for the current one.
  ///   - half: What opens protected values; nil where nobody gave a fresh passcode.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionNotFound``; ``VaultError/protected`` without the half.
  public mutating func secretAttributes(
    of name: Span<UInt8>, revision: UInt64? = nil, with half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let (facts, history) = try vault.verifiedHistory(tag) else { throw .notFound }
      guard let revision, revision != facts.revision else {
        let list = try vault.rows.withCurrent(tag, under: vault.trust.root, vault.keys) {
          found, keys throws(VaultError) in
          guard found.facts.kind != .deleted else { throw .notFound }
          return try keys.secretAttributes(found, half)
        }
        guard let list else { throw .notFound }
        return list
      }
      guard let entry = history.entries.first(where: { $0.revision == revision }) else {
        throw .revisionNotFound
      }
      return try vault.rows.withKept(entry, of: facts, vault.keys) {
        found, keys throws(VaultError) in
        guard found.facts.kind != .deleted else { throw .revisionNotFound }
        return try keys.secretAttributes(found, half)
      }
    }
  }
}

extension Keyring {
  fileprivate borrowing func secretAttributes(
    _ found: VerifiedRow, _ half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let secrets = try openSecrets(in: found.row.body, found.facts, half)
    switch secrets {
    case .some(let secrets): return try secrets.encoded.copied()
    case .none:
      do throws(SecureMemoryError) {
        return try SecretBytes(copying: ([0, 0] as [UInt8]).span)
      } catch { throw .outOfMemory }
    }
  }

  fileprivate borrowing func secretAttribute(
    _ key: Span<UInt8>, _ found: VerifiedRow, _ half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    guard found.facts.kind != .deleted else { throw .notFound }
    let parts = try parts(found.row.body, found.facts)
    let isProtected = found.facts.protection == .protected
    if isProtected {
      switch half {
      case .none: throw .protected
      case .some: break
      }
    }
    switch parts.secrets {
    case .none: throw .notFound
    case .some(let secrets):
      let value =
        isProtected
        ? try sealedAttribute(key, in: secrets, found.facts, half) : try secrets.value(of: key)
      guard let value else { throw .notFound }
      return value
    }
  }

  /// The value of a key in a protected item; nil for none. The others stay sealed.
  private borrowing func sealedAttribute(
    _ key: Span<UInt8>, in secrets: borrowing SecretContent, _ facts: RowFacts,
    _ half: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes? {
    var cursor = try secrets.sealed().makeCursor()
    while cursor.advance() {
      guard cursor.key.isEqual(to: key) else { continue }
      switch half {
      case .none: throw .protected
      case .some(let half):
        return try half.open(cursor, of: facts.id, in: vault, half: ring.protectedHalf)
      }
    }
    return nil
  }
}

extension SecretContent {
  /// The value of a key in a list that was opened; nil for none.
  fileprivate borrowing func value(of key: Span<UInt8>) throws(VaultError) -> SecretBytes? {
    let value: SecretBytes?
    do throws(FormatError) {
      value = try SecretContent.value(of: key, in: AttributeList(decoding: encoded.bytes))
    } catch { throw VaultError(error, about: .item) }
    return value
  }

  private static func value(
    of key: Span<UInt8>, in list: AttributeList
  ) throws(FormatError) -> SecretBytes? {
    guard let value = list.value(of: key) else { return nil }
    do throws(SecureMemoryError) { return try SecretBytes(copying: value) } catch {
      throw .outOfMemory
    }
  }
}
