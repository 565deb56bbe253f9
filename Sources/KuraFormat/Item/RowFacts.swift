// SPDX-License-Identifier: MIT

extension ItemKind {
  /// Whether a value of this kind can have a size, in bytes.
  public func admits(size: UInt64) -> Bool {
    switch self {
    case .value: size <= Manifest.longestValue
    case .deleted, .purged: size == 0
    case .otp: size <= UInt64(OTPSeed.longest)
    }
  }
}

/// Holds what a row says of an item in the clear; its sealed parts are bound to all of it.
public struct RowFacts: Equatable, Sendable {
  /// The keyed hash of the name.
  public var tag: ItemTag
  /// The item's id, for life.
  public var id: ItemID
  /// From 1, one more with every change.
  public var revision: UInt64
  /// The data key's generation.
  public var generation: UInt32
  /// How the value is kept.
  public var protection: ProtectionClass
  /// What the item is.
  public var kind: ItemKind

  /// Facts as a row holds them.
  public init(
    tag: ItemTag, id: ItemID, revision: UInt64, generation: UInt32,
    protection: ProtectionClass = .standard, kind: ItemKind = .value
  ) {
    self.tag = tag
    self.id = id
    self.revision = revision
    self.generation = generation
    self.protection = protection
    self.kind = kind
  }
}
