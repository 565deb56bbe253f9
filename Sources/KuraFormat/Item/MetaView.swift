// SPDX-License-Identifier: MIT

/// Reads an item's meta in place, over opened bytes that somebody else owns.
public struct MetaView: ~Escapable {
  static let layout: UInt8 = 1
  static let nameOffset = 27

  /// The opened bytes.
  let bytes: Span<UInt8>
  /// What was read of them.
  public let fields: MetaFields

  /// When the item was first stored, in milliseconds since 1970.
  public var created: UInt64 { fields.created }
  /// When this revision was stored, in milliseconds since 1970.
  public var modified: UInt64 { fields.modified }
  /// The value's bytes.
  public var size: UInt64 { fields.size }

  /// The name, to read.
  public var name: Span<UInt8> {
    @_lifetime(copy self) get { bytes.extracting(Self.nameOffset..<fields.nameEnd) }
  }

  /// The attributes, to look at.
  public var attributes: AttributeList {
    @_lifetime(copy self) get {
      AttributeList(trusted: bytes.extracting(droppingFirst: fields.nameEnd))
    }
  }

  /// Reads an opened meta.
  ///
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    guard bytes.count <= ItemMeta.longest else { throw .damaged }
    var reader = ByteReader(bytes)
    guard try reader.integer(UInt8.self) == Self.layout else { throw .damaged }
    let created = try reader.integer(UInt64.self)
    let modified = try reader.integer(UInt64.self)
    let size = try reader.integer(UInt64.self)
    guard size <= Manifest.longestValue else { throw .damaged }
    let name = try reader.counted16(limit: ItemName.longest)
    guard ItemName.isCanonical(name) else { throw .damaged }
    _ = try AttributeList(decoding: bytes.extracting(droppingFirst: reader.offset))
    self.bytes = bytes
    fields = MetaFields(
      nameEnd: reader.offset, created: created, modified: modified, size: size)
  }

  /// A view over bytes that were read, or made, before.
  ///
  /// - Parameter fields: What was read of the same bytes.
  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>, _ fields: MetaFields) {
    self.bytes = bytes
    self.fields = fields
  }
}

/// Holds what a meta says beside name and attributes, and where those stand.
public struct MetaFields: Sendable {
  let nameEnd: Int
  let created: UInt64
  let modified: UInt64
  let size: UInt64
}
