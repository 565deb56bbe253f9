// SPDX-License-Identifier: MIT

/// Asks for a new key for what a client holds beyond a lock, or for one again of which it has kept the sealed form.
public struct DraftKeyRequest: Message, ~Escapable {
  /// The length of a sealed key, in bytes.
  public static let sealedCount = 104

  /// The sealed key; without bytes for a new one.
  public private(set) var sealed: Field

  /// For a new key.
  @_lifetime(immortal)
  public init() { sealed = Field() }

  /// For one that was sealed.
  @_lifetime(copy sealed)
  public init(_ sealed: Span<UInt8>) { self.sealed = Field(sealed) }

  /// Goes over `sealed b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&sealed)
    guard sealed.bytes.isEmpty || sealed.bytes.count == Self.sealedCount else { throw .fieldValue }
  }
}

/// The answer to `draft-key`: a key, and the form of it that may be kept while the vault is locked.
public struct DraftKeyReply: Message, ~Escapable {
  /// The length of a key, in bytes.
  public static let keyCount = 32

  /// The key.
  public private(set) var key: Field
  /// The same, sealed.
  public private(set) var sealed: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    key = Field()
    sealed = Field()
  }

  /// A key and its sealed form.
  @_lifetime(copy key, copy sealed)
  public init(key: Span<UInt8>, sealed: Span<UInt8>) {
    self.key = Field(key)
    self.sealed = Field(sealed)
  }

  /// Goes over `key b16, sealed b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&key)
    try coder.field16(&sealed)
    guard key.bytes.count == Self.keyCount, sealed.bytes.count == DraftKeyRequest.sealedCount else {
      throw .fieldValue
    }
  }
}
