// SPDX-License-Identifier: MIT

public import KuraTerms

/// Says as what an item of a batch is stored.
public struct BatchManner: Equatable, Sendable {
  /// Whether an item of that name may exist, or stand before it in the batch, whatever holds for the others.
  public var isReplacing: Bool
  /// Whether the item is protected from now on; one that is stays so.
  public var isProtecting: Bool
  /// What the item is; one that is deleted has no value, and where there is none nothing is done.
  public var kind: ItemKind
  /// Whether the attributes take the place of all it has; else they are added to them.
  public var replacesAttributes: Bool
  /// When it was made and changed; nil: now.
  public var times: ItemTimes?

  /// A standard value of now, unless something else is said.
  public init(
    replacing isReplacing: Bool = false, protecting isProtecting: Bool = false,
    kind: ItemKind = .value,
    replacingAttributes replacesAttributes: Bool = false, times: ItemTimes? = nil
  ) {
    self.isReplacing = isReplacing
    self.isProtecting = isProtecting
    self.kind = kind
    self.replacesAttributes = replacesAttributes
    self.times = times
  }
}
