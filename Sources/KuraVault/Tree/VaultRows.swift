// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Joins the rows of a vault with the tree that says whether they are true.
struct VaultRows: ~Copyable {
  var storage: Storage
  var tree: IntegrityTree
  let checks: IntegrityChecks

  init(_ storage: consuming Storage, checks: IntegrityChecks) {
    self.storage = storage
    self.checks = checks
    tree = IntegrityTree(checks: checks)
  }

  /// Gives up everything but the file.
  consuming func finish() -> Storage { storage }
}

/// Lends a row that is what the tree says it is.
struct VerifiedRow: ~Escapable {
  let row: ItemRow
  let facts: RowFacts

  @_lifetime(copy row)
  init(row: ItemRow, facts: RowFacts) {
    self.row = row
    self.facts = facts
  }
}

extension VaultRows {
  /// Looks at the current row of a tag, once its leaf was found and the row came to that leaf.
  ///
  /// - Returns: What `body` made of it; nil when there is no such item, which is proved.
  mutating func withCurrent<Result: ~Copyable>(
    _ tag: ItemTag, under root: RootRecord, _ keys: borrowing Keyring,
    _ body: (VerifiedRow, borrowing Keyring) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    guard let leaf = try tree.leaf(of: tag, under: root, in: &storage, keys) else { return nil }
    return try withCurrent(tag, leaf: leaf, keys, body)
  }

  /// Looks at the current row of a tag, once it came to the leaf that the tree has of it.
  mutating func withCurrent<Result: ~Copyable>(
    _ tag: ItemTag, leaf: Digest, _ keys: borrowing Keyring,
    _ body: (VerifiedRow, borrowing Keyring) throws(VaultError) -> Result
  ) throws(VaultError) -> Result? {
    let checks = checks
    guard let row = try storage.item(tag) else {
      guard checks.contains(.presence) else { return nil }
      throw .damaged(.item)
    }
    let facts = try RowFacts(row)
    guard try keys.leaf(of: row, facts) == leaf || !checks.contains(.leaf),
      HistoryList.isSound(row.history, below: facts.revision)
    else { throw .damaged(.item) }
    return try body(VerifiedRow(row: row, facts: facts), keys)
  }

  /// Looks at a kept revision's row, once it came to its entry, and has the class of the current one.
  ///
  /// - Parameter item: What the current row says of the item.
  mutating func withKept<Result: ~Copyable>(
    _ entry: HistoryList.Entry, of item: RowFacts, _ keys: borrowing Keyring,
    _ body: (VerifiedRow, borrowing Keyring) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try withKept(entry, of: item.id, keys) { found, keys throws(VaultError) in
      guard found.facts.protection == item.protection else { throw .damaged(.history) }
      return try body(found, keys)
    }
  }

  /// Looks at a kept revision's row, once it came to its entry.
  mutating func withKept<Result: ~Copyable>(
    _ entry: HistoryList.Entry, of item: ItemID, _ keys: borrowing Keyring,
    _ body: (VerifiedRow, borrowing Keyring) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    let checks = checks
    guard let row = try storage.kept(entry.revision, of: item) else { throw .damaged(.history) }
    let facts = try RowFacts(row, about: .history)
    let leaf = try keys.leaf(of: row, facts, isKept: true)
    let isTrue = facts.id == item && facts.revision == entry.revision && leaf == entry.leaf
    guard isTrue || !checks.contains(.history) else { throw .damaged(.history) }
    return try body(VerifiedRow(row: row, facts: facts), keys)
  }
}
