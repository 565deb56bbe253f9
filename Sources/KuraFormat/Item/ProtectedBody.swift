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
  }

  private let plaintext: SecretBytes
  private let headCount: Int

  /// Where the chunks of a long value are; nil for a value that stands in the body itself.
  public let value: ValueID?
  /// The revision that the value was sealed for; that of the row, or an earlier one with the same value.
  public let revision: UInt64

  /// How long the body inside is, in bytes: form and value, or a manifest.
  public var innerByteCount: Int {
    plaintext.count - headCount - ProtectedPair.byteCount - Seal.overhead
  }

  /// The bytes to seal under the data key.
  public var encoded: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { plaintext.bytes }
  }

  private init(
    _ plaintext: consuming SecretBytes, headCount: Int, value: ValueID?, revision: UInt64
  ) {
    self.plaintext = plaintext
    self.headCount = headCount
    self.value = value
    self.revision = revision
  }

  /// Reads an opened body, which it takes over.
  ///
  /// - Throws: ``FormatError/damaged``; the bytes are gone.
  public static func decode(
    _ plaintext: consuming SecretBytes
  ) throws(FormatError) -> ProtectedBody {
    let (value, revision, rest) = try head(plaintext.bytes)
    let inner = rest - ProtectedPair.byteCount - Seal.overhead
    guard inner >= 1, inner <= ItemBody.longestInline + 1,
      value == nil || inner == 1 + Manifest.byteCount, revision > 0
    else { throw .damaged }
    let headCount = plaintext.count - rest
    return ProtectedBody(plaintext, headCount: headCount, value: value, revision: revision)
  }

  private static func head(
    _ plaintext: Span<UInt8>
  ) throws(FormatError) -> (value: ValueID?, revision: UInt64, rest: Int) {
    var reader = ByteReader(plaintext)
    guard let form = Form(rawValue: try reader.integer()) else { throw .damaged }
    let revision = try reader.integer(UInt64.self)
    let value: ValueID? = form == .chunked ? try reader.identifier() : nil
    return (value, revision, reader.remaining)
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
  ///   - revision: The item's revision.
  /// - Throws: ``FormatError/damaged`` when body or half are none, ``FormatError/outOfMemory``.
  public static func seal(
    _ body: Span<UInt8>, to publicHalf: [UInt8], vault: VaultID, item: ItemID,
    revision: UInt64
  ) throws(FormatError) -> ProtectedBody {
    let value = try chunkedValue(in: body)
    let associated = AssociatedData.protectedValue(vault: vault, item: item, revision: revision)
    let (ephemeral, inner) = try sealed(body, to: publicHalf, associated)
    do {
      var buffer = try SecretBuffer(capacity: 64 + inner.count)
      try buffer.append(value == nil ? Form.inline.rawValue : Form.chunked.rawValue)
      try buffer.append(integer: revision)
      if let value { try buffer.append(value) }
      let headCount = buffer.count
      try buffer.append(ephemeral.span)
      try buffer.append(inner.span)
      return ProtectedBody(
        buffer.finish(), headCount: headCount, value: value, revision: revision)
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
    let associated = AssociatedData.protectedValue(vault: vault, item: item, revision: revision)
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
