// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Holds what the body of a protected item has under its data key: a body that opens with the protected pair's
/// secret half only, and what has to be known of it without that.
public struct ProtectedBody: ~Copyable, Sendable {
  /// Marks a protected body's form by numbers that no standard body has, so that neither is ever taken for the
  /// other.
  private enum Form: UInt8 {
    case inline = 2
    case chunked = 3
    case inlineByID = 4
    case chunkedByID = 5

    static func of(_ origin: Origin, isChunked: Bool) -> Form {
      switch origin {
      case .number: isChunked ? .chunked : .inline
      case .revision: isChunked ? .chunkedByID : .inlineByID
      }
    }
  }

  /// Says for which revision a value was sealed, as its seal binds it.
  public enum Origin: Equatable, Sendable {
    /// By its number, which each copy of a vault counts for itself: format 1.
    case number(UInt64)
    /// By its id.
    case revision(RevisionID)

    func place(vault: VaultID, item: ItemID) -> AssociatedData {
      switch self {
      case .number(let number):
        .protectedValue(vault: vault, item: item, revision: number)
      case .revision(let id): .protectedValue(vault: vault, item: item, setBy: id)
      }
    }
  }

  private let plaintext: SecretBytes
  private let headCount: Int

  /// Where the chunks of a long value are; nil for a value that stands in the body itself.
  public let value: ValueID?
  /// The revision that the value was sealed for; that of the row, or an earlier one with the same value.
  public let origin: Origin

  /// Whether it can stand in a row of this number, as far as numbers say.
  public func isSealed(upTo revision: UInt64) -> Bool {
    switch origin {
    case .number(let number): number <= revision
    case .revision: true
    }
  }

  /// How long the body inside is, in bytes: form and value, or a manifest.
  public var innerByteCount: Int {
    plaintext.count - headCount - ProtectedPair.byteCount - Seal.overhead
  }

  /// The bytes to seal under the data key.
  public var encoded: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { plaintext.bytes }
  }

  private init(
    _ plaintext: consuming SecretBytes, headCount: Int, value: ValueID?, origin: Origin
  ) {
    self.plaintext = plaintext
    self.headCount = headCount
    self.value = value
    self.origin = origin
  }

  /// Reads an opened body, which it takes over.
  ///
  /// - Parameters:
  ///   - plaintext: The opened bytes.
  ///   - format: The vault's.
  /// - Throws: ``FormatError/damaged``; the bytes are gone.
  public static func decode(
    _ plaintext: consuming SecretBytes, of format: VaultFormat = .first
  ) throws(FormatError) -> ProtectedBody {
    let (value, origin, rest) = try head(plaintext.bytes, format)
    let inner = rest - ProtectedPair.byteCount - Seal.overhead
    guard inner >= 1, inner <= ItemBody.longestInline + 1,
      value == nil || inner == 1 + Manifest.byteCount, origin != .number(0)
    else { throw .damaged }
    let headCount = plaintext.count - rest
    return ProtectedBody(plaintext, headCount: headCount, value: value, origin: origin)
  }

  /// The revision that an opened body was sealed for, in a vault of any format.
  ///
  /// - Throws: ``FormatError/damaged``.
  public static func origin(of plaintext: Span<UInt8>) throws(FormatError) -> Origin {
    try head(plaintext, .second).origin
  }

  private static func head(
    _ plaintext: Span<UInt8>, _ format: VaultFormat
  ) throws(FormatError) -> (value: ValueID?, origin: Origin, rest: Int) {
    var reader = ByteReader(plaintext)
    guard let form = Form(rawValue: try reader.integer()) else { throw .damaged }
    let origin: Origin
    let isChunked: Bool
    switch form {
    case .inline, .chunked:
      isChunked = form == .chunked
      origin = .number(try reader.integer())
    case .inlineByID, .chunkedByID:
      guard format > .first else { throw .damaged }
      isChunked = form == .chunkedByID
      origin = .revision(try reader.identifier())
    }
    let value: ValueID? = isChunked ? try reader.identifier() : nil
    return (value, origin, reader.remaining)
  }
}

// MARK: - The inner seal

extension ProtectedBody {
  /// Seals a body for the secret half of a pair.
  ///
  /// - Parameters:
  ///   - body: What a standard body holds; only borrowed.
  ///   - publicHalf: The pair's public half.
  ///   - vault: The vault's id.
  ///   - item: The item's id.
  ///   - origin: The revision that it is sealed for.
  /// - Throws: ``FormatError/damaged`` when body or half are none, ``FormatError/outOfMemory``.
  public static func seal(
    _ body: Span<UInt8>, to publicHalf: [UInt8], vault: VaultID, item: ItemID,
    for origin: Origin
  ) throws(FormatError) -> ProtectedBody {
    let value = try chunkedValue(in: body)
    let associated = origin.place(vault: vault, item: item)
    let (ephemeral, inner) = try sealed(body, to: publicHalf, associated)
    do {
      var buffer = try SecretBuffer(capacity: 64 + inner.count)
      try buffer.append(Form.of(origin, isChunked: value != nil).rawValue)
      switch origin {
      case .number(let number): try buffer.append(integer: number)
      case .revision(let id): try buffer.append(id)
      }
      if let value { try buffer.append(value) }
      let headCount = buffer.count
      try buffer.append(ephemeral.span)
      try buffer.append(inner.span)
      return ProtectedBody(
        buffer.finish(), headCount: headCount, value: value, origin: origin)
    } catch { throw .outOfMemory }
  }

  private static func sealed(
    _ body: Span<UInt8>, to publicHalf: [UInt8], _ associated: AssociatedData
  ) throws(FormatError) -> (ephemeral: [UInt8], inner: [UInt8]) {
    do throws(CryptoError) {
      let sealing = try ProtectedPair.sealingKey(to: publicHalf)
      let inner = try Seal.seal(body, authenticating: associated.span, under: sealing.key)
      return (sealing.ephemeral, inner)
    } catch { throw FormatError(error) }
  }

  /// What stands beside the sealed value, 32 bytes: no other body has the same.
  public var ephemeral: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      plaintext.bytes.extracting(headCount..<(headCount + ProtectedPair.byteCount))
    }
  }

  /// The key of this one body.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public borrowing func openingKey(
    of pair: borrowing ProtectedPair
  ) throws(FormatError) -> Key {
    do { return try pair.openingKey(ephemeral: ephemeral) } catch {
      throw error == .outOfMemory ? .outOfMemory : .damaged
    }
  }

  /// Opens what is inside.
  ///
  /// - Parameters: The pair, and where the body stands.
  /// - Returns: What a standard body holds.
  /// - Throws: ``FormatError/damaged``, also for a body that was sealed for another place or pair, or
  ///   that is not what the outside says; ``FormatError/outOfMemory``.
  public borrowing func open(
    with pair: borrowing ProtectedPair, vault: VaultID, item: ItemID
  ) throws(FormatError) -> SecretBytes {
    try open(under: try openingKey(of: pair), vault: vault, item: item)
  }

  /// The same by the body's own key.
  public borrowing func open(
    under key: borrowing Key, vault: VaultID, item: ItemID
  ) throws(FormatError) -> SecretBytes {
    let associated = origin.place(vault: vault, item: item)
    let body: SecretBytes
    do {
      body = try Seal.open(
        plaintext.bytes.extracting(droppingFirst: headCount + ProtectedPair.byteCount),
        authenticating: associated.span, under: key)
    } catch {
      throw error == .outOfMemory ? .outOfMemory : .damaged
    }
    guard try ProtectedBody.isChunked(body, at: value) else { throw .damaged }
    return body
  }

  private static func isChunked(
    _ body: borrowing SecretBytes, at value: ValueID?
  ) throws(FormatError) -> Bool { try chunkedValue(in: body.bytes) == value }

  private static func chunkedValue(
    in body: Span<UInt8>
  ) throws(FormatError) -> ValueID? {
    // A value is not copied to be told from where one is.
    if ItemBody.isInline(body) { return nil }
    switch try ItemBody.decode(try SecretBytes.duplicate(body)) {
    case .inline: return nil
    case .chunked(let manifest): return manifest.value
    }
  }
}
