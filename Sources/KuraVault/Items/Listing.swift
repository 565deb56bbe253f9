// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
public import SecureMemory

/// Writes an item of a list down; false when it does not belong there. Called on two threads at once.
public typealias ItemWriter =
  @Sendable (_ item: ItemView, _ output: inout SecretBuffer) throws(VaultError) -> Bool

/// Says what a walk is to do with items.
struct ListingOrder: Sendable {
  let includesDeleted: Bool
  /// Whether what is left of purged items comes too.
  var includesPurged = false
  let checks: IntegrityChecks
  /// nil: they are handed out one by one.
  let write: ItemWriter?
}

/// Walks through all items, in the order of their tags, which is no order that a person would see.
///
/// Each bucket is verified when it is come to, and each row. Between two calls other items may be stored: a
/// walk shows each item as it was when it was come to. While items are opened, on both cores, what stands
/// behind them is read. Drop it before the vault is locked: it holds keys and opened items.
public struct Listing: ~Copyable {
  /// How many items are opened in the first step, for somebody who waits for the first line, and at most.
  private static let sizes = 64...512
  /// How many a part should have; waking the other core costs as much as some tens.
  private static let partSize = 64

  private let order: ListingOrder
  /// The keys whose tags it goes by.
  private let rekeyCount: UInt64
  /// The first tag that was not come to; nil at the end.
  private var cursor: ItemTag? = .zero
  private var size = Listing.sizes.lowerBound
  private var slice = ItemSlice()
  /// What is behind that, when it was read already.
  private var ahead = ItemSlice()
  private var isAhead = false
  /// Made for the slice's state of the vault, and in the order of the items.
  private var parts: [ListingPart] = []
  private var epoch: UInt64?
  /// The part that is handed out.
  private var place = 0

  init(_ order: ListingOrder, rekeyCount: UInt64) {
    self.order = order
    self.rekeyCount = rekeyCount
  }

  /// The next item.
  ///
  /// - Returns: nil at the end.
  /// - Throws: ``VaultError/damaged(_:)`` when an item or its bucket is not what the root says; the
  ///   walk can not go on. ``VaultError/busy`` after a rekey, which gave every item another place.
  public mutating func next(in vault: inout UnlockedVault) throws(VaultError) -> Item? {
    while true {
      if let item = takeItem() { return item }
      guard try advance(in: &vault) else { return nil }
    }
  }

  /// The next item that is opened already; nil when ``advance(in:)`` has to look further first.
  public mutating func takeItem() -> Item? {
    while place < parts.count {
      if let item = parts[place].takeItem() { return item }
      place += 1
    }
    return nil
  }

  /// Hands out the next items that were written down, some tens of KiB at most or a single one.
  ///
  /// - Parameter body: Gets what was written, and of how many items.
  /// - Returns: False when ``advance(in:)`` has to look further first.
  public mutating func takePiece<Failure: Error>(
    _ body: (Span<UInt8>, Int) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    while place < parts.count {
      if try parts[place].takePiece(body) { return true }
      place += 1
    }
    return false
  }

  /// Looks at some more items, a few milliseconds' worth, however few of them are to be shown: among
  /// deleted ones a single step to the next item could walk the whole vault.
  ///
  /// Call it when nothing is left to take.
  ///
  /// - Returns: False when there was nothing left to look at.
  /// - Throws: As ``next(in:)``.
  public mutating func advance(in vault: inout UnlockedVault) throws(VaultError) -> Bool {
    guard cursor != nil else { return false }
    guard rekeyCount == vault.rekeyCount else { throw .busy }
    return try vault.reading { vault throws(VaultError) in
      try advance(&vault.rows, vault.keys, under: vault.trust.root)
    }
  }

  /// The same within a read transaction.
  mutating func advance(
    _ rows: inout VaultRows, _ keys: borrowing Keyring, under root: RootRecord
  ) throws(VaultError) -> Bool {
    guard let cursor else { return false }
    try open(from: cursor, &rows, keys, under: root)
    self.cursor = slice.next
    return true
  }
}

// MARK: - One step

extension Listing {
  /// Reads and opens the next items, and reads ahead.
  private mutating func open(
    from cursor: ItemTag, _ rows: inout VaultRows, _ keys: borrowing Keyring, under root: RootRecord
  ) throws(VaultError) {
    // Rows that were read before a change may be sealed under a key that went with it.
    if isAhead, ahead.epoch == root.epoch {
      swap(&slice, &ahead)
    } else {
      try rows.read(&slice, from: cursor, atLeast: size, under: root, keys)
    }
    isAhead = false
    size = min(2 * size, Self.sizes.upperBound)
    if epoch != root.epoch { parts.removeAll() }
    epoch = root.epoch
    let work = try deal(keys)
    fork(work, &rows, keys, under: root)
    // Nothing of a slice is handed out that is not sound as a whole.
    place = parts.count
    for part in work { if let failure = part.failure { throw failure } }
    place = 0
  }

  /// Gives each part its share of the slice.
  private mutating func deal(_ keys: borrowing Keyring) throws(VaultError) -> [ListingPart] {
    var (count, first) = (0, 0)
    for index in slice.buckets.indices {
      let isLast = index == slice.buckets.count - 1
      guard slice.buckets[index].rows.upperBound >= (count + 1) * Self.partSize || isLast else {
        continue
      }
      if count == parts.count { parts.append(try ListingPart(order, keys)) }
      parts[count].begin(first..<(index + 1), of: slice)
      (count, first) = (count + 1, index + 1)
    }
    for part in parts[count...] { part.begin(0..<0, of: ItemSlice()) }
    return Array(parts[..<count])
  }

  /// Opens the slice, and reads what is behind it meanwhile.
  private mutating func fork(
    _ work: [ListingPart], _ rows: inout VaultRows, _ keys: borrowing Keyring,
    under root: RootRecord
  ) {
    let open: @Sendable (ListingPart, borrowing Keyring) -> Void = { $0.run($1) }
    guard let next = slice.next else { return ForkJoin.run(work, with: keys, open) }
    var (ahead, isAhead) = (ItemSlice(), false)
    swap(&ahead, &self.ahead)
    let size = size
    ForkJoin.run(
      work, with: keys, each: open,
      meanwhile: { keys in
        do throws(VaultError) {
          try rows.read(&ahead, from: next, atLeast: size, under: root, keys)
          isAhead = true
        } catch {
          // It is read again when its turn comes, and fails there if it still does.
        }
      })
    swap(&ahead, &self.ahead)
    self.isAhead = isAhead
  }
}

extension UnlockedVault {
  /// Begins a walk through all items, which hands them out.
  ///
  /// - Parameter includingDeleted: Whether deleted items come too.
  public func listing(includingDeleted: Bool = false) -> Listing {
    let order = ListingOrder(
      includesDeleted: includingDeleted, checks: options.checks, write: nil)
    return Listing(order, rekeyCount: rekeyCount)
  }

  /// Begins a walk through all items, which writes them down.
  ///
  /// - Parameters:
  ///   - includingDeleted: Whether deleted items come too.
  ///   - write: Writes one.
  public func listing(
    includingDeleted: Bool = false, writing write: @escaping ItemWriter
  ) -> Listing {
    let order = ListingOrder(
      includesDeleted: includingDeleted, checks: options.checks, write: write)
    return Listing(order, rekeyCount: rekeyCount)
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
