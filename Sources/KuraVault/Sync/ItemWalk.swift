// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Gathers in one walk over all rows what is asked of every item when a head is written: which change it is, and what it
/// comes to. Rows are proved and opened on both cores.
struct ItemWalk {
  /// Says of a row what tells whether it is news, and what its item comes to.
  struct Row {
    let id: ItemID
    let tag: ItemTag
    /// Whether it is what is left of an item that was purged.
    let isTrace: Bool
    /// The change that it is; nil for a trace, and for what several changes come to.
    let change: RevisionEntry?
    /// Whether that change was made in format 1.
    let isOld: Bool
    /// What the item comes to by that change alone.
    let digest: ContentID
  }

  /// Ascending by their ids; of an item that has both, what is left of it comes last.
  fileprivate(set) var rows: [Row] = []

  /// The items that have something which other copies have not, ascending by their ids.
  func packable(beyond coverage: PackCoverage) -> [PackableItem] {
    var found: [PackableItem] = []
    eachItem { rows in
      let isNews = rows.contains { row in
        guard let change = row.change, coverage.values.isEmpty else { return true }
        return coverage.wants(change, isOld: row.isOld)
      }
      guard isNews else { return }
      let row = rows[rows.startIndex]
      found.append(PackableItem(id: row.id, tag: row.isTrace ? nil : row.tag))
    }
    return found
  }

  /// Goes over all items.
  ///
  /// - Parameter look: Gets the rows of one: what is left of it behind its own, where it has both.
  func eachItem<Failure: Error>(
    _ look: (ArraySlice<Row>) throws(Failure) -> Void
  ) throws(Failure) {
    var start = 0
    for end in rows.indices where end + 1 == rows.count || rows[end + 1].id != rows[end].id {
      try look(rows[start...end])
      start = end + 1
    }
  }
}

extension UnlockedVault {
  /// Walks over all items, within a read transaction.
  ///
  /// - Throws: ``VaultError/damaged(_:)``.
  mutating func walkItems() throws(VaultError) -> ItemWalk {
    let key = WalkKey(try keys.remote.copied())
    let order = ListingOrder(
      includesDeleted: true, includesPurged: true, checks: options.checks,
      write: { item, output throws(VaultError) in
        try ItemWalk.write(item, key, &output)
        return true
      })
    var listing = Listing(order, rekeyCount: rekeyCount)
    var walk = ItemWalk()
    walk.rows.reserveCapacity(Int(clamping: trust.root.itemCount))
    while try listing.advance(&rows, keys, under: trust.root) {
      while listing.takePiece({ walk.read($0, count: $1) }) {}
    }
    walk.rows.sort { $0.id != $1.id ? $0.id < $1.id : !$0.isTrace && $1.isTrace }
    return walk
  }
}

/// Lends the key of what stores hold to the threads of a walk.
private final class WalkKey: Sendable {
  private let key: Key

  init(_ key: consuming Key) { self.key = key }

  func digest(of item: ItemView, _ revision: RevisionID) throws(VaultError) -> ContentID {
    try WalkKey.digest(of: item, revision, key)
  }

  private static func digest(
    of item: ItemView, _ revision: RevisionID, _ key: borrowing Key
  ) throws(VaultError) -> ContentID {
    try key.digestOfItem([revision], RevisionVector(), name: item.name)
  }
}

// MARK: - From one thread to the other

extension ItemWalk {
  private static let rowByteCount = 74

  /// Writes down what the walk takes of a row.
  fileprivate static func write(
    _ item: ItemView, _ key: WalkKey, _ output: inout SecretBuffer
  ) throws(VaultError) {
    let facts = item.facts
    var (change, isOld, digest): (RevisionEntry?, Bool, ContentID) = (nil, false, .zero)
    if facts.kind != .purged {
      let trail = try fromFormat(.item, item.meta.trail(orOldOf: facts))
      if trail.sides.isEmpty {
        let stamp = trail.lineage.stamp
        change = stamp.entry
        isOld = try PackCoverage.isOld(stamp, of: facts.id)
        digest = try key.digest(of: item, stamp.id)
      }
    }
    do {
      for id in [facts.id.bytes, facts.tag.bytes] { try output.append(id.span) }
      try output.append(facts.kind == .purged ? 1 : 0)
      try output.append(change == nil ? 0 : isOld ? 2 : 1)
      try output.append((change?.device ?? .zero).bytes.span)
      try output.append(integer: change?.counter ?? 0)
      try output.append(digest.bytes.span)
    } catch { throw .outOfMemory }
  }

  /// Reads what was written down of some rows.
  fileprivate mutating func read(_ bytes: Span<UInt8>, count: Int) {
    for number in 0..<count {
      let row = bytes.extracting(number * Self.rowByteCount..<(number + 1) * Self.rowByteCount)
      var change: RevisionEntry?
      if row[33] != 0 {
        change = RevisionEntry(
          device: DeviceID(row.extracting(34..<50)),
          counter: (50..<58).reversed().reduce(0) { $0 << 8 | UInt64(row[$1]) })
      }
      rows.append(
        Row(
          id: ItemID(row.extracting(0..<16)), tag: ItemTag(row.extracting(16..<32)),
          isTrace: row[32] == 1, change: change, isOld: row[33] == 2,
          digest: ContentID(row.extracting(58..<74))))
    }
  }
}
