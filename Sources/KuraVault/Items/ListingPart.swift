// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Proves, opens and writes down the items of some buckets of a slice, on one thread.
// It belongs to one thread at a time: to the walk, and for the length of a fork to one of two.
final class ListingPart: @unchecked Sendable {
  private var work: ListingWork
  private var slice = ItemSlice()
  private var buckets = 0..<0
  /// Why it came to no end.
  private(set) var failure: VaultError?

  init(_ order: ListingOrder, _ keys: borrowing Keyring) throws(VaultError) {
    work = try ListingWork.make(order, keys)
  }

  /// Gives it other work; what came of the last is gone.
  func begin(_ buckets: Range<Int>, of slice: ItemSlice) {
    self.slice = slice
    self.buckets = buckets
    failure = nil
    work.page.removeAll()
  }

  /// Does the work.
  func run(_ keys: borrowing Keyring) {
    let slice = slice
    // Its room is to be filled again.
    self.slice = ItemSlice()
    do throws(VaultError) { try work.open(buckets, of: slice, keys) } catch { failure = error }
  }

  /// Hands out the oldest piece of what was written; false when none is left.
  func takePiece<Failure: Error>(
    _ body: (Span<UInt8>, Int) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    try work.page.takePiece(body)
  }

  /// Hands out the oldest item; nil when none is left.
  func takeItem() -> Item? { work.page.takeItem() }
}

/// Proves and opens items, and keeps what comes of it.
private struct ListingWork: ~Copyable {
  private let order: ListingOrder
  private var desk: RowDesk
  var page: ListingPage

  static func make(
    _ order: ListingOrder, _ keys: borrowing Keyring
  ) throws(VaultError) -> ListingWork {
    ListingWork(order: order, desk: try RowDesk(keys), page: try ListingPage.make())
  }

  mutating func open(
    _ buckets: Range<Int>, of slice: ItemSlice, _ keys: borrowing Keyring
  ) throws(VaultError) {
    for index in buckets { try open(slice.buckets[index], of: slice, keys) }
    page.cut()
  }

  /// Proves a bucket, and opens the items that it names.
  private mutating func open(
    _ bucket: ItemSlice.Bucket, of slice: ItemSlice, _ keys: borrowing Keyring
  ) throws(VaultError) {
    let (bytes, checks) = (slice.bytes.span, order.checks)
    let leaves = BucketLeaves(bytes.extracting(bucket.leaves))
    let digest = desk.bucket(bucket.number, depth: slice.depth, leaves: leaves.bytes)
    guard digest == bucket.digest || !checks.contains(.bucket),
      leaves.belong(to: bucket.number, depth: slice.depth)
    else { throw .damaged(.bucket) }
    var next = bucket.rows.lowerBound
    for index in 0..<leaves.count {
      guard next < bucket.rows.upperBound, slice.rows[next].facts.tag == leaves.tag(index) else {
        guard checks.contains(.presence) else { continue }
        throw .damaged(.item)
      }
      try open(slice.rows[next], leaves.leaf(index), bytes, keys)
      next += 1
    }
  }

  /// Proves a row, and opens it.
  private mutating func open(
    _ row: ItemSlice.Row, _ expected: Digest, _ bytes: Span<UInt8>, _ keys: borrowing Keyring
  ) throws(VaultError) {
    let leaf = try desk.leaf(
      row.facts, history: bytes.extracting(row.history), meta: bytes.extracting(row.meta),
      body: bytes.extracting(row.body))
    guard leaf == expected || !order.checks.contains(.leaf),
      HistoryList.isSound(bytes.extracting(row.history), below: row.facts.revision)
    else { throw .damaged(.item) }
    switch row.facts.kind {
    case .value, .otp: break
    case .deleted: guard order.includesDeleted else { return }
    case .purged: guard order.includesPurged else { return }
    }
    try desk.open(meta: bytes.extracting(row.meta), row.facts, keys)
    try ListingWork.keep(desk, on: &page, order)
  }

  private static func keep(
    _ desk: borrowing RowDesk, on page: inout ListingPage, _ order: ListingOrder
  ) throws(VaultError) {
    guard let item = desk.item else { return }
    try page.keep(item, order)
  }
}

/// Collects what came of some items, in their order.
private struct ListingPage: ~Copyable {
  /// What is written is cut behind the item that comes to this many bytes.
  private static let pieceBytes = 32_768

  private var output: SecretBuffer
  /// Where it is cut, and how many items each piece holds.
  private var pieces: [(bytes: Range<Int>, count: Int)] = []
  /// Items behind the last cut.
  private var count = 0
  /// What was opened, where nothing is written.
  private var items: [OpenedItem] = []
  /// How many pieces or items were handed out.
  private var taken = 0

  private init(_ output: consuming SecretBuffer) { self.output = output }

  static func make() throws(VaultError) -> ListingPage {
    ListingPage(try fromMemory(SecretBuffer(capacity: 8_192)))
  }

  mutating func removeAll() {
    output.removeAll()
    pieces.removeAll(keepingCapacity: true)
    (count, taken) = (0, 0)
    items.removeAll()
  }

  mutating func keep(_ item: ItemView, _ order: ListingOrder) throws(VaultError) {
    guard let write = order.write else {
      do { items.append(OpenedItem(Item(try ItemMeta(copying: item.meta), item.facts))) } catch {
        throw VaultError(error, about: .item)
      }
      return
    }
    guard try write(item, &output) else { return }
    count += 1
    if output.count - (pieces.last?.bytes.upperBound ?? 0) >= Self.pieceBytes { cut() }
  }

  mutating func cut() {
    guard count > 0 else { return }
    pieces.append(((pieces.last?.bytes.upperBound ?? 0)..<output.count, count))
    count = 0
  }

  mutating func takePiece<Failure: Error>(
    _ body: (Span<UInt8>, Int) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    guard taken < pieces.count else { return false }
    taken += 1
    try body(output.bytes.extracting(pieces[taken - 1].bytes), pieces[taken - 1].count)
    return true
  }

  mutating func takeItem() -> Item? {
    guard taken < items.count else { return nil }
    taken += 1
    return items[taken - 1].take()
  }
}

/// Carries an opened item in an array, which holds no noncopyable values itself.
private final class OpenedItem {
  private var item: Item?

  init(_ item: consuming Item) { self.item = consume item }

  func take() -> Item? { item.take() }
}
