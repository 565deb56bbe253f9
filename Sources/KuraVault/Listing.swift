// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// A walk through all items, in the order of their tags, which is no order that a person would see.
///
/// Each bucket is verified when it is come to. Between two calls other items may be stored: a walk
/// shows each item as it was when it was come to. Drop it before the vault is locked.
public struct Listing: ~Copyable {
  /// How many items are opened in one transaction, or one bucket more; skipped ones count.
  private static let batch = 64
  /// How many buckets are looked at in one transaction.
  private static let bucketLimit = 1_024

  private let includesDeleted: Bool
  /// The keys whose tags it goes by.
  private let rekeyCount: UInt64
  /// The first tag that was not come to; nil at the end.
  private var cursor: ItemTag? = .zero
  /// Opened items, the next one last.
  private var opened: [OpenedItem] = []

  init(includesDeleted: Bool, rekeyCount: UInt64) {
    self.includesDeleted = includesDeleted
    self.rekeyCount = rekeyCount
  }

  /// The next item.
  ///
  /// - Returns: nil at the end.
  /// - Throws: ``VaultError/damaged(_:)`` when an item or its bucket is not what the root says; the
  ///   walk can not go on. ``VaultError/busy`` after a rekey, which gave every item another place.
  public mutating func next(in vault: inout UnlockedVault) throws(VaultError) -> Item? {
    while opened.isEmpty, try advance(in: &vault) {}
    return takeItem()
  }

  /// Whether nothing is left to look at; items that were opened may still wait.
  public var isAtEnd: Bool { cursor == nil }

  /// The next item that is opened already; nil when ``advance(in:)`` has to look further first.
  public mutating func takeItem() -> Item? { opened.popLast()?.take() }

  /// Looks at some more items, a few milliseconds' worth, however few of them are to be shown: among
  /// deleted ones a single step to the next item could walk the whole vault.
  ///
  /// Call it when no opened item is left.
  ///
  /// - Returns: False when there was nothing left to look at.
  /// - Throws: As ``next(in:)``.
  public mutating func advance(in vault: inout UnlockedVault) throws(VaultError) -> Bool {
    guard let cursor else { return false }
    guard rekeyCount == vault.rekeyCount else { throw .busy }
    let found = try vault.open(
      from: cursor, atLeast: Self.batch, within: Self.bucketLimit, includesDeleted)
    opened = found.items.reversed()
    self.cursor = found.next
    return true
  }
}

/// An opened item in an array, which holds no noncopyable values itself.
private final class OpenedItem {
  private var item: Item?

  init(_ item: consuming Item) { self.item = consume item }

  func take() -> Item? { item.take() }
}

extension UnlockedVault {
  /// Begins a walk through all items.
  ///
  /// - Parameter includingDeleted: Whether deleted items come too.
  public func listing(includingDeleted: Bool = false) -> Listing {
    Listing(includesDeleted: includingDeleted, rekeyCount: rekeyCount)
  }

  /// Opens the items of some whole buckets.
  ///
  /// - Returns: The items, and where to go on.
  fileprivate mutating func open(
    from cursor: ItemTag, atLeast batch: Int, within bucketLimit: Int, _ includesDeleted: Bool
  ) throws(VaultError) -> (items: [OpenedItem], next: ItemTag?) {
    try reading { vault throws(VaultError) in
      let tag = cursor.bytes
      do throws(StorageError) {
        try vault.rows.storage.scanItems(from: tag.span)
      } catch { throw VaultError(error) }
      let depth = vault.trust.root.depth
      let first = Tree.bucket(of: cursor, depth: depth)
      var items: [OpenedItem] = []
      var looked = 0
      for number in first..<(1 << (6 * UInt32(depth))) {
        if looked >= batch || Int(number - first) >= bucketLimit {
          return (items, Tree.firstTag(ofBucket: number, depth: depth))
        }
        looked += try vault.open(bucket: number, from: cursor, includesDeleted, into: &items)
      }
      return (items, nil)
    }
  }

  /// Opens the items of one bucket.
  ///
  /// - Returns: How many were looked at.
  private mutating func open(
    bucket number: UInt32, from cursor: ItemTag, _ includesDeleted: Bool,
    into items: inout [OpenedItem]
  ) throws(VaultError) -> Int {
    let bytes = try rows.tree.leaves(
      ofBucket: number, under: trust.root, in: &rows.storage, keys)
    let leaves = BucketLeaves(bytes.span)
    for index in 0..<leaves.count where leaves.tag(index) >= cursor {
      let item = try rows.withNext(leaves.tag(index), leaf: leaves.leaf(index), keys) {
        found, keys throws(VaultError) in
        Item(try keys.openMeta(found.row.meta, found.facts), found.facts)
      }
      guard let item, includesDeleted || !item.isDeleted else { continue }
      items.append(OpenedItem(item))
    }
    return leaves.count
  }
}

extension Tree {
  /// The lowest tag that belongs to a bucket.
  static func firstTag(ofBucket number: UInt32, depth: UInt8) -> ItemTag {
    let high = UInt64(number) << (64 - 6 * UInt64(depth))
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? high >> UInt64(56 - 8 * $0) : 0) }
    return ItemTag(bytes.span)
  }
}
