// SPDX-License-Identifier: MIT

public import SecureMemory

/// Holds what an item's meta has sealed, over the opened bytes: name, times, size and attributes.
public struct ItemMeta: ~Copyable, Sendable {
  /// The most bytes of a meta.
  public static let longest = 65_536
  /// The most bytes of one that says what it follows; up to its attributes it has ``longest``.
  public static let longestWithTrail = 131_072

  /// How many bytes of attributes there may be beside a name, each with ``Attributes/byteCount(key:value:)``.
  public static func attributeRoom(beside name: Span<UInt8>) -> Int {
    longest - MetaView.nameOffset - name.count - Attributes.emptyByteCount
  }

  private let secret: SecretBytes
  private let fields: MetaFields

  /// When the item was first stored, in milliseconds since 1970.
  public var created: UInt64 { fields.created }
  /// When this revision was stored, in milliseconds since 1970.
  public var modified: UInt64 { fields.modified }
  /// The value's bytes.
  public var size: UInt64 { fields.size }

  /// All of it, to look at.
  public var view: MetaView {
    @_lifetime(borrow self) borrowing get { MetaView(secret.bytes, fields) }
  }

  /// The name, to read.
  public var name: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { view.name }
  }

  /// The attributes, to look at.
  public var attributes: AttributeList {
    @_lifetime(borrow self) borrowing get { view.attributes }
  }

  /// The bytes to seal.
  public var encoded: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { secret.bytes }
  }

  private init(secret: consuming SecretBytes, _ fields: MetaFields) {
    self.secret = secret
    self.fields = fields
  }

  /// A meta.
  ///
  /// - Parameters:
  ///   - name: A name as ``ItemName`` gives it.
  ///   - created: Milliseconds since 1970.
  ///   - modified: Milliseconds since 1970.
  ///   - size: The value's bytes.
  ///   - attributes: The attributes; only borrowed.
  /// - Throws: ``FormatError/attributesInvalid(_:)`` when all is longer than ``longest``,
  ///   ``FormatError/outOfMemory``.
  public init(
    name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    attributes: AttributeList
  ) throws(FormatError) {
    let nameEnd = MetaView.nameOffset + name.count
    let fields = MetaFields(
      nameEnd: nameEnd, attributesEnd: nameEnd + attributes.bytes.count, created: created,
      modified: modified, size: size)
    var buffer: SecretBuffer
    do { buffer = try SecretBuffer(capacity: nameEnd + attributes.bytes.count) } catch {
      throw .outOfMemory
    }
    try ItemMeta.encode(
      name: name, created: created, modified: modified, size: size, attributes: attributes,
      into: &buffer)
    self.init(secret: buffer.finish(), fields)
  }

  /// A meta that says what its revision follows; for a vault of format 2.
  ///
  /// - Parameters:
  ///   - name: As for the other, as all but the trail; empty for a purged item.
  ///   - created: When the item was made.
  ///   - modified: When it was changed.
  ///   - size: The length of its value.
  ///   - attributes: Those it has.
  ///   - trail: What the revision follows; only borrowed.
  /// - Throws: As the other does.
  public init(
    name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    attributes: AttributeList, trail: borrowing MetaTrail
  ) throws(FormatError) {
    var buffer: SecretBuffer
    do { buffer = try SecretBuffer(capacity: 256) } catch { throw .outOfMemory }
    try ItemMeta.encode(
      name: name, created: created, modified: modified, size: size, attributes: attributes,
      trail: trail, into: &buffer)
    self = try ItemMeta.decode(buffer.finish(), of: .second)
  }

  /// Appends the bytes to seal of a meta that nobody needs beyond that.
  ///
  /// - Parameters:
  ///   - name: As for ``init(name:created:modified:size:attributes:)``, as all but the buffer.
  ///   - created: When the item was made.
  ///   - modified: When it was changed.
  ///   - size: The length of its value.
  ///   - attributes: Those it has.
  ///   - buffer: They go to its end.
  /// - Throws: As that does.
  public static func encode(
    name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    attributes: AttributeList, into buffer: inout SecretBuffer
  ) throws(FormatError) {
    precondition((1...ItemName.longest).contains(name.count), "a name was made before")
    try encode(
      MetaView.layout, name: name, created: created, modified: modified, size: size,
      attributes: attributes, into: &buffer)
  }

  /// The same with what the revision follows, for a vault of format 2.
  ///
  /// - Parameters:
  ///   - name: As for the other, as all but the trail and the buffer; empty for a purged item.
  ///   - created: When the item was made.
  ///   - modified: When it was changed.
  ///   - size: The length of its value.
  ///   - attributes: Those it has, as many as the trail speaks of.
  ///   - trail: What the revision follows.
  ///   - buffer: They go to its end.
  /// - Throws: As that does.
  public static func encode(
    name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    attributes: AttributeList, trail: borrowing MetaTrail, into buffer: inout SecretBuffer
  ) throws(FormatError) {
    precondition(name.count <= ItemName.longest, "a name was made before")
    precondition(attributes.count == trail.attributes.count, "each attribute was set by somebody")
    guard attributes.count + trail.secrets.count <= AttributeList.mostAttributes else {
      throw .attributesInvalid(.tooMany)
    }
    let start = buffer.count
    try encode(
      MetaView.layoutWithTrail, name: name, created: created, modified: modified, size: size,
      attributes: attributes, into: &buffer)
    try trail.append(to: &buffer)
    guard buffer.count - start <= longestWithTrail else { throw .tooManySides }
  }

  private static func encode(
    _ layout: UInt8, name: Span<UInt8>, created: UInt64, modified: UInt64, size: UInt64,
    attributes: AttributeList, into buffer: inout SecretBuffer
  ) throws(FormatError) {
    let count = MetaView.nameOffset + name.count + attributes.bytes.count
    guard count <= ItemMeta.longest else { throw .attributesInvalid(.tooLarge) }
    do {
      try buffer.append(layout)
      try buffer.append(integer: created)
      try buffer.append(integer: modified)
      try buffer.append(integer: size)
      try buffer.append(integer: UInt16(name.count))
      try buffer.append(name)
      try buffer.append(attributes.bytes)
    } catch {
      throw .outOfMemory
    }
  }

  /// Reads an opened meta, which it takes over.
  ///
  /// - Parameters:
  ///   - plaintext: The opened bytes.
  ///   - format: The vault's.
  /// - Throws: ``FormatError/damaged``; the bytes are gone.
  public static func decode(
    _ plaintext: consuming SecretBytes, of format: VaultFormat = .first
  ) throws(FormatError) -> ItemMeta {
    let fields = try MetaView(decoding: plaintext.bytes, of: format).fields
    return ItemMeta(secret: plaintext, fields)
  }

  /// A copy of a meta that is looked at in place.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public init(copying view: MetaView) throws(FormatError) {
    self.init(secret: try .duplicate(view.bytes), view.fields)
  }
}
