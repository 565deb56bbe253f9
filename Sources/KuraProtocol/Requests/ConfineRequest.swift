// SPDX-License-Identifier: MIT

/// Have this connection serve no more than a room may have; it cannot be taken back.
public struct ConfineRequest: Message, ~Escapable {
  /// The names of the items whose values, codes and facts are served, UTF-8.
  public private(set) var names: KeyFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(KeyFields()) }

  /// Nothing but these items.
  @_lifetime(copy names)
  public init(_ names: KeyFields) { self.names = names }

  /// Goes over `names`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try names.code(&coder)
  }
}
