// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// The secret half of a vault's protected pair: what opens protected values; wiped when dropped.
///
/// An unlocked vault does not have it. It comes out of a slot for somebody who has just shown what opens
/// that slot, and should be gone as soon as what they asked for was read.
public struct ProtectedKey: ~Copyable, Sendable {
  let pair: ProtectedPair
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

extension Keyring {
  /// Opens a row's body as far as a standard one goes.
  ///
  /// - Parameter key: What opens a protected one.
  /// - Throws: ``VaultError/protected`` without the key, or when it is of another pair.
  borrowing func openStandard(
    _ sealed: Span<UInt8>, _ facts: ItemFacts, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> SecretBytes {
    let plaintext = try openBody(sealed, facts)
    guard facts.protection == .protected else { return plaintext }
    switch key {
    case .none: throw .protected
    case .some(let key):
      guard key.pair.publicHalf == ring.protectedHalf else { throw .protected }
      do {
        let body = try ProtectedBody.decode(plaintext)
        guard body.revision <= facts.revision else { throw FormatError.damaged }
        return try body.open(with: key.pair, vault: vault, item: facts.id)
      } catch {
        throw VaultError(error, about: .item)
      }
    }
  }

  /// Seals a standard body so that only the secret half opens it, and that under the active data key.
  borrowing func seal(
    protecting body: borrowing SecretBytes, _ facts: ItemFacts
  ) throws(VaultError) -> [UInt8] {
    do {
      let inner = try ProtectedBody.seal(
        body, to: ring.protectedHalf, vault: vault, item: facts.id, revision: facts.revision)
      return try seal(body: inner.encoded, facts)
    } catch {
      throw VaultError(error, about: .item)
    }
  }
}
