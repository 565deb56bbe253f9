// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension UnlockedVault {
  /// An item without its value.
  ///
  /// - Parameter name: The name as given; normalised here.
  /// - Throws: ``VaultError/notFound``, which is verified; ``VaultError/nameInvalid(_:)``.
  public mutating func item(_ name: Span<UInt8>) throws(VaultError) -> Item {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let item = try vault.currentItem(tag), !item.isDeleted else { throw .notFound }
      return item
    }
  }

  /// An item with its value, or with a stream of it when it is large.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - revision: An earlier one out of the history; nil for the current one.
  ///   - key: What opens a protected value; nil where nobody gave a fresh passcode.
  /// - Throws: ``VaultError/notFound``, ``VaultError/revisionNotFound``; ``VaultError/protected``
  ///   without the key, or with one of before a change of all keys.
  public mutating func value(
    _ name: Span<UInt8>, revision: UInt64? = nil, with key: borrowing ProtectedKey?
  ) throws(VaultError) -> Value {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let revision else { return try vault.currentValue(tag, orElse: .notFound, key) }
      return try vault.value(tag, revision: revision, key)
    }
  }

  /// The same without a key, so that only a standard value is read.
  public mutating func value(
    _ name: Span<UInt8>, revision: UInt64? = nil
  ) throws(VaultError) -> Value {
    try value(name, revision: revision, with: nil)
  }

  /// The kept earlier revisions of an item, ascending; a deleted item has them too.
  ///
  /// - Throws: ``VaultError/notFound``.
  public mutating func revisions(_ name: Span<UInt8>) throws(VaultError) -> [UInt64] {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      guard let (_, history) = try vault.verifiedHistory(tag) else { throw .notFound }
      return history.entries.map(\.revision)
    }
  }

  /// The tag of a name as it was given.
  func tag(of name: Span<UInt8>) throws(VaultError) -> ItemTag {
    try keys.tag(of: try ItemName.checked(name))
  }
}

// MARK: - Within a transaction

extension UnlockedVault {
  /// The current state of an item, deleted or not.
  mutating func currentItem(_ tag: ItemTag) throws(VaultError) -> Item? {
    try rows.withCurrent(tag, under: trust.root, keys) { found, keys throws(VaultError) in
      Item(try keys.openMeta(found.row.meta, found.facts), found.facts)
    }
  }

  /// The value of an item that is not deleted.
  mutating func currentValue(
    _ tag: ItemTag, orElse absence: VaultError, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> Value {
    let value = try rows.withCurrent(tag, under: trust.root, keys) {
      found, keys throws(VaultError) in
      guard found.facts.kind != .deleted else { throw absence }
      return try keys.openValue(found, key)
    }
    guard let value else { throw absence }
    return value
  }

  private mutating func value(
    _ tag: ItemTag, revision: UInt64, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> Value {
    guard let (facts, history) = try verifiedHistory(tag) else { throw .notFound }
    if facts.revision == revision {
      return try currentValue(tag, orElse: .revisionNotFound, key)
    }
    guard let entry = history.entries.first(where: { $0.revision == revision }) else {
      throw .revisionNotFound
    }
    return try rows.withKept(entry, of: facts, keys) { found, keys throws(VaultError) in
      guard found.facts.kind != .deleted else { throw .revisionNotFound }
      return try keys.openValue(found, key)
    }
  }

  /// An item's facts and the list of its kept revisions.
  mutating func verifiedHistory(
    _ tag: ItemTag
  ) throws(VaultError) -> (RowFacts, HistoryList)? {
    try rows.withCurrent(tag, under: trust.root, keys) { found, _ throws(VaultError) in
      (found.facts, try HistoryList.checked(found.row.history, below: found.facts.revision))
    }
  }
}

extension Keyring {
  /// Opens a row's meta and body.
  borrowing func openValue(
    _ found: VerifiedRow, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> Value {
    let item = Item(try openMeta(found.row.meta, found.facts), found.facts)
    let body = try openValue(in: found.row.body, found.facts, key)
    return try Value(item, try ItemBody.read(body))
  }
}
