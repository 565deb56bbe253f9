// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Says how far a rotation is. Tags are spread evenly, so that the place in their order tells it.
public struct RotationProgress: Equatable, Sendable {
  /// All of it.
  public static let total: UInt64 = 1 << 16

  /// 0 to ``total``.
  public let done: UInt64
}

/// Remembers how far a look over all items has come once they are sealed again: the old key goes only when no
/// row needs it.
struct RotationCheck {
  /// The data key of the rotation that it belongs to.
  let generation: UInt32
  /// The first item that was not looked at.
  var cursor = ItemTag.zero
}

extension UnlockedVault {
  /// How far the rotation under way is, as of the last call that read the vault; nil when there is none.
  public var rotation: RotationProgress? {
    guard keys.ring.work == .rotate else { return nil }
    guard keys.ring.cursor < .last else { return RotationProgress(done: RotationProgress.total) }
    return RotationProgress(done: UInt64(keys.ring.cursor.leadingBits(16)))
  }

  /// Makes a new data key, under which everything is sealed from now on; ``rotate()`` does so with what
  /// is there. While a rotation is under way, this one joins it.
  ///
  /// - Throws: ``VaultError/busy``: the same call again.
  public mutating func beginRotation() throws(VaultError) {
    guard try !isRotating() else { return }
    let next = try writing { vault, draft throws(VaultError) in
      // Another engine may have been faster.
      guard vault.keys.ring.work == .none else { return Optional<Ring>.none }
      let next = try vault.keys.rotatingRing(at: draft.root.time)
      try vault.store(ring: try vault.keys.seal(next), &draft)
      return next
    }
    if let next { keys.ring = next }
  }

  /// Whether the file says that a rotation is under way.
  private mutating func isRotating() throws(VaultError) -> Bool {
    try reading { vault throws(VaultError) in vault.keys.ring.work == .rotate }
  }

  /// Seals some rows again, under the new data key; when there are none left, drops the old one, and
  /// clears the WAL. Call it when there is nothing else to do: each call takes a few milliseconds.
  ///
  /// It can be interrupted between any two calls: what is done is in the vault, and the next one goes on
  /// with it, of whatever engine it is.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/busy``: later again. ``VaultError/damaged(_:)`` for a row that is not what the
  ///   root says: the rotation stops there, and both keys stay.
  public mutating func rotate() throws(VaultError) -> Bool {
    do throws(VaultError) {
      guard try isRotating() else {
        rotationCheck = nil
        return false
      }
      if keys.ring.cursor < .last { return try resealSlice() }
      return try checkSlice()
    } catch {
      // What is kept of the tree may be of rows that were never committed.
      rows.tree.forget()
      throw error
    }
  }

  private mutating func resealSlice() throws(VaultError) -> Bool {
    rotationCheck = nil
    var kept = keys.ring.cursor
    defer { keys.ring.cursor = kept }
    kept = try writing { vault, draft throws(VaultError) in
      kept = vault.keys.ring.cursor
      guard vault.keys.ring.work == .rotate else { return kept }
      let next = try vault.reseal(from: kept, &draft)
      vault.keys.ring.cursor = next
      try vault.storeRing(&draft)
      return next
    }
    return true
  }

  /// Looks over some of the items, and ends the rotation when nothing of the old key was found.
  private mutating func checkSlice() throws(VaultError) -> Bool {
    let generation = keys.ring.active
    if rotationCheck?.generation != generation {
      rotationCheck = RotationCheck(generation: generation)
    }
    let from = rotationCheck?.cursor ?? .zero
    switch try reading({ vault throws(VaultError) in try vault.findStale(from: from) }) {
    case .at(let tag): try goBack(to: tag)
    case .notBefore(let tag): rotationCheck?.cursor = tag
    case .nowhere:
      try endRotation(to: generation)
      return false
    }
    return true
  }

  /// A row was sealed under the old key behind our back: it has its turn after all.
  private mutating func goBack(to tag: ItemTag) throws(VaultError) {
    rotationCheck = nil
    var kept = keys.ring.cursor
    defer { keys.ring.cursor = kept }
    kept = try writing { vault, draft throws(VaultError) in
      kept = vault.keys.ring.cursor
      vault.keys.ring.cursor = min(kept, tag)
      try vault.storeRing(&draft)
      return vault.keys.ring.cursor
    }
  }

  private mutating func endRotation(to generation: UInt32) throws(VaultError) {
    let next = try writing { vault, draft throws(VaultError) in
      // Another engine may have ended this one, and begun the next.
      guard vault.keys.ring.work == .rotate, vault.keys.ring.active == generation,
        vault.keys.ring.cursor == .last
      else { return Optional<Ring>.none }
      let next = try vault.keys.rotatedRing()
      try vault.store(ring: try vault.keys.seal(next), &draft)
      return next
    }
    rotationCheck = nil
    guard let next else { return }
    keys.ring = next
    mustTruncate = true
    // Another reader may be in the way; the next flush tries again.
    do { try truncateWAL() } catch { guard error == .busy else { throw error } }
  }
}

extension Keyring {
  fileprivate borrowing func rotatingRing(at time: UInt64) throws(VaultError) -> Ring {
    let dataKey = try Key.fresh()
    do { return try ring.rotating(to: dataKey, created: time) } catch {
      throw VaultError(error, about: .ring)
    }
  }

  fileprivate borrowing func rotatedRing() throws(VaultError) -> Ring {
    try fromFormat(.ring, ring.rotated())
  }
}
