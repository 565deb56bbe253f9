// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import SecureMemory

/// Names what a change sets of an item; all else stays as it was set before.
struct RevisionParts: OptionSet {
  let rawValue: UInt8

  static let value = RevisionParts(rawValue: 1)
  static let name = RevisionParts(rawValue: 2)
  /// Everything is as the change has it, so that nothing stays open beside it.
  static let all = RevisionParts(rawValue: 4)
  /// Only the kind: contents are kept, but for those that stand in the body.
  static let deletion = RevisionParts(rawValue: 8)
}

/// Describes an item's next revision but for its value: its meta, and what of it the change sets.
struct NextRevision: ~Copyable {
  /// Without what the revision follows.
  let meta: ItemMeta
  let parts: RevisionParts
  /// The keys of attributes that are set, encoded; nil for none.
  let edited: SecretBytes?
  /// What becomes of the secret attributes.
  let secrets: SecretEdits

  init(
    _ meta: consuming ItemMeta, setting parts: RevisionParts, edited: consuming SecretBytes? = nil,
    secrets: consuming SecretEdits = SecretEdits()
  ) {
    self.meta = meta
    self.parts = parts
    self.edited = edited
    self.secrets = secrets
  }
}

extension ItemChange.Current {
  /// What the item's present revision follows.
  func trail() throws(VaultError) -> MetaTrail {
    let facts = facts
    return try fromFormat(.item, meta.view.trail(orOldOf: facts))
  }
}

extension MetaView {
  /// What a revision follows, however it was written.
  func trail(orOldOf facts: RowFacts) throws(FormatError) -> MetaTrail {
    if let trail = try trail() { return trail }
    return try MetaTrail(old: self, of: facts)
  }
}

extension ItemChange {
  /// The revisions that a change of this item follows.
  func sides() throws(VaultError) -> [Lineage] {
    if let shown { return shown.sides }
    switch current {
    case .none: return []
    case .some(let current): return [try current.trail().lineage]
    }
  }

  /// What the next revision follows, and which revision set each part of it.
  ///
  /// - Parameters:
  ///   - next: The revision.
  ///   - secrets: The keys and sizes of its secret attributes, encoded; empty for none.
  func trail(
    as lineage: Lineage, _ next: borrowing NextRevision, secrets: Span<UInt8>
  ) throws(VaultError) -> MetaTrail {
    switch current {
    case .some(let current):
      var before = try current.trail()
      if let purged { before.forget(purged, isDeletion: isDeleted) }
      let isDisplaced = shown?.isDisplaced ?? false
      return try next.trail(
        as: lineage, after: before, of: current.meta.view, secrets, isRenamed: isDisplaced)
    case .none:
      let nothing = try next.meta.withoutAttributes()
      let before = MetaTrail(lineage, attributeCount: 0, hasValue: false)
      return try next.trail(as: lineage, after: before, of: nothing.view, secrets, isFirst: true)
    }
  }
}

extension NextRevision {
  fileprivate borrowing func trail(
    as lineage: Lineage, after before: borrowing MetaTrail, of meta: MetaView,
    _ secrets: Span<UInt8>, isFirst: Bool = false, isRenamed: Bool = false
  ) throws(VaultError) -> MetaTrail {
    switch edited {
    case .some(let edited):
      try trail(as: lineage, after: before, of: meta, secrets, edited.bytes, isFirst, isRenamed)
    case .none: try trail(as: lineage, after: before, of: meta, secrets, Span(), isFirst, isRenamed)
    }
  }

  private borrowing func trail(
    as lineage: Lineage, after before: borrowing MetaTrail, of meta: MetaView,
    _ secrets: Span<UInt8>, _ edited: Span<UInt8>, _ isFirst: Bool,
    _ isRenamed: Bool
  ) throws(VaultError) -> MetaTrail {
    let change = TrailChange(
      attributes: self.meta.attributes, secrets: secrets, edited: edited,
      setsValue: parts.contains(.value) || isFirst, setsName: parts.contains(.name) || isRenamed,
      settlesAll: parts.contains(.all) || isFirst, isDeletion: parts.contains(.deletion))
    return try fromFormat(.item, MetaTrail(after: before, of: meta, as: lineage, change))
  }
}

extension ItemMeta {
  /// The same of an item that has no attributes.
  fileprivate borrowing func withoutAttributes() throws(VaultError) -> ItemMeta {
    let none = try fromFormat(.item, Attributes.empty())
    return try fromFormat(
      .item,
      ItemMeta(
        name: name, created: created, modified: modified, size: size, attributes: none.list))
  }

  /// The same with what the revision follows.
  borrowing func following(_ trail: borrowing MetaTrail) throws(VaultError) -> ItemMeta {
    try fromFormat(
      .item,
      ItemMeta(
        name: name, created: created, modified: modified, size: size, attributes: attributes,
        trail: trail))
  }
}
