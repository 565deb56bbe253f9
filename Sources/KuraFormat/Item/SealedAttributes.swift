// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Shows the secret attributes of a protected item as they stand encoded: each is sealed by itself to the protected
/// pair, so that one can be set beside others by who has no secret half.
public struct SealedAttributes: ~Escapable {
  /// What stands around key and value inside the seal.
  fileprivate static let inside = 2 + Seal.overhead

  fileprivate let bytes: Span<UInt8>
  /// How many there are.
  public let count: Int

  /// Checks encoded attributes; none of them is opened.
  ///
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    let count = Int(try reader.integer(UInt16.self))
    guard count <= AttributeList.mostAttributes else { throw .damaged }
    var last = Span<UInt8>()
    for index in 0..<count {
      let key = try reader.counted16(limit: AttributeList.longestKey)
      guard Attributes.brokenRule(key: key) == nil,
        Text.isCanonical(key, limit: AttributeList.longestKey),
        index == 0 || isAscending(last, key)
      else { throw .damaged }
      last = key
      _ = try reader.take(identifierByteCount + ProtectedPair.byteCount)
      let sealed = try reader.take(Int(try reader.integer(UInt32.self)))
      guard sealed.count >= SealedAttributes.inside + key.count else { throw .damaged }
    }
    try reader.finish()
    self.bytes = bytes
    self.count = count
  }

  /// Shows what ``BodyParts`` read.
  @_lifetime(copy parts)
  public init(of parts: BodyParts) throws(FormatError) {
    try self.init(decoding: parts.secrets)
  }

  /// A cursor before the first.
  @_lifetime(copy self)
  public func makeCursor() -> SealedAttributeCursor { SealedAttributeCursor(self) }

  /// Which revision an attribute was sealed for, as the cursor shows its entry.
  public static func origin(ofEntry entry: Span<UInt8>, of key: Span<UInt8>) -> RevisionID {
    RevisionID(entry.extracting((2 + key.count)..<(2 + key.count + identifierByteCount)))
  }

  /// Seals one attribute and appends it to an encoded list, whose count the caller keeps.
  ///
  /// - Parameters:
  ///   - key: In normal form C.
  ///   - value: UTF-8 without NUL; only borrowed.
  ///   - publicHalf: The protected pair's.
  ///   - vault: The vault's id.
  ///   - item: The item's id.
  ///   - revision: Which sets it.
  ///   - buffer: It goes to its end.
  /// - Throws: ``FormatError/damaged`` when the half is none, ``FormatError/outOfMemory``.
  public static func append(
    _ key: Span<UInt8>, _ value: Span<UInt8>, to publicHalf: [UInt8], vault: VaultID, item: ItemID,
    setBy revision: RevisionID, into buffer: inout SecretBuffer
  ) throws(FormatError) {
    let place = AssociatedData.protectedAttribute(vault: vault, item: item, setBy: revision)
    let (ephemeral, sealed) = try seal(key, value, to: publicHalf, place)
    do {
      try buffer.append(integer: UInt16(key.count))
      try buffer.append(key)
      try buffer.append(revision)
      try buffer.append(ephemeral.span)
      try buffer.append(integer: UInt32(sealed.count))
      try buffer.append(sealed.span)
    } catch { throw .outOfMemory }
  }

  private static func seal(
    _ key: Span<UInt8>, _ value: Span<UInt8>, to publicHalf: [UInt8], _ place: AssociatedData
  ) throws(FormatError) -> (ephemeral: [UInt8], sealed: [UInt8]) {
    let plaintext = try inside(key, value)
    do throws(CryptoError) {
      let sealing = try ProtectedPair.sealingKey(to: publicHalf)
      let sealed = try Seal.seal(
        plaintext.bytes, authenticating: place.span, under: sealing.key)
      return (sealing.ephemeral, sealed)
    } catch { throw FormatError(error) }
  }

  /// Key and value, as they are sealed.
  private static func inside(
    _ key: Span<UInt8>, _ value: Span<UInt8>
  ) throws(FormatError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: 2 + key.count + value.count)
      try buffer.append(integer: UInt16(key.count))
      try buffer.append(key)
      try buffer.append(value)
      return buffer.finish()
    } catch { throw .outOfMemory }
  }
}

/// Walks over the secret attributes of a protected item, in place.
public struct SealedAttributeCursor: ~Escapable {
  private let bytes: Span<UInt8>
  private var left: Int
  private var next = 2
  private var start = 2
  private var keyRange = 0..<0
  private var sealedRange = 0..<0

  @_lifetime(copy list)
  init(_ list: SealedAttributes) {
    bytes = list.bytes
    left = list.count
  }

  /// The key that the walk is at.
  public var key: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(keyRange) }
  }

  /// How many bytes its value has.
  public var size: Int { sealedRange.count - SealedAttributes.inside - keyRange.count }

  /// Which revision set it.
  public var revision: RevisionID {
    SealedAttributes.origin(ofEntry: entry, of: key)
  }

  /// All of it, as it is encoded: it can stand in another row of the same item.
  public var entry: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(start..<next) }
  }

  /// Goes to the next one.
  ///
  /// - Returns: Whether there is one.
  public mutating func advance() -> Bool {
    guard left > 0 else { return false }
    left -= 1
    start = next
    keyRange = (start + 2)..<(start + 2 + Int(bytes[start]) + Int(bytes[start + 1]) << 8)
    let count = keyRange.upperBound + identifierByteCount + ProtectedPair.byteCount
    var length = 0
    for index in 0..<4 { length |= Int(bytes[count + index]) << (8 * index) }
    sealedRange = (count + 4)..<(count + 4 + length)
    next = sealedRange.upperBound
    return true
  }

  /// Opens the value.
  ///
  /// - Parameters: The pair, and where the attribute stands.
  /// - Throws: ``FormatError/damaged``, also for one that was sealed for another place, key or pair;
  ///   ``FormatError/outOfMemory``.
  public func open(
    with pair: borrowing ProtectedPair, vault: VaultID, item: ItemID
  ) throws(FormatError) -> SecretBytes {
    try open(under: try openingKey(of: pair), vault: vault, item: item)
  }

  /// What stands beside the sealed value, 32 bytes: no other has the same.
  public var ephemeral: Span<UInt8> {
    @_lifetime(copy self) get {
      let half = keyRange.upperBound + identifierByteCount
      return bytes.extracting(half..<(half + ProtectedPair.byteCount))
    }
  }

  /// The key of this one attribute.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public func openingKey(of pair: borrowing ProtectedPair) throws(FormatError) -> Key {
    do throws(CryptoError) { return try pair.openingKey(ephemeral: ephemeral) } catch {
      throw FormatError(error)
    }
  }

  /// Opens the value by the attribute's own key.
  public func open(
    under key: borrowing Key, vault: VaultID, item: ItemID
  ) throws(FormatError) -> SecretBytes {
    let place = AssociatedData.protectedAttribute(vault: vault, item: item, setBy: revision)
    var value: SecretBytes
    do throws(CryptoError) {
      value = try Seal.open(
        bytes.extracting(sealedRange), authenticating: place.span, under: key)
    } catch { throw FormatError(error) }
    guard try isOwn(value.bytes) else { throw .damaged }
    value.removeFirst(2 + keyRange.count)
    return value
  }

  /// Whether what was inside is this key's, and text.
  private func isOwn(_ plaintext: Span<UInt8>) throws(FormatError) -> Bool {
    var reader = ByteReader(plaintext)
    let inner = try reader.counted16(limit: AttributeList.longestKey)
    return isEqual(inner, key) && Text.isUTF8(plaintext.extracting(droppingFirst: reader.offset))
  }
}
