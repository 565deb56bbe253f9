// SPDX-License-Identifier: MIT

public import SecureMemory

/// What an item's meta holds sealed: name, times, size and attributes, over the opened bytes.
public struct ItemMeta: ~Copyable, Sendable {
  /// The most bytes of a meta.
  public static let longest = 65_536

  private static let layout: UInt8 = 1
  private static let nameOffset = 27

  private let secret: SecretBytes
  private let nameEnd: Int

  /// When the item was first stored, in milliseconds since 1970.
  public let created: UInt64
  /// When this revision was stored, in milliseconds since 1970.
  public let modified: UInt64
  /// The value's bytes.
  public let size: UInt64

  /// The name, to read.
  public var name: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      secret.bytes.extracting(ItemMeta.nameOffset..<nameEnd)
    }
  }

  /// The attributes, to look at.
  public var attributes: AttributeList {
    @_lifetime(borrow self) borrowing get {
      AttributeList(trusted: secret.bytes.extracting(droppingFirst: nameEnd))
    }
  }

  /// The bytes to seal.
  public var encoded: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { secret.bytes }
  }

  private init(
    secret: consuming SecretBytes, nameEnd: Int, created: UInt64, modified: UInt64, size: UInt64
  ) {
    self.secret = secret
    self.nameEnd = nameEnd
    self.created = created
    self.modified = modified
    self.size = size
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
    precondition((1...ItemName.longest).contains(name.count), "a name was made before")
    let count = ItemMeta.nameOffset + name.count + attributes.bytes.count
    guard count <= ItemMeta.longest else { throw .attributesInvalid(.tooLarge) }
    let secret: SecretBytes
    do {
      var buffer = try SecretBuffer(capacity: count)
      try buffer.append(ItemMeta.layout)
      try buffer.append(integer: created)
      try buffer.append(integer: modified)
      try buffer.append(integer: size)
      try buffer.append(integer: UInt16(name.count))
      try buffer.append(name)
      try buffer.append(attributes.bytes)
      secret = buffer.finish()
    } catch {
      throw .outOfMemory
    }
    self.init(
      secret: secret, nameEnd: ItemMeta.nameOffset + name.count, created: created,
      modified: modified, size: size)
  }

  /// Reads an opened meta, which it takes over.
  ///
  /// - Throws: ``FormatError/damaged``; the bytes are gone.
  public static func decode(_ plaintext: consuming SecretBytes) throws(FormatError) -> ItemMeta {
    guard plaintext.count <= longest else { throw .damaged }
    let fields = try fields(of: plaintext.bytes)
    return ItemMeta(
      secret: plaintext, nameEnd: fields.nameEnd, created: fields.created,
      modified: fields.modified, size: fields.size)
  }

  private struct Fields {
    let created: UInt64
    let modified: UInt64
    let size: UInt64
    let nameEnd: Int
  }

  private static func fields(of plaintext: Span<UInt8>) throws(FormatError) -> Fields {
    var reader = ByteReader(plaintext)
    guard try reader.integer(UInt8.self) == layout else { throw .damaged }
    let created = try reader.integer(UInt64.self)
    let modified = try reader.integer(UInt64.self)
    let size = try reader.integer(UInt64.self)
    guard size <= Manifest.longestValue else { throw .damaged }
    let name = try reader.counted16(limit: ItemName.longest)
    guard ItemName.isCanonical(name) else { throw .damaged }
    let nameEnd = reader.offset
    _ = try AttributeList(decoding: plaintext.extracting(droppingFirst: nameEnd))
    return Fields(created: created, modified: modified, size: size, nameEnd: nameEnd)
  }
}
