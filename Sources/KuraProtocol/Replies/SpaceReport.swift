// SPDX-License-Identifier: MIT

public import SecureMemory

/// Tells what of a vault's file was given back to the disk, or could be.
public struct SpaceReport: Equatable, Sendable {
  /// Bytes that were given back, or in which nothing stands.
  public let count: UInt64
  /// How long the file is, in bytes.
  public let length: UInt64

  /// So many bytes of a file.
  public init(count: UInt64, length: UInt64) { (self.count, self.length) = (count, length) }

  /// Reads the payload of a frame of type ``FrameType/data``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    count = try reader.number()
    length = try reader.number()
    try reader.finish()
  }
}

extension SecretBuffer {
  /// Says what was given back, or could be.
  public mutating func putSpace(_ report: SpaceReport) throws(ProtocolError) {
    let frame = try openFrame(.data)
    try put(report.count)
    try put(report.length)
    try closeFrame(frame)
  }
}
