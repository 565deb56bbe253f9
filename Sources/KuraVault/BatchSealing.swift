// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Normalised names, attributes and values of a batch that nothing more is added to.
final class BatchText: Sendable {
  let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }
}

extension PutBatch.Entry {
  /// The attributes of an item as changes of those it has.
  func edits(in text: borrowing SecretBytes) throws(VaultError) -> AttributeEdits {
    var edits = AttributeEdits()
    guard attributes.count > 2 else { return edits }
    let attributes: Attributes
    do {
      attributes = try Attributes(unsorted: text.bytes.extracting(self.attributes))
    } catch {
      throw VaultError(error, about: .item)
    }
    try edits.set(attributes)
    return edits
  }
}

/// The row of an item that is new to the vault, sealed before it is written.
struct SealedItem: Sendable {
  let facts: ItemFacts
  let meta: [UInt8]
  let body: [UInt8]
  let leaf: Digest
}

/// The next items of a batch, sealed as if they were new to the vault, as most are.
struct SealedAhead {
  private var items: [SealedItem?] = []
  /// The place in the batch of the first.
  private var start = 0
  /// How many turned out to be new, and how many did not.
  private var (used, wasted) = (0, 0)

  /// Takes what was sealed of an item; nil when nothing was, or to no avail.
  ///
  /// - Parameters:
  ///   - index: The item's place in the batch.
  ///   - isNew: Whether the vault has no item of that name.
  mutating func take(_ index: Int, isNew: Bool) -> SealedItem? {
    let place = index - start
    guard items.indices.contains(place), let item = items[place] else { return nil }
    items[place] = nil
    if isNew { used += 1 } else { wasted += 1 }
    return isNew ? item : nil
  }

  /// Whether an item's turn to be sealed has come, and most of those before were new.
  fileprivate func wantsMore(at index: Int) -> Bool {
    !(start..<start + items.count).contains(index) && wasted <= used / 4 + 64
  }

  fileprivate mutating func replace(by sealed: [SealedItem?], from index: Int) {
    items = sealed
    start = index
  }
}

extension PutBatch {
  /// How many items a thread takes at once.
  private static let partCount = 64

  /// Seals the items that are written next, on both cores.
  ///
  /// - Parameters:
  ///   - count: How many, at most.
  ///   - time: When they are stored, in milliseconds since 1970.
  mutating func sealAhead(_ count: Int, at time: UInt64, _ keys: borrowing Keyring) {
    guard let text, ahead.wantsMore(at: next) else { return }
    let end = min(next + count, entries.count)
    let parts = stride(from: next, to: end, by: Self.partCount).map { start in
      SealedPart(
        entries[start..<min(start + Self.partCount, end)],
        after: start > 0 ? entries[start - 1].tag : nil, text, at: time)
    }
    ForkJoin.run(parts, with: keys) { part, keys in part.seal(with: keys) }
    ahead.replace(by: parts.flatMap(\.sealed), from: next)
  }
}

/// Some items of a batch that one thread seals.
///
/// Unchecked: that thread has it until all parts are done, and its maker before and after.
private final class SealedPart: @unchecked Sendable {
  private let entries: ArraySlice<PutBatch.Entry>
  private let before: ItemTag?
  private let text: BatchText
  private let time: UInt64
  /// What there is of each item; nil for one that has to be stored without.
  private(set) var sealed: [SealedItem?] = []

  /// - Parameter before: The tag of the item in front of these.
  init(
    _ entries: ArraySlice<PutBatch.Entry>, after before: ItemTag?, _ text: BatchText,
    at time: UInt64
  ) {
    (self.entries, self.before, self.text, self.time) = (entries, before, text, time)
  }

  /// Seals each item that can be a new one: not the second of a name, and none that is protected.
  ///
  /// What goes wrong is found out again, and told, when the item is stored without.
  func seal(with keys: borrowing Keyring) {
    let each = 2 * RandomSupply.nonceByteCount + ItemID.byteCount
    guard var random = try? RandomSupply(byteCount: entries.count * each) else { return }
    sealed.reserveCapacity(entries.count)
    var last = before
    for entry in entries {
      let mayBeNew = entry.tag != last && !entry.isProtecting
      sealed.append(mayBeNew ? try? seal(entry, of: text.secret, with: keys, &random) : nil)
      last = entry.tag
    }
  }

  private func seal(
    _ entry: PutBatch.Entry, of text: borrowing SecretBytes, with keys: borrowing Keyring,
    _ random: inout RandomSupply
  ) throws -> SealedItem {
    let facts = ItemFacts(
      tag: entry.tag, id: try ItemID.random(from: &random), revision: 1,
      generation: keys.ring.active)
    let change = ItemChange(tag: entry.tag, path: .none, current: nil)
    let meta = try change.newMeta(
      text.bytes.extracting(entry.name), try entry.edits(in: text),
      size: UInt64(entry.value.count), modified: time)
    return try keys.seal(facts, meta, value: text.bytes.extracting(entry.value), &random)
  }
}
