// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Says what a change sets of an item; all else stays as it was set before.
public struct TrailChange: ~Escapable {
  /// Whether there is another value.
  let setsValue: Bool
  /// Whether there is another name, which settles what other copies called it.
  let setsName: Bool
  /// Whether everything is as this change has it, so that nothing stays open beside it.
  let settlesAll: Bool
  /// Whether the item is deleted: what stood in the body is forgotten then, and not deleted for itself.
  let isDeletion: Bool
  /// The public attributes from now on.
  let attributes: AttributeList
  /// The keys of the secret ones from now on, each with the size of its value; encoded as a meta has them, or
  /// empty.
  let secrets: Span<UInt8>
  /// The keys of those that are set, encoded as `u16 count ‖ count × (u16 length ‖ key)`, or empty.
  let edited: Span<UInt8>

  /// - Parameters:
  ///   - attributes: The public attributes from now on.
  ///   - secrets: The keys and sizes of the secret ones, encoded; empty for none.
  ///   - edited: The keys of those that are set, encoded; empty for none.
  ///   - setsValue: Whether there is another value.
  ///   - setsName: Whether there is another name.
  ///   - settlesAll: Whether nothing stays open.
  ///   - isDeletion: Whether the item is deleted.
  @_lifetime(copy attributes, copy secrets, copy edited)
  public init(
    attributes: AttributeList, secrets: Span<UInt8>, edited: Span<UInt8>, setsValue: Bool = false,
    setsName: Bool = false, settlesAll: Bool = false, isDeletion: Bool = false
  ) {
    self.setsValue = setsValue
    self.setsName = setsName
    self.settlesAll = settlesAll
    self.isDeletion = isDeletion
    self.attributes = attributes
    self.secrets = secrets
    self.edited = edited
  }

  /// Whether the change sets the attribute of a key.
  func sets(_ key: Span<UInt8>) -> Bool {
    settlesAll || TrailChange.has(key, in: edited, of: .plain)
  }

  /// Whether an attribute that was in the body is forgotten.
  func forgets(_ list: KnownKeys.List) -> Bool { isDeletion && list == .secret }

  /// Whether there is an attribute of a key from now on.
  func keeps(_ key: Span<UInt8>) -> Bool {
    attributes.value(of: key) != nil || TrailChange.has(key, in: secrets, of: .secret)
  }

  private static func has(
    _ key: Span<UInt8>, in list: Span<UInt8>, of kind: TrailKeys.List
  ) -> Bool {
    guard !list.isEmpty else { return false }
    var keys = TrailKeys(list, from: 0, of: kind)
    while keys.advance() {
      if isEqual(keys.key, key) { return true }
    }
    return false
  }
}

extension MetaTrail {
  /// What a change leaves: what it sets has its stamp in the place of the content that was shown, and what stood
  /// open beside that stays open.
  ///
  /// - Parameters:
  ///   - before: The trail of the item as it was shown.
  ///   - meta: The meta that it is of.
  ///   - lineage: The revision that the change makes.
  ///   - change: What it sets.
  /// - Throws: ``FormatError/outOfMemory``.
  public init(
    after before: borrowing MetaTrail, of meta: MetaView, as lineage: Lineage,
    _ change: TrailChange
  ) throws(FormatError) {
    let own = lineage.stamp
    func next(_ field: Field, isSet: Bool) -> Field {
      change.settlesAll ? [own] : isSet ? [own] + field.dropFirst() : field
    }
    let value =
      before.value.isEmpty && !change.setsValue ? [] : next(before.value, isSet: change.setsValue)
    var fields: [Field] = []
    var cursor = change.attributes.makeCursor()
    while cursor.advance() {
      let field = before.field(of: cursor.key, in: meta)
      fields.append(next(field, isSet: field.isEmpty || change.sets(cursor.key)))
    }
    var secrets: [Field] = []
    if !change.secrets.isEmpty {
      var keys = TrailKeys(change.secrets, from: 0, of: .secret)
      while keys.advance() {
        let field = before.field(of: keys.key, in: meta)
        secrets.append(next(field, isSet: field.isEmpty || change.sets(keys.key)))
      }
    }
    let gone = try before.deletedFields(in: meta, change, own)
    self.init(
      lineage: lineage, value: value,
      name: change.setsName || change.settlesAll ? [own] : before.name, attributes: fields,
      secretKeys: secrets.isEmpty ? nil : try .duplicate(change.secrets), secrets: secrets,
      deletedKeys: gone.isEmpty ? nil : try before.deletedKeys(in: meta, change, gone),
      deleted: gone.compactMap { $0 }, sides: [])
  }

  /// What another name or class leaves: all contents stand, and only the name may have another stamp.
  ///
  /// - Parameters:
  ///   - before: The trail of the item as it was.
  ///   - lineage: The revision that the change makes.
  ///   - setsName: Whether there is another name.
  /// - Throws: ``FormatError/outOfMemory``.
  public init(
    after before: borrowing MetaTrail, as lineage: Lineage, settingName setsName: Bool
  ) throws(FormatError) {
    self.init(
      lineage: lineage, value: before.value, name: setsName ? [lineage.stamp] : before.name,
      attributes: before.attributes, secretKeys: try MetaTrail.copy(before.secretKeys),
      secrets: before.secrets, deletedKeys: try MetaTrail.copy(before.deletedKeys),
      deleted: before.deleted, sides: [])
  }

  static func copy(_ keys: borrowing SecretBytes?) throws(FormatError) -> SecretBytes? {
    switch keys {
    case .some(let keys): try .duplicate(keys.bytes)
    case .none: nil
    }
  }

  /// The contents of an attribute, set or deleted; none for one that never was.
  private borrowing func field(of key: Span<UInt8>, in meta: MetaView) -> Field {
    var walk = KnownKeys(meta, deletedList)
    while walk.advance() {
      if isEqual(walk.key, key) { return field(at: walk) }
    }
    return []
  }

  private borrowing func field(at walk: borrowing KnownKeys) -> Field {
    switch walk.list {
    case .attribute: attributes[walk.index]
    case .secret: secrets[walk.index]
    case .deleted: deleted[walk.index]
    }
  }

  /// The keys of deleted attributes, encoded; empty for none.
  private var deletedList: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch deletedKeys {
      case .some(let keys): keys.bytes
      case .none: Span()
      }
    }
  }

  /// The attributes that are deleted from now on, ascending by key; nil for one that is forgotten, as the oldest
  /// are where there is no room.
  private borrowing func deletedFields(
    in meta: MetaView, _ change: TrailChange, _ own: RevisionStamp
  ) throws(FormatError) -> [Field?] {
    var fields: [Field] = []
    var walk = KnownKeys(meta, deletedList)
    while walk.advance() {
      guard !change.keeps(walk.key), !change.forgets(walk.list) else { continue }
      let field = field(at: walk)
      let isOld = walk.list == .deleted && !change.settlesAll
      fields.append(isOld ? field : [own] + (change.settlesAll ? [] : field.dropFirst()))
    }
    let oldest = fields.indices.sorted { (fields[$0].first ?? own) < (fields[$1].first ?? own) }
    let forgotten = Set(oldest.prefix(max(0, fields.count - TrailScan.mostDeleted)))
    return fields.indices.map { forgotten.contains($0) ? nil : fields[$0] }
  }

  /// The keys of those that are not forgotten.
  private borrowing func deletedKeys(
    in meta: MetaView, _ change: TrailChange, _ fields: [Field?]
  ) throws(FormatError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: 64)
      try buffer.append(integer: UInt16(fields.count { $0 != nil }))
      var walk = KnownKeys(meta, deletedList)
      var index = 0
      while walk.advance() {
        guard !change.keeps(walk.key), !change.forgets(walk.list) else { continue }
        if fields[index] != nil {
          try buffer.append(integer: UInt16(walk.key.count))
          try buffer.append(walk.key)
        }
        index += 1
      }
      return buffer.finish()
    } catch { throw .outOfMemory }
  }
}
