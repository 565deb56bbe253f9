// SPDX-License-Identifier: MIT

/// Make another vault of what this one has. The reply gives its recovery key; nothing is made before `confirm`, after
/// which progress frames and an end follow.
public struct CloneRequest: Message, ~Escapable {
  /// What the clone is to open by, as for a new vault key.
  public private(set) var slots: RekeyRequest
  /// Where it is to stand; absolute.
  public private(set) var path: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(slots: RekeyRequest(), path: Span()) }

  /// A clone at a path.
  @_lifetime(copy slots, copy path)
  public init(slots: RekeyRequest, path: Span<UInt8>) {
    self.slots = slots
    self.path = Field(path)
  }

  /// Goes over the fields of ``RekeyRequest``, then `path b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try slots.code(&coder)
    try coder.field16(&path, limit: ProtocolLimit.path)
  }
}
