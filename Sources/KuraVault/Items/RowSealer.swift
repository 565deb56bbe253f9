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
    do {
      let generation = keys.ring.active
      let noAttributes = try Attributes.empty()
      let tree = try keys.tree.hasher()
      let sealer = try Sealer(key: try keys.ring.dataKey(generation))
      vault = keys.vault
      self.generation = generation
      self.noAttributes = noAttributes
      self.tree = tree
      self.sealer = sealer
    } catch {
      throw VaultError(error, about: .ring)
    }
  }

  /// Seals the row of an item's first revision.
  ///
  /// - Parameters:
  ///   - text: What the entry's name, attributes and value stand in.
  ///   - time: When it is stored, in milliseconds since 1970.
  ///   - random: What id and nonces are taken from.
  mutating func seal(
    _ entry: PutBatch.Entry, of text: borrowing SecretBytes, at time: UInt64,
    _ random: inout RandomSupply
  ) throws -> SealedItem {
    let facts = ItemFacts(
      tag: entry.tag, id: try ItemID.random(from: &random), revision: 1, generation: generation)
    // An item that failed may have left something.
    sealer.plaintext.removeAll()
    try RowSealer.encodeMeta(of: entry, text, noAttributes, at: time, into: &sealer.plaintext)
    let meta = try sealer.sealPadded(
      authenticating: AssociatedData.meta(vault: vault, facts: facts).span,
      nonce: try random.nonce())
    try ItemBody.encode(inline: text.bytes.extracting(entry.value), into: &sealer.plaintext)
    let body = try sealer.sealPadded(
      authenticating: AssociatedData.body(vault: vault, facts: facts).span,
      nonce: try random.nonce())
    let leaf = try tree.leaf(facts, meta: meta.span, body: body.span, list: Span())
    return SealedItem(facts: facts, meta: meta, body: body, leaf: leaf)
  }

  private static func encodeMeta(
    of entry: PutBatch.Entry, _ text: borrowing SecretBytes, _ none: borrowing Attributes,
    at time: UInt64, into buffer: inout SecretBuffer
  ) throws {
    let (name, size) = (text.bytes.extracting(entry.name), UInt64(entry.value.count))
    guard entry.hasAttributes else {
      return try ItemMeta.encode(
        name: name, created: time, modified: time, size: size, attributes: none.list,
        into: &buffer)
    }
    let attributes = try entry.edits(in: text).applied(to: none.list)
    try ItemMeta.encode(
      name: name, created: time, modified: time, size: size, attributes: attributes.list,
      into: &buffer)
  }
}
