// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Holds what a key slot has sealed: the vault key, when the slot was made, and what its owner calls it.
public struct SlotPayload: ~Copyable, Sendable {
  /// The longest label, in bytes of UTF-8.
  public static let longestLabel = 64

  /// The vault key.
  public let vaultKey: Key
  /// When the slot was made, in milliseconds since 1970.
  public let created: UInt64
  /// What its owner calls it: UTF-8 of at most ``longestLabel`` bytes, mostly none.
  public let label: [UInt8]

  /// A payload.
  ///
  /// - Throws: ``FormatError/damaged`` when the label breaks the rules for texts.
  public init(
    vaultKey: consuming Key, created: UInt64, label: [UInt8] = []
  ) throws(FormatError) {
    guard SlotPayload.isLabel(label.span) else { throw .damaged }
    self.vaultKey = vaultKey
    self.created = created
    self.label = label
  }

  /// Reads an opened payload.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public static func decode(_ plaintext: Span<UInt8>) throws(FormatError) -> SlotPayload {
    var reader = ByteReader(plaintext)
    let vaultKey = try copiedKey(try reader.take(Key.byteCount))
    let created = try reader.integer(UInt64.self)
    let label = try reader.counted16(limit: longestLabel)
    try reader.finish()
    var bytes: [UInt8] = []
    bytes.append(span: label)
    return try SlotPayload(vaultKey: vaultKey, created: created, label: bytes)
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func encode() throws(FormatError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: 256)
      try buffer.append(vaultKey.bytes)
      try buffer.append(integer: created)
      try buffer.append(integer: UInt16(label.count))
      try buffer.append(label.span)
      return buffer.finish()
    } catch {
      throw .outOfMemory
    }
  }

  private static func isLabel(_ text: Span<UInt8>) -> Bool {
    guard text.count <= longestLabel else { return false }
    return text.isEmpty || Text.isCanonical(text, limit: longestLabel)
  }
}

/// A key out of an opened record.
func copiedKey(_ bytes: Span<UInt8>) throws(FormatError) -> Key {
  do { return try Key(copying: bytes) } catch { throw .outOfMemory }
}
