// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// Seals the next revision of an item.
  ///
  /// - Returns: Its meta and its body.
  mutating func seal(
    _ next: borrowing NextRevision, _ content: borrowing NewContent, _ change: borrowing ItemChange,
    _ facts: RowFacts, _ kind: ItemKind, _ draft: inout Draft
  ) throws(VaultError) -> (meta: [UInt8], body: [UInt8]) {
    guard let lineage = try nextLineage(of: change, facts.id, &draft) else {
      return (
        try keys.seal(next.meta, facts),
        try keys.seal(content, facts, for: .number(facts.revision), nil)
      )
    }
    let secrets = try secrets(of: next, content, change, kind)
    let trail: MetaTrail
    switch try secrets.keys() {
    case .some(let keys): trail = try change.trail(as: lineage, next, secrets: keys.bytes)
    case .none: trail = try change.trail(as: lineage, next, secrets: Span())
    }
    let place = SecretPlace(
      protection: facts.protection, publicHalf: keys.ring.protectedHalf, vault: id, item: facts.id)
    let encoded = trail.secrets.isEmpty ? nil : try secrets.encoded(for: place, trail.secrets)
    let origin = ProtectedBody.Origin.revision((trail.value.first ?? lineage.stamp).id)
    return (
      try keys.seal(try next.meta.following(trail), facts),
      try keys.seal(content, facts, for: origin, encoded)
    )
  }

  /// Who a change of an item is; nil in format 1, where changes have no names.
  func nextLineage(
    of change: borrowing ItemChange, _ item: ItemID, _ draft: inout Draft
  ) throws(VaultError) -> Lineage? {
    keys.format > .first ? try draft.nextLineage(after: try change.sides(), of: item) : nil
  }

  /// The secret attributes from now on.
  private mutating func secrets(
    of next: borrowing NextRevision, _ content: borrowing NewContent,
    _ change: borrowing ItemChange, _ kind: ItemKind
  ) throws(VaultError) -> SecretList {
    guard kind != .deleted else { return try SecretList(nil, SecretEdits()) }
    if content.isKept {
      // It comes with those that belong to it.
      return try SecretList(content.secrets, next.secrets)
    }
    guard change.liveRevision != nil, change.hasSecrets, let leaf = change.leaf else {
      return try SecretList(nil, next.secrets)
    }
    let current = try rows.withCurrent(change.tag, leaf: leaf, keys) {
      found, keys throws(VaultError) in
      try PartedBody.part(
        try keys.openBody(found.row.body, found.facts), found.facts.protection, of: keys.format)
    }
    switch current {
    case .some(let current): return try SecretList(current.secrets, next.secrets)
    case .none: throw .damaged(.item)
    }
  }
}

extension ItemChange {
  /// What the tree, or what is yet to go there, has of the item; nil for one that never was.
  fileprivate var leaf: Digest? {
    switch current {
    case .some(let current): current.leaf
    case .none: nil
    }
  }

  /// Whether the item has secret attributes.
  fileprivate var hasSecrets: Bool {
    switch current {
    case .some(let current):
      var cursor = current.meta.view.makeSecretCursor()
      return cursor.advance()
    case .none: return false
    }
  }
}

/// Holds an opened body in its two parts.
struct PartedBody: ~Copyable {
  /// As a body without secret attributes has it.
  let value: SecretBytes
  /// nil where there are none.
  let secrets: SecretContent?

  /// Parts an opened body of any form.
  static func part(
    _ plaintext: consuming SecretBytes, _ protection: ProtectionClass, of format: VaultFormat
  ) throws(VaultError) -> PartedBody {
    guard format > .first, BodyParts.isParted(plaintext.bytes) else {
      return PartedBody(value: plaintext, secrets: nil)
    }
    do throws(FormatError) {
      let parts = try BodyParts(decoding: plaintext.bytes, protection)
      let secrets = SecretContent(
        encoded: try duplicate(parts.secrets), protection: protection)
      return PartedBody(value: try duplicate(parts.value), secrets: secrets)
    } catch { throw VaultError(error, about: .item) }
  }

  /// A second owner's copy of the secret attributes as they are encoded.
  borrowing func copiedSecrets() throws(VaultError) -> SecretBytes? {
    switch secrets {
    case .some(let secrets): try secrets.encoded.copied()
    case .none: nil
    }
  }

  /// Whether its secret attributes are those that a meta names.
  borrowing func fits(_ meta: borrowing ItemMeta) throws(VaultError) -> Bool {
    let list = try SecretList(secrets, SecretEdits())
    let keys = try list.keys()
    var named = meta.view.makeSecretCursor()
    switch keys {
    case .none: return !named.advance()
    case .some(let keys):
      var own = keys.bytes.extracting(droppingFirst: 2)
      while named.advance() {
        let count = named.key.count
        guard own.count >= 6 + count, own.extracting(2..<(2 + count)).isEqual(to: named.key),
          own.size(at: 2 + count) == named.size
        else { return false }
        own = own.extracting(droppingFirst: 6 + count)
      }
      return own.isEmpty
    }
  }

  private static func duplicate(_ bytes: Span<UInt8>) throws(FormatError) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: bytes) } catch {
      throw .outOfMemory
    }
  }
}

extension Span<UInt8> {
  /// A `u32` that stands in it.
  fileprivate func size(at offset: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }
}

extension Keyring {
  /// Seals a body for a row under the active data key, inside too where the row is protected and the body is not.
  ///
  /// - Parameters:
  ///   - origin: Which revision set the value.
  ///   - secrets: The secret attributes as they are to stand beside it.
  borrowing func seal(
    _ content: borrowing NewContent, _ facts: RowFacts, for origin: ProtectedBody.Origin,
    _ secrets: borrowing SecretBytes?
  ) throws(VaultError) -> [UInt8] {
    guard facts.protection == .protected, !content.isProtected else {
      if secrets == nil { return try seal(content, facts) }
      return try seal(content.body, beside: secrets, facts)
    }
    return try seal(protecting: content.body, facts, for: origin, secrets)
  }

  /// Seals a body and the secret attributes beside it, where there are any.
  borrowing func seal(
    _ body: Span<UInt8>, beside secrets: borrowing SecretBytes?, _ facts: RowFacts
  ) throws(VaultError) -> [UInt8] {
    switch secrets {
    case .some(let secrets):
      let joined = try fromFormat(.item, BodyParts.join(body, secrets.bytes))
      return try seal(body: joined.bytes, facts)
    case .none: return try seal(body: body, facts)
    }
  }
}
