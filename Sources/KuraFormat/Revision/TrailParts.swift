// SPDX-License-Identifier: MIT

internal import SecureMemory

extension MetaTrail {
  /// Names the list that a key of an item stands in.
  public enum KeyList: Sendable {
    /// A public attribute.
    case attribute
    /// One whose value stands in the body.
    case secret
    /// One that was deleted.
    case deleted
  }

  /// Gathers the parts of an item that have keys, ascending by those, for a row that shows what several revisions
  /// come to.
  public struct Keyed: ~Copyable {
    private var counts = (secret: UInt16(0), deleted: UInt16(0))
    private var secretKeys: SecretBuffer
    private var deletedKeys: SecretBuffer
    private var attributes: [Field] = []
    private var secrets: [Field] = []
    private var deleted: [Field] = []

    /// None yet.
    ///
    /// - Throws: ``FormatError/outOfMemory``.
    public init() throws(FormatError) {
      let secret = try Self.room()
      let deleted = try Self.room()
      secretKeys = secret
      deletedKeys = deleted
    }

    private static func room() throws(FormatError) -> SecretBuffer {
      do { return try SecretBuffer(capacity: 64) } catch { throw .outOfMemory }
    }

    /// Adds one.
    ///
    /// - Parameters:
    ///   - key: Behind all that were added to the same list.
    ///   - size: How long a secret attribute's value is, in bytes.
    ///   - list: Where it stands.
    ///   - field: Its contents' stamps, that of the shown one first.
    /// - Throws: ``FormatError/outOfMemory``.
    public mutating func append(
      _ key: Span<UInt8>, size: Int = 0, to list: KeyList, _ field: Field
    ) throws(FormatError) {
      do {
        switch list {
        case .attribute: attributes.append(field)
        case .secret:
          secrets.append(field)
          counts.secret += 1
          try secretKeys.append(integer: UInt16(key.count))
          try secretKeys.append(key)
          try secretKeys.append(integer: UInt32(size))
        case .deleted:
          deleted.append(field)
          counts.deleted += 1
          try deletedKeys.append(integer: UInt16(key.count))
          try deletedKeys.append(key)
        }
      } catch { throw .outOfMemory }
    }

    /// What a row has that shows the sides of an item.
    ///
    /// - Parameters:
    ///   - lineage: Deeper than all of them, with all that they know of.
    ///   - value: The contents' stamps of the value; empty for none.
    ///   - name: Those of the name.
    ///   - sides: The numbers of the sides, ascending.
    /// - Throws: ``FormatError/outOfMemory``.
    public consuming func trail(
      _ lineage: Lineage, value: Field, name: Field, sides: [UInt64]
    ) throws(FormatError) -> MetaTrail {
      let (attributes, secrets, deleted) = (self.attributes, self.secrets, self.deleted)
      let counts = self.counts
      return MetaTrail(
        lineage: lineage, value: value, name: name, attributes: attributes,
        secretKeys: try Self.keys(counts.secret, secretKeys), secrets: secrets,
        deletedKeys: try Self.keys(counts.deleted, deletedKeys), deleted: deleted, sides: sides)
    }

    private static func keys(
      _ count: UInt16, _ keys: borrowing SecretBuffer
    ) throws(FormatError) -> SecretBytes? {
      guard count > 0 else { return nil }
      do {
        var buffer = try SecretBuffer(capacity: 2 + keys.count)
        try buffer.append(integer: count)
        try buffer.append(keys.bytes)
        return buffer.finish()
      } catch { throw .outOfMemory }
    }
  }

  /// The stamps of contents that stand beside those that are shown, and that of the value.
  public var openStamps: Set<RevisionStamp> {
    var stamps: Set<RevisionStamp> = []
    for field in fields + deleted { stamps.formUnion(field.dropFirst()) }
    if let shown = value.first, !sides.isEmpty { stamps.insert(shown) }
    return stamps
  }

  /// Whether a content that was set by one of these stands in this row.
  public func hasFirst(of stamps: Set<RevisionStamp>) -> Bool {
    (fields + deleted).contains { field in field.first.map(stamps.contains) ?? false }
  }

  /// Goes over all attributes that the item has or had, ascending by key.
  ///
  /// - Parameters:
  ///   - meta: The one that this trail is of.
  ///   - body: Is given the key, the list in which it stands, its place there, and the stamps of its contents.
  public borrowing func eachKey<Failure: Error>(
    in meta: MetaView,
    _ body: (_ key: Span<UInt8>, _ list: KeyList, _ index: Int, _ field: Field) throws(Failure) ->
      Void
  ) throws(Failure) {
    switch deletedKeys {
    case .some(let deleted): try eachKey(KnownKeys(meta, deleted.bytes), body)
    case .none: try eachKey(KnownKeys(meta, Span()), body)
    }
  }

  private borrowing func eachKey<Failure: Error>(
    _ keys: consuming KnownKeys,
    _ body: (_ key: Span<UInt8>, _ list: KeyList, _ index: Int, _ field: Field) throws(Failure) ->
      Void
  ) throws(Failure) {
    var walk = keys
    while walk.advance() {
      let index = walk.index
      switch walk.list {
      case .attribute: try body(walk.key, .attribute, index, attributes[index])
      case .secret: try body(walk.key, .secret, index, secrets[index])
      case .deleted: try body(walk.key, .deleted, index, deleted[index])
      }
    }
  }

  /// The same with other entries and vectors, where revisions of format 1 turned out to have the same ones.
  ///
  /// - Parameters:
  ///   - lineage: Who the revision is now.
  ///   - stamp: What becomes of a stamp.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func reentered(
    as lineage: Lineage, _ stamp: (RevisionStamp) -> RevisionStamp
  ) throws(FormatError) -> MetaTrail {
    MetaTrail(
      lineage: lineage, value: value.map(stamp), name: name.map(stamp),
      attributes: attributes.map { $0.map(stamp) }, secretKeys: try MetaTrail.copy(secretKeys),
      secrets: secrets.map { $0.map(stamp) }, deletedKeys: try MetaTrail.copy(deletedKeys),
      deleted: deleted.map { $0.map(stamp) }, sides: sides)
  }
}
