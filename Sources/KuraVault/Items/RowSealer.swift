// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import SecureMemory

/// Seals the rows of items that are new to the vault, one after the other in memory that is taken once;
/// the counterpart of ``RowDesk``, and as secret.
struct RowSealer: ~Copyable {
  private let vault: VaultID
  private let generation: UInt32
  private let noAttributes: Attributes
  private var tree: TreeHasher
  private var sealer: Sealer

  init(_ keys: borrowing Keyring) throws(VaultError) {
    let generation = keys.ring.active
    let noAttributes = try fromFormat(.item, Attributes.empty())
    let tree = try keys.treeHasher()
    let sealer = try keys.sealer()
    vault = keys.vault
    self.generation = generation
    self.noAttributes = noAttributes
    self.tree = tree
    self.sealer = sealer
  }

  /// Seals the row of an item's first revision.
  ///
  /// - Parameters:
  ///   - text: What the entry's name, attributes and value stand in.
  ///   - change: The change that makes it; nil in format 1.
  ///   - now: When it is stored, in milliseconds since 1970.
  ///   - random: What ids and nonces are taken from.
  mutating func seal(
    _ entry: PutBatch.Entry, of text: borrowing SecretBytes, by change: RevisionEntry?,
    at now: UInt64, _ random: inout RandomSupply
  ) throws(VaultError) -> SealedItem {
    let id = try fromCrypto(.item, ItemID.random(from: &random))
    let facts = RowFacts(
      tag: entry.tag, id: id, revision: 1, generation: generation, kind: entry.manner.kind)
    // An item that failed may have left something.
    sealer.plaintext.removeAll()
    let times = entry.manner.times ?? ItemTimes(created: now, modified: now)
    let lineage = try change.map { entry throws(VaultError) in
      Lineage(
        stamp: RevisionStamp(
          id: try fromCrypto(.item, RevisionID.random(from: &random)), depth: 1, entry: entry))
    }
    try RowSealer.encodeMeta(
      of: entry, text, noAttributes, by: lineage, at: times, into: &sealer.plaintext)
    let meta = try seal(.meta(vault: vault, facts: facts), &random)
    try fromFormat(
      .item, ItemBody.encode(inline: text.bytes.extracting(entry.value), into: &sealer.plaintext))
    let body = try seal(.body(vault: vault, facts: facts), &random)
    let leaf = try fromFormat(
      .item, tree.leaf(facts, meta: meta.span, body: body.span, list: Span()))
    return SealedItem(facts: facts, meta: meta, body: body, leaf: leaf, change: lineage?.stamp)
  }

  /// Seals what stands ready, for a place.
  private mutating func seal(
    _ place: AssociatedData, _ random: inout RandomSupply
  ) throws(VaultError) -> [UInt8] {
    try fromCrypto(.item, sealer.sealPadded(authenticating: place.span, nonce: try random.nonce()))
  }

  private static func encodeMeta(
    of entry: PutBatch.Entry, _ text: borrowing SecretBytes, _ none: borrowing Attributes,
    by lineage: Lineage?, at times: ItemTimes, into buffer: inout SecretBuffer
  ) throws(VaultError) {
    let (name, size) = (text.bytes.extracting(entry.name), UInt64(entry.value.count))
    guard entry.hasAttributes else {
      return try encodeMeta(name, times, size, none, by: lineage, into: &buffer)
    }
    try encodeMeta(
      name, times, size, try entry.edits(in: text).applied(to: none.list), by: lineage,
      into: &buffer)
  }

  private static func encodeMeta(
    _ name: Span<UInt8>, _ times: ItemTimes, _ size: UInt64, _ attributes: borrowing Attributes,
    by lineage: Lineage?, into buffer: inout SecretBuffer
  ) throws(VaultError) {
    do throws(FormatError) {
      guard let lineage else {
        return try ItemMeta.encode(
          name: name, created: times.created, modified: times.modified, size: size,
          attributes: attributes.list, into: &buffer)
      }
      let trail = MetaTrail(lineage, attributeCount: attributes.list.count)
      try ItemMeta.encode(
        name: name, created: times.created, modified: times.modified, size: size,
        attributes: attributes.list, trail: trail, into: &buffer)
    } catch { throw VaultError(error, about: .item) }
  }
}
