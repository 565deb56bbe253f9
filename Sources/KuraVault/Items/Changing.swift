// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat

/// Says when a value is stored, and when that is refused.
public enum PutCondition: Equatable, Sendable {
  /// Only when there is no such item, or only a deleted one.
  case create
  /// In any case.
  case replace
  /// Only when the item is at this revision.
  case revision(UInt64)
}

/// Tells what a stored value came to.
public struct PutResult: Equatable, Sendable {
  /// The item's revision now.
  public let revision: UInt64
  /// The revision that was replaced; 0 when there was no value.
  public let previous: UInt64
}

extension UnlockedVault {
  /// Stores a value of at most 64 KiB; a longer one takes ``beginUpload(_:attributes:condition:protecting:times:)``.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - value: The bytes; only borrowed.
  ///   - attributes: Changes to the attributes; a new item begins without any.
  ///   - condition: When to store at all.
  ///   - protecting: Whether the item is protected from now on, as by ``protect(_:)``; one that is
  ///     stays so.
  ///   - kind: `ItemKind.otp` for an otpauth URI, which is checked.
  ///   - times: When it was made and changed; nil: now.
  /// - Throws: ``VaultError/exists(revision:)``, ``VaultError/revisionConflict(current:)``,
  ///   ``VaultError/notFound`` for a condition that asks for a revision, ``VaultError/tooLarge``,
  ///   ``VaultError/busy`` and those of names, attributes and the file.
  public mutating func put(
    _ name: Span<UInt8>, value: Span<UInt8>, attributes: borrowing AttributeEdits,
    condition: PutCondition, protecting: Bool = false, kind: ItemKind = .value,
    times: ItemTimes? = nil
  ) throws(VaultError) -> PutResult {
    guard value.count <= ItemBody.longestInline else { throw .tooLarge }
    if kind == .otp { _ = try OTPSeed.read(value) }
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    let content = try NewContent(inline: value)
    let result = try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      return try vault.put(
        content, name, attributes, condition, protecting: protecting, change, &draft, kind, times)
    }
    try clearWAL()
    return result
  }

  /// Stores content as the next revision of an item, or as a new item.
  mutating func put(
    _ content: borrowing NewContent, _ name: borrowing ItemName,
    _ edits: borrowing AttributeEdits, _ condition: PutCondition, protecting: Bool,
    _ change: consuming ItemChange, _ draft: inout Draft, _ kind: ItemKind = .value,
    _ times: ItemTimes? = nil
  ) throws(VaultError) -> PutResult {
    try change.check(condition)
    let previous = change.liveRevision ?? 0
    if change.isDeleted { try draft.countDeleted(false) }
    let next = try change.next(
      name.bytes, edits, setting: .value, size: content.size, modified: draft.root.time, times)
    let revision = try finish(change, next, content, kind, protecting: protecting, &draft)
    return PutResult(revision: revision, previous: previous)
  }

  /// Changes the attributes of an item, which makes a new revision with the same value.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - edits: The changes.
  ///   - revision: The revision that the item has to be at; nil for any.
  /// - Returns: The new revision.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionConflict(current:)`` and those of
  ///   attributes and the file.
  @discardableResult
  public mutating func setAttributes(
    _ name: Span<UInt8>, _ edits: borrowing AttributeEdits, ifRevision revision: UInt64? = nil
  ) throws(VaultError) -> UInt64 {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    return try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      try change.check(live: revision)
      let content = try vault.currentContent(tag)
      let next = try change.next(
        name.bytes, edits, setting: [], size: content.size, modified: draft.root.time)
      let kind = change.kind ?? .value
      return try vault.finish(change, next, content, kind, &draft)
    }
  }

  /// Deletes an item: its value moves to the history, and what is left tells that it was deleted.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - revision: The revision that the item has to be at; nil for any.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionConflict(current:)`` and those of the
  ///   file.
  public mutating func remove(
    _ name: Span<UInt8>, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    var names = try ItemNames.one(name)
    try remove(&names, ifRevision: revision)
  }

  /// Deletes an item, and others with it, in one transaction; all are deleted at the same time.
  ///
  /// - Parameters:
  ///   - names: The item first; where it is refused, they tell for which one.
  ///   - revision: The revision that the first has to be at; nil for any.
  /// - Throws: As ``remove(_:ifRevision:)-(Span<UInt8>,_)`` does: nothing is deleted then.
  public mutating func remove(
    _ names: inout ItemNames, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try writing { vault, draft throws(VaultError) in
      try vault.each(of: &names, &draft) { vault, names, index, draft throws(VaultError) in
        try vault.remove(try names.name(index), ifRevision: index == 0 ? revision : nil, &draft)
      }
    }
  }

  private mutating func remove(
    _ name: borrowing ItemName, ifRevision revision: UInt64?, _ draft: inout Draft
  ) throws(VaultError) {
    let change = try beginChange(of: try keys.tag(of: name))
    try change.check(live: revision)
    try draft.countDeleted(true)
    draft.freesName = true
    let content = try NewContent(inline: Span())
    let next = try change.next(
      name.bytes, AttributeEdits(), setting: .deletion, size: 0, modified: draft.root.time)
    _ = try finish(change, next, content, .deleted, &draft)
  }
}

extension ItemName {
  /// A name as it was given, checked and normalised.
  static func checked(_ typed: Span<UInt8>) throws(VaultError) -> ItemName {
    try fromFormat(.item, ItemName(typed))
  }
}
