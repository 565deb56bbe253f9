// SPDX-License-Identifier: MIT

/// Says which protected values a proof opens, with the secret attributes beside them.
public struct ProofScope: Message, ~Escapable {
  /// Which revision of each item is read beside the current one; 0 for none.
  public private(set) var revision: UInt64
  /// The names of the items, UTF-8; none for all that there are.
  public private(set) var names: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { (revision, names) = (0, KeyFields()) }

  /// The values of some items.
  @_lifetime(copy names)
  public init(_ names: KeyFields, revision: UInt64 = 0) {
    self.revision = revision
    self.names = names
  }

  /// Goes over `revision u64, names`; of all there are no revisions.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&revision)
    try names.code(&coder)
    guard revision == 0 || names.count > 0 else { throw .fieldValue }
  }
}

/// Let protected values be read on this connection for a while.
public struct AuthorizeRequest: Message, ~Escapable {
  /// What opens the vault now.
  public private(set) var authority: SlotAuthority
  /// Which values.
  public private(set) var scope: ProofScope

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { (authority, scope) = (SlotAuthority(), ProofScope()) }

  /// A secret, as typed, or the bytes of a key file, and what it is to open: all where that is not said.
  @_lifetime(copy secret, copy scope)
  public init(
    _ credential: Credential, secret: Span<UInt8>, for scope: ProofScope = ProofScope()
  ) {
    authority = SlotAuthority(credential, secret: secret)
    self.scope = scope
  }

  /// Goes over `authority, scope`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try authority.code(&coder)
    try scope.code(&coder)
  }
}
