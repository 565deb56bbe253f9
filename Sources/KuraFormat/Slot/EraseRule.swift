// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Says after how many wrong codes in a row the secret of this machine for a slot is destroyed.
///
/// A copy of the vault's setting that stands beside that secret, because it has to act while the vault is
/// locked; authenticated under the secret, with which it would not be worth the trouble to forge it.
public struct EraseRule: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 72

  private static let magic: [UInt8] = Array("KURAERA1".utf8)
  private static let hashedByteCount = byteCount - Digest.byteCount

  /// The slot.
  public let slot: SlotID
  /// How many; 0 for never.
  public let limit: UInt64

  /// A rule.
  public init(slot: SlotID, limit: UInt64) {
    self.slot = slot
    self.limit = limit
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - secret: The slot's secret on this machine, 32 bytes.
  ///   - slot: The slot that it has to be of.
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public init(
    decoding bytes: Span<UInt8>, secret: Span<UInt8>, slot: SlotID
  ) throws(FormatError) {
    guard bytes.count == EraseRule.byteCount else { throw .damaged }
    let hashed = bytes.extracting(first: EraseRule.hashedByteCount)
    let digest = try EraseRule.digest(hashed, secret)
    guard digest.isEqual(to: bytes.extracting(last: Digest.byteCount)) else { throw .damaged }
    var reader = ByteReader(hashed)
    let magic = try reader.take(EraseRule.magic.count)
    for index in magic.indices where magic[index] != EraseRule.magic[index] { throw .damaged }
    let own: SlotID = try reader.identifier()
    limit = try reader.integer()
    try reader.zeros(reader.remaining)
    guard own == slot else { throw .damaged }
    self.slot = own
  }

  /// The rule's 72 bytes, its hash at the end.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode(secret: Span<UInt8>) throws(FormatError) -> [UInt8] {
    var bytes = EraseRule.magic
    bytes.append(slot)
    bytes.append(integer: limit)
    bytes.append(zeros: EraseRule.hashedByteCount - bytes.count)
    bytes.append(try EraseRule.digest(bytes.span, secret))
    return bytes
  }

  private static func digest(
    _ bytes: Span<UInt8>, _ secret: Span<UInt8>
  ) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(keyBytes: secret)
      hash.update(.eraseRule)
      hash.update(bytes)
      return hash.finalize()
    } catch {
      throw .outOfMemory
    }
  }
}
