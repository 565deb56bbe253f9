// SPDX-License-Identifier: MIT

public import SecureMemory

/// Tells what a backup is.
public struct BackupReport: Equatable, Sendable {
  /// How long the file is, in bytes.
  public let byteCount: UInt64
  /// How many older ones were removed.
  public let removedCount: UInt32
  /// How many were not, as they have a later state than the vault.
  public let sparedCount: UInt32
  /// Whether the vault's keys have proved it; else what can be proved without them was.
  public let isProved: Bool

  /// A backup that was made.
  public init(byteCount: UInt64, removedCount: UInt32, sparedCount: UInt32, isProved: Bool) {
    self.byteCount = byteCount
    self.removedCount = removedCount
    self.sparedCount = sparedCount
    self.isProved = isProved
  }

  /// Reads the payload of a frame of type ``FrameType/data``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    byteCount = try reader.number()
    removedCount = try reader.number()
    sparedCount = try reader.number()
    let proved: UInt8 = try reader.number()
    guard proved <= 1 else { throw .fieldValue }
    isProved = proved == 1
    try reader.finish()
  }
}

extension SecretBuffer {
  /// Says what was made.
  public mutating func putBackup(_ report: BackupReport) throws(ProtocolError) {
    let frame = try openFrame(.data)
    try put(report.byteCount)
    try put(report.removedCount)
    try put(report.sparedCount)
    try put(UInt8(report.isProved ? 1 : 0))
    try closeFrame(frame)
  }
}
