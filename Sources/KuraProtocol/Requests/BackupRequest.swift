// SPDX-License-Identifier: MIT

/// Copy the vault to another place. Progress frames, a data frame with what was made, and an end follow.
public struct BackupRequest: Message, ~Escapable {
  /// How many of a series are kept, this one among them; 0 keeps all.
  public private(set) var keep: UInt16
  /// Where it is to stand; absolute.
  public private(set) var path: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    keep = 0
    path = Field()
  }

  /// A backup at a path.
  @_lifetime(copy path)
  public init(path: Span<UInt8>, keeping keep: UInt16 = 0) {
    self.keep = keep
    self.path = Field(path)
  }

  /// Goes over `keep u16, path b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&keep)
    try coder.field16(&path, limit: ProtocolLimit.path)
  }
}
