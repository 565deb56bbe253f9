// SPDX-License-Identifier: MIT

/// Reads an item's meta in place, over opened bytes that somebody else owns.
public struct MetaView: ~Escapable {
  static let layout: UInt8 = 1
  /// The same with what it follows behind it.
  static let layoutWithTrail: UInt8 = 2
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
      AttributeList(trusted: bytes.extracting(fields.nameEnd..<fields.attributesEnd))
    }
  }

  /// Reads an opened meta.
  ///
  /// - Parameter format: The vault's.
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(
    decoding bytes: Span<UInt8>, of format: VaultFormat = .first
  ) throws(FormatError) {
    guard bytes.count <= (format == .first ? ItemMeta.longest : ItemMeta.longestWithTrail) else {
      throw .damaged
    }
    var reader = ByteReader(bytes)
    let layout = try reader.integer(UInt8.self)
    let hasTrail = format > .first && layout == Self.layoutWithTrail
    guard hasTrail || layout == Self.layout else { throw .damaged }
    let created = try reader.integer(UInt64.self)
    let modified = try reader.integer(UInt64.self)
    let size = try reader.integer(UInt64.self)
    guard size <= Manifest.longestValue else { throw .damaged }
    let name = try reader.counted16(limit: ItemName.longest)
    guard hasTrail && name.isEmpty || ItemName.isCanonical(name) else { throw .damaged }
    let nameEnd = reader.offset
    let end = hasTrail ? try AttributeList.end(of: bytes, from: nameEnd) : bytes.count
    guard end <= ItemMeta.longest, !name.isEmpty || size == 0 else { throw .damaged }
    let attributes = try AttributeList(decoding: bytes.extracting(nameEnd..<end))
    let scan =
      hasTrail ? try TrailScan(bytes, from: end, attributes, isPurged: name.isEmpty) : nil
    self.bytes = bytes
    fields = MetaFields(
      nameEnd: nameEnd, attributesEnd: end, created: created, modified: modified, size: size,
      scan: scan)
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
  let attributesEnd: Int
  let created: UInt64
  let modified: UInt64
  let size: UInt64
  /// Where stands what the revision follows; nil for one that was written in format 1.
  var scan: TrailScan?
}

// MARK: - What it follows

extension MetaView {
  /// Whether the meta says what its revision follows.
  public var hasTrail: Bool { fields.scan != nil }

  /// Whether the row is no revision, but shows what several of them come to, or stands under another name than its own.
  public var hasSides: Bool { fields.scan.map { $0.lastSide > 0 } ?? false }

  /// Whether some part of the item has contents beside the one that is shown.
  public var isOpen: Bool { fields.scan?.isOpen ?? false }

  /// What the revision follows; nil where the meta was written in format 1, and stands for what
  /// ``MetaTrail/init(old:of:)`` says.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func trail() throws(FormatError) -> MetaTrail? {
    guard let scan = fields.scan else { return nil }
    return try MetaTrail(bytes, scan, attributeCount: attributes.count)
  }

  /// Whether a row of a kind, with a number, can have this meta.
  ///
  /// - Parameters:
  ///   - kind: The row's.
  ///   - revision: The row's number.
  public func fits(_ kind: ItemKind, revision: UInt64) -> Bool {
    guard kind.admits(size: size) else { return false }
    guard let scan = fields.scan else { return kind != .purged }
    // Nothing but a purged item is without a name or, unless it is deleted, a value.
    guard name.isEmpty == (kind == .purged), scan.lastSide < revision else { return false }
    return switch kind {
    case .value, .otp: scan.hasValue
    case .deleted: scan.secretCount == 0
    case .purged: true
    }
  }

  /// A walk over the keys of the secret attributes.
  @_lifetime(copy self)
  public func makeSecretCursor() -> SecretKeyCursor { SecretKeyCursor(bytes, fields.scan) }
}

/// Walks over the keys of an item's secret attributes, in place; their values stand in the body.
public struct SecretKeyCursor: ~Escapable {
  private let bytes: Span<UInt8>
  private var keys: TrailKeys
  private let isEmpty: Bool

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, _ scan: TrailScan?) {
    self.bytes = bytes
    isEmpty = scan == nil
    // Without a trail nothing is walked over; any meta has two bytes.
    keys = TrailKeys(bytes, from: scan?.secrets ?? 0, of: .secret)
  }

  /// The key that the walk is at.
  public var key: Span<UInt8> {
    @_lifetime(copy self) get { keys.key }
  }

  /// How many bytes its value has.
  public var size: Int {
    var size = 0
    for index in 0..<4 { size |= Int(bytes[keys.tail + index]) << (8 * index) }
    return size
  }

  /// Goes to the next key.
  ///
  /// - Returns: Whether there is one.
  public mutating func advance() -> Bool { isEmpty ? false : keys.advance() }
}
