// SPDX-License-Identifier: MIT

public import KuraFormat
internal import KuraStorage

/// Tells when this machine last made a backup of a vault, and where.
public struct BackupNote: Equatable, Sendable {
  /// When it was done, in milliseconds since 1970.
  public let time: UInt64
  /// Its path, of which only the end is kept when it is long.
  public let path: [UInt8]

  private static let patience = 50

  private static func name(of vault: VaultID) -> String { vault.hexadecimal + ".backup" }

  /// What is noted of a vault's last backup; nil where that is nothing, or cannot be read.
  public static func read(of vault: VaultID, in stateDirectory: String) -> BackupNote? {
    guard let place = try? StatePlace.file(name(of: vault), in: stateDirectory),
      let bytes = try? StateFile.peek(place, BackupRecord.byteCount),
      let record = try? BackupRecord(decoding: bytes.span), record.vault == vault
    else { return nil }
    return BackupNote(time: record.time, path: record.path)
  }

  /// Notes a backup.
  static func write(
    _ record: BackupRecord, in stateDirectory: String
  ) throws(VaultError) {
    let file = try StatePlace.lock(name(of: record.vault), in: stateDirectory, patience: patience)
    try fromStorage(
      file.write(record.encoded.span, at: 0, length: BackupRecord.byteCount))
  }
}
