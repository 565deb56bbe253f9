// SPDX-License-Identifier: MIT

public import KuraFormat

/// Shows an item but for its value, in place over an opened meta that somebody else owns.
public struct ItemView: ~Escapable {
  let meta: MetaView
  let facts: RowFacts

  @_lifetime(copy meta)
  init(_ meta: MetaView, _ facts: RowFacts) {
    self.meta = meta
    self.facts = facts
  }

  /// The name, in normal form C.
  public var name: Span<UInt8> {
    @_lifetime(copy self) get { meta.name }
  }

  /// The attributes, ascending by key.
  public var attributes: AttributeList {
    @_lifetime(copy self) get { meta.attributes }
  }

  /// The keys of its secret attributes, ascending, each with the size of the value, which stands beside the item's.
  public var secretKeys: SecretKeyCursor {
    @_lifetime(copy self) get { meta.makeSecretCursor() }
  }

  /// Which change of the item this is; the first is 1.
  public var revision: UInt64 { facts.revision }

  /// The value's bytes.
  public var size: UInt64 { meta.size }

  /// When the item was first stored, in milliseconds since 1970.
  public var created: UInt64 { meta.created }

  /// When this revision was stored, or touched since, in milliseconds since 1970.
  public var modified: UInt64 { meta.modified }

  /// Whether the value takes a fresh passcode.
  public var isProtected: Bool { facts.protection == .protected }

  /// Whether its value is an otpauth URI, which one-time codes are made of.
  public var isOTP: Bool { facts.kind == .otp }

  /// Whether only its history is left.
  public var isDeleted: Bool { facts.kind == .deleted }
}
