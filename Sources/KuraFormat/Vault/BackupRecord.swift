// SPDX-License-Identifier: MIT

/// Says when a machine last made a backup of a vault, and where; no secret, and nothing vouches for it.
public struct BackupRecord: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 512

  private static let magic: [UInt8] = Array("KURABACK".utf8)

  /// The vault.
  public let vault: VaultID
  /// When it was done, in milliseconds since 1970.
  public let time: UInt64
  /// The backup's path, of which only the end is kept when it is long.
  public let path: [UInt8]

  /// A record.
  public init(vault: VaultID, time: UInt64, path: [UInt8]) {
    self.vault = vault
    self.time = time
    self.path = Array(path.suffix(SeenRecord.longestPath))
  }

  /// Reads a record.
  ///
  /// - Throws: ``FormatError/damaged`` for one that was torn.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    guard bytes.count == BackupRecord.byteCount else { throw .damaged }
    var reader = ByteReader(bytes)
    let magic = try reader.take(BackupRecord.magic.count)
    for index in magic.indices where magic[index] != BackupRecord.magic[index] { throw .damaged }
    vault = try reader.identifier()
    time = try reader.integer()
    var path: [UInt8] = []
    path.append(span: try reader.counted16(limit: SeenRecord.longestPath))
    self.path = path
    try reader.zeros(reader.remaining)
  }

  /// The record's 512 bytes.
  public var encoded: [UInt8] {
    var bytes = BackupRecord.magic
    bytes.append(vault)
    bytes.append(integer: time)
    bytes.append(integer: UInt16(path.count))
    bytes.append(contentsOf: path)
    bytes.append(zeros: BackupRecord.byteCount - bytes.count)
    return bytes
  }
}
