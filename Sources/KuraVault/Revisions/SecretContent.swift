// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Gathers changes to the attributes of an item whose values stand in its body.
struct SecretEdits: ~Copyable {
  /// Those that are set; nil for none.
  let additions: Attributes?
  /// The keys of those that go, encoded as ``AttributeEdits`` keeps them; nil for none.
  let removals: SecretBytes?
  /// Whether those that are not set go.
  let replacesAll: Bool

  /// No change.
  init() {
    additions = nil
    removals = nil
    replacesAll = false
  }

  init(
    additions: consuming Attributes?, removals: consuming SecretBytes?, replacesAll: Bool
  ) {
    self.additions = additions
    self.removals = removals
    self.replacesAll = replacesAll
  }

  /// Whether an attribute that there is goes, or gets another value.
  borrowing func takes(_ key: Span<UInt8>) -> Bool {
    if replacesAll { return true }
    switch removals {
    case .some(let removals): if SecretEdits.has(key, in: removals.bytes) { return true }
    case .none: break
    }
    switch additions {
    case .some(let additions): return additions.list.value(of: key) != nil
    case .none: return false
    }
  }

  private static func has(_ key: Span<UInt8>, in keys: Span<UInt8>) -> Bool {
    var offset = 0
    while offset < keys.count {
      let end = offset + 2 + Int(keys[offset]) + Int(keys[offset + 1]) << 8
      if keys.extracting((offset + 2)..<end).isEqual(to: key) { return true }
      offset = end
    }
    return false
  }
}

/// Holds the secret attributes of a row as its body has them: an encoded list, which in a protected item opens by the
/// secret half alone.
struct SecretContent: ~Copyable {
  let encoded: SecretBytes
  let protection: ProtectionClass
}

/// Says where secret attributes are to stand.
struct SecretPlace {
  let protection: ProtectionClass
  /// The protected pair's.
  let publicHalf: [UInt8]
  let vault: VaultID
  let item: ItemID
}

/// Gathers an item's secret attributes for its next row: those whose values are at hand, and those that stay sealed.
struct SecretList: ~Copyable {
  private let plain: Attributes
  /// ``SealedAttributes``, encoded.
  private let sealed: SecretBytes

  /// What stands there once edits are applied.
  init(
    _ before: borrowing SecretContent?, _ edits: borrowing SecretEdits
  ) throws(VaultError) {
    do throws(FormatError) {
      var plain = try Attributes.empty()
      var sealed = try SecretList.none()
      switch before {
      case .some(let before):
        switch before.protection {
        case .standard: plain = try SecretList.kept(before.encoded.bytes, edits)
        case .protected: sealed = try SecretList.keptSealed(before.encoded.bytes, edits)
        }
      case .none: break
      }
      switch edits.additions {
      case .some(let additions): plain = try plain.merging(additions.list)
      case .none: break
      }
      self.plain = plain
      self.sealed = sealed
    } catch {
      if case .attributesInvalid(.tooLarge) = error { throw .attributeInvalid(.secretsTooLarge) }
      throw VaultError(error, about: .item)
    }
  }

  private static func none() throws(FormatError) -> SecretBytes {
    try buffer { buffer throws(SecureMemoryError) in try buffer.append(integer: UInt16(0)) }
  }

  private static func kept(
    _ list: Span<UInt8>, _ edits: borrowing SecretEdits
  ) throws(FormatError) -> Attributes {
    let before = try AttributeList(decoding: list)
    var kept = try Attributes(copying: before)
    var cursor = before.makeCursor()
    while cursor.advance() {
      if edits.takes(cursor.key) { kept = try kept.removing(cursor.key) }
    }
    return kept
  }

  private static func keptSealed(
    _ list: Span<UInt8>, _ edits: borrowing SecretEdits
  ) throws(FormatError) -> SecretBytes {
    let before = try SealedAttributes(decoding: list)
    var count: UInt16 = 0
    var cursor = before.makeCursor()
    while cursor.advance() { count += edits.takes(cursor.key) ? 0 : 1 }
    var buffer = try room()
    do throws(SecureMemoryError) {
      try buffer.append(integer: count)
      var cursor = before.makeCursor()
      while cursor.advance() {
        if !edits.takes(cursor.key) { try buffer.append(cursor.entry) }
      }
    } catch { throw .outOfMemory }
    return buffer.finish()
  }

  fileprivate static func room() throws(FormatError) -> SecretBuffer {
    do throws(SecureMemoryError) { return try SecretBuffer(capacity: 64) } catch {
      throw .outOfMemory
    }
  }

  private static func buffer(
    _ fill: (inout SecretBuffer) throws(SecureMemoryError) -> Void
  ) throws(FormatError) -> SecretBytes {
    var buffer = try room()
    do throws(SecureMemoryError) { try fill(&buffer) } catch { throw .outOfMemory }
    return buffer.finish()
  }
}

// MARK: - In order

/// Walks over two lists of secret attributes by their keys.
private struct SecretWalk: ~Escapable {
  private(set) var plain: AttributeCursor
  private(set) var sealed: SealedAttributeCursor
  private var waits: (plain: Bool, sealed: Bool)
  private var isFresh = true
  /// Whether it is at one that stays sealed.
  private(set) var isSealed = false

  @_lifetime(copy plain, copy sealed)
  init(_ plain: AttributeList, _ sealed: SealedAttributes) {
    self.plain = plain.makeCursor()
    self.sealed = sealed.makeCursor()
    waits = (false, false)
    waits = (self.plain.advance(), self.sealed.advance())
  }

  var key: Span<UInt8> {
    @_lifetime(copy self) get { isSealed ? sealed.key : plain.key }
  }

  var size: Int { isSealed ? sealed.size : plain.value.count }

  mutating func advance() -> Bool {
    if !isFresh {
      if isSealed { waits.sealed = sealed.advance() } else { waits.plain = plain.advance() }
    }
    isFresh = false
    guard waits.plain || waits.sealed else { return false }
    isSealed = !waits.plain || waits.sealed && !plain.key.isBefore(sealed.key)
    return true
  }
}

extension SecretList {
  /// Keys and sizes as a meta has them; nil for none.
  borrowing func keys() throws(VaultError) -> SecretBytes? {
    do throws(FormatError) {
      var count: UInt16 = 0
      var total = 0
      var walk = SecretWalk(plain.list, try SealedAttributes(decoding: sealed.bytes))
      while walk.advance() {
        count += 1
        total += walk.key.count + walk.size
      }
      guard total <= SecretAttributes.longest else { throw .attributesInvalid(.secretsTooLarge) }
      if count == 0 { return nil }
      var buffer = try SecretList.room()
      var again = SecretWalk(plain.list, try SealedAttributes(decoding: sealed.bytes))
      do throws(SecureMemoryError) {
        try buffer.append(integer: count)
        while again.advance() {
          try buffer.append(integer: UInt16(again.key.count))
          try buffer.append(again.key)
          try buffer.append(integer: UInt32(again.size))
        }
      } catch { throw .outOfMemory }
      return buffer.finish()
    } catch { throw VaultError(error, about: .item) }
  }

  /// What the body has of them.
  ///
  /// - Parameters:
  ///   - place: Where they are to stand; a list with sealed ones cannot stand in a standard item.
  ///   - fields: Which revisions set each, in the order of the keys.
  borrowing func encoded(
    for place: SecretPlace, _ fields: [MetaTrail.Field]
  ) throws(VaultError) -> SecretBytes {
    do throws(FormatError) {
      let sealed = try SealedAttributes(decoding: self.sealed.bytes)
      guard place.protection == .protected else {
        guard sealed.count == 0 else { throw .damaged }
        return try SecretList.buffer { buffer throws(SecureMemoryError) in
          try buffer.append(plain.list.bytes)
        }
      }
      var buffer = try SecretList.room()
      do throws(SecureMemoryError) {
        try buffer.append(integer: UInt16(plain.list.count + sealed.count))
      } catch { throw .outOfMemory }
      var walk = SecretWalk(plain.list, sealed)
      var index = 0
      while walk.advance() {
        try append(walk, setBy: fields[index].first, place, to: &buffer)
        index += 1
      }
      return buffer.finish()
    } catch { throw VaultError(error, about: .item) }
  }

  private borrowing func append(
    _ walk: borrowing SecretWalk, setBy stamp: RevisionStamp?, _ place: SecretPlace,
    to buffer: inout SecretBuffer
  ) throws(FormatError) {
    guard walk.isSealed else {
      guard let stamp else { throw .damaged }
      return try SealedAttributes.append(
        walk.key, walk.plain.value, to: place.publicHalf, vault: place.vault, item: place.item,
        setBy: stamp.id, into: &buffer)
    }
    do throws(SecureMemoryError) { try buffer.append(walk.sealed.entry) } catch {
      throw .outOfMemory
    }
  }
}

extension SecretContent {
  /// Those of a protected item, which stay sealed.
  @_lifetime(borrow self)
  borrowing func sealed() throws(VaultError) -> SealedAttributes {
    do throws(FormatError) { return try SealedAttributes(decoding: encoded.bytes) } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// The same in the open, for a standard row.
  ///
  /// - Parameter open: Opens the one that the walk is at.
  borrowing func opened(
    _ open: (borrowing SealedAttributeCursor) throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SecretContent {
    guard protection == .protected else {
      return SecretContent(encoded: try encoded.copied(), protection: .standard)
    }
    var list = try fromFormat(.item, Attributes.empty())
    var cursor = try sealed().makeCursor()
    while cursor.advance() {
      let value = try open(cursor)
      list = try fromFormat(.item, list.setting(cursor.key, to: value.bytes))
    }
    do throws(SecureMemoryError) {
      return SecretContent(
        encoded: try SecretBytes(copying: list.list.bytes), protection: .standard)
    } catch { throw .outOfMemory }
  }

  /// Those of a protected item as another pair opens them, each sealed for the revision that it was sealed for.
  ///
  /// - Parameter open: Opens the one that the walk is at.
  borrowing func resealed(
    for place: SecretPlace,
    _ open: (borrowing SealedAttributeCursor) throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SecretBytes {
    let list = try sealed()
    var buffer = try fromFormat(.item, SecretList.room())
    do throws(SecureMemoryError) { try buffer.append(integer: UInt16(list.count)) } catch {
      throw .outOfMemory
    }
    var cursor = list.makeCursor()
    while cursor.advance() {
      let value = try open(cursor)
      try fromFormat(
        .item,
        SealedAttributes.append(
          cursor.key, value.bytes, to: place.publicHalf, vault: place.vault, item: place.item,
          setBy: cursor.revision, into: &buffer))
    }
    return buffer.finish()
  }
}
