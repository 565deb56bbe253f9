// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds the normalised names, attributes and values of a batch that nothing more is added to.
final class BatchText: Sendable {
  let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }
}

extension PutBatch.Entry {
  /// Whether any attributes are given.
  var hasAttributes: Bool { attributes.count > 2 }

  /// Whether any are given that stand beside the value.
  var hasSecrets: Bool { secrets.count > 2 }

  /// The attributes of an item as changes of those it has.
  func edits(in text: borrowing SecretBytes) throws(VaultError) -> AttributeEdits {
    var edits = AttributeEdits(replacingAll: manner.replacesAttributes)
    if hasAttributes {
      try edits.set(
        try fromFormat(.item, Attributes(unsorted: text.bytes.extracting(self.attributes))))
    }
    if hasSecrets {
      try edits.set(
        secret: try fromFormat(.item, Attributes(unsorted: text.bytes.extracting(self.secrets))))
    }
    return edits
  }
}

/// Holds the row of an item that is new to the vault, sealed before it is written.
struct SealedItem: Sendable {
  let facts: RowFacts
  let meta: [UInt8]
  let body: [UInt8]
  let leaf: Digest
  /// What made it; nil in format 1.
  let change: RevisionStamp?
}

/// Holds the next items of a batch, sealed as if they were new to the vault, as most are.
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

  /// Seals the items that are stored next, on both cores, and writes the rows of those before meanwhile.
  ///
  /// - Parameters:
  ///   - count: How many, at most.
  ///   - draft: Says when they are stored, and counts the changes.
  mutating func sealAhead(
    _ count: Int, _ draft: inout Draft, _ rows: inout VaultRows, _ keys: borrowing Keyring
  ) throws(VaultError) {
    guard let text, ahead.wantsMore(at: next) else { return }
    let (first, end) = (next, min(next + count, entries.count))
    let time = draft.root.time
    // One that comes to nothing leaves a number that nobody uses.
    let changes = try draft.nextEntries(end - first)
    let parts = stride(from: first, to: end, by: Self.partCount).map { start in
      SealedPart(
        entries[start..<min(start + Self.partCount, end)],
        after: start > 0 ? entries[start - 1].tag : nil, text,
        by: changes?.advanced(by: UInt64(start - first)), at: time)
    }
    var failure: VaultError?
    ForkJoin.run(parts, with: keys) { part, keys in
      part.seal(with: keys)
    } meanwhile: { _ in
      do throws(VaultError) { try writeRows(&rows) } catch { failure = error }
    }
    if let failure { throw failure }
    ahead.replace(by: parts.flatMap(\.sealed), from: next)
  }
}

extension PutBatch {
  /// Writes the rows that are yet to be written.
  mutating func writeRows(_ rows: inout VaultRows) throws(VaultError) {
    for item in unwritten {
      let (tag, id) = (item.facts.tag.bytes, item.facts.id.bytes)
      let row = ItemRow(
        tag: tag.span, id: id.span, facts: item.facts.revisionFacts, history: Span(),
        meta: item.meta.span, body: item.body.span)
      try fromStorage(rows.storage.storeItem(row))
    }
    unwritten.removeAll(keepingCapacity: true)
  }
}

/// Seals some items of a batch on one thread.
///
/// Unchecked: that thread has it until all parts are done, and its maker before and after.
private final class SealedPart: @unchecked Sendable {
  private let entries: ArraySlice<PutBatch.Entry>
  private let before: ItemTag?
  private let text: BatchText
  private let change: RevisionEntry?
  private let time: UInt64
  /// The sealed row of each item; nil for one that is sealed when it is stored.
  private(set) var sealed: [SealedItem?] = []

  /// - Parameters:
  ///   - before: The tag of the item in front of these.
  ///   - change: The first one's; nil in format 1.
  init(
    _ entries: ArraySlice<PutBatch.Entry>, after before: ItemTag?, _ text: BatchText,
    by change: RevisionEntry?, at time: UInt64
  ) {
    (self.entries, self.before, self.text) = (entries, before, text)
    (self.change, self.time) = (change, time)
  }

  /// Seals each item that can be a new one: not the second of a name, and none that is protected or
  /// deleted, has secret attributes, or is longer than a row.
  ///
  /// What goes wrong is found out again, and told, when the item is stored without.
  func seal(with keys: borrowing Keyring) {
    let each = 2 * RandomSupply.nonceByteCount + ItemID.byteCount + RevisionID.byteCount
    guard var sealer = try? RowSealer(keys),
      var random = try? RandomSupply(byteCount: entries.count * each)
    else { return }
    sealed.reserveCapacity(entries.count)
    var last = before
    for (place, entry) in entries.enumerated() {
      let mayBeNew =
        entry.tag != last && !entry.manner.isProtecting && entry.manner.kind != .deleted
        && !entry.hasSecrets && entry.value.count <= ItemBody.longestInline
      sealed.append(
        mayBeNew
          ? try? sealer.seal(
            entry, of: text.secret, by: change?.advanced(by: UInt64(place)), at: time, &random)
          : nil)
      last = entry.tag
    }
  }
}
