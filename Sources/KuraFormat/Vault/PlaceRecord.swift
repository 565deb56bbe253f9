// SPDX-License-Identifier: MIT

/// Says which vault was last unlocked at a path of a machine; no secret, and nothing vouches for it.
public struct PlaceRecord: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 512

  private static let magic: [UInt8] = Array("KURAPLAC".utf8)

  /// The vault.
  public let vault: VaultID
  /// The path of its file, of which only the end is kept when it is long.
  public let path: [UInt8]

  /// A record.
  public init(vault: VaultID, path: [UInt8]) {
    self.vault = vault
    self.path = Array(path.suffix(SeenRecord.longestPath))
  }

  /// Reads a record.
  ///
  /// - Throws: ``FormatError/damaged`` for one that was torn.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    guard bytes.count == PlaceRecord.byteCount else { throw .damaged }
    var reader = ByteReader(bytes)
    let magic = try reader.take(PlaceRecord.magic.count)
    for index in magic.indices where magic[index] != PlaceRecord.magic[index] { throw .damaged }
    vault = try reader.identifier()
    var path: [UInt8] = []
    path.append(span: try reader.counted16(limit: SeenRecord.longestPath))
    self.path = path
    try reader.zeros(reader.remaining)
  }

  /// The record's 512 bytes.
  public var encoded: [UInt8] {
    var bytes = PlaceRecord.magic
    bytes.append(vault)
    bytes.append(integer: UInt16(path.count))
    bytes.append(contentsOf: path)
    bytes.append(zeros: PlaceRecord.byteCount - bytes.count)
    return bytes
  }
}
