// SPDX-License-Identifier: MIT

public import SecureMemory

/// Says whether an upload's last frame keeps it.
public enum UploadEnd: UInt8, Sendable, CaseIterable {
  case commit = 0
  case abandon = 1

  /// Reads the payload of a frame of type ``FrameType/clientEnd``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    guard let end = UploadEnd(rawValue: try reader.number()) else { throw .fieldValue }
    try reader.finish()
    self = end
  }
}

extension SecretBuffer {
  /// Writes the `confirm` that follows a `create`, or another request whose recovery key was shown.
  public mutating func putConfirm() throws(ProtocolError) {
    try closeFrame(try openFrame(.confirm))
  }

  /// Writes the last frame of an upload.
  public mutating func putUploadEnd(_ end: UploadEnd) throws(ProtocolError) {
    let frame = try openFrame(.clientEnd)
    try put(end.rawValue)
    try closeFrame(frame)
  }
}
