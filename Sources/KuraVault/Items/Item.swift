// SPDX-License-Identifier: MIT

public import KuraFormat

/// Holds an item but for its value: the opened meta, in guarded memory.
public struct Item: ~Copyable, Sendable {
  private let meta: ItemMeta
  let facts: RowFacts

  init(_ meta: consuming ItemMeta, _ facts: RowFacts) {
    self.meta = meta
    self.facts = facts
  }

  /// All of it, to look at.
  public var view: ItemView {
    @_lifetime(borrow self) borrowing get { ItemView(meta.view, facts) }
  }

  /// The name, in normal form C.
  public var name: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { meta.name }
  }

  /// The attributes, ascending by key.
  public var attributes: AttributeList {
    @_lifetime(borrow self) borrowing get { meta.attributes }
  }

  /// Whether it has a secret attribute.
  ///
  /// - Parameter key: In normal form C.
  public borrowing func hasSecret(_ key: Span<UInt8>) -> Bool {
    var cursor = view.secretKeys
    while cursor.advance() {
      if cursor.key.isEqual(to: key) { return true }
    }
    return false
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
