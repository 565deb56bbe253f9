// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat

/// Proves and opens rows one after the other, in memory that is taken once. It holds what keys can be computed
/// from, and goes before the vault is locked.
struct RowDesk: ~Copyable {
  private let vault: VaultID
  private let format: VaultFormat
  private var tree: TreeHasher
  private var tags: TagHasher
  private var opener: SealOpener
  /// Whose data key the opener has.
  private var generation: UInt32
  /// What was opened last.
  private var opened: (facts: RowFacts, fields: MetaFields)?

  /// The item that was opened last, where it was opened; nil when that failed.
  var item: ItemView? {
    @_lifetime(borrow self) borrowing get {
      guard let opened else { return nil }
      return ItemView(MetaView(opener.plaintext, opened.fields), opened.facts)
    }
  }

  init(_ keys: borrowing Keyring) throws(VaultError) {
    let generation = keys.ring.active
    let tree = try keys.treeHasher()
    let tags = try keys.tagHasher()
    let opener = try keys.opener(generation, .ring)
    vault = keys.vault
    format = keys.format
    self.tree = tree
    self.tags = tags
    self.opener = opener
    self.generation = generation
  }

  /// What a bucket comes to.
  mutating func bucket(_ number: UInt32, depth: UInt8, leaves: Span<UInt8>) -> Digest {
    tree.bucket(number, depth: depth, leaves: leaves)
  }

  /// What a row of the items comes to.
  ///
  /// - Parameter body: The sealed body, or its two ends, one behind the other.
  mutating func leaf(
    _ facts: RowFacts, history: Span<UInt8>, meta: Span<UInt8>, body: Span<UInt8>
  ) throws(VaultError) -> Digest {
    try fromFormat(.item, tree.leaf(facts, meta: meta, body: body, list: history))
  }

  /// Opens a row's meta, as ``Keyring/openMeta(_:_:)`` does; ``item`` shows it.
  mutating func open(
    meta sealed: Span<UInt8>, _ facts: RowFacts, _ keys: borrowing Keyring
  ) throws(VaultError) {
    opened = nil
    if facts.generation != generation {
      opener = try keys.opener(facts.generation, .item)
      generation = facts.generation
    }
    try fromCrypto(
      .item,
      opener.openPadded(
        sealed, authenticating: AssociatedData.meta(vault: vault, facts: facts).span))
    do { opened = (facts, try RowDesk.check(opener, facts, format, &tags)) } catch {
      throw VaultError(error, about: .item)
    }
  }

  private static func check(
    _ opener: borrowing SealOpener, _ facts: RowFacts, _ format: VaultFormat,
    _ tags: inout TagHasher
  ) throws(FormatError) -> MetaFields {
    let meta = try MetaView(decoding: opener.plaintext, of: format)
    // Only who has the keys can have put another item's name there.
    let tag = facts.kind == .purged ? tags.tag(ofPurged: facts.id) : tags.tag(of: meta.name)
    guard tag == facts.tag, meta.fits(facts.kind, revision: facts.revision) else {
      throw .damaged
    }
    return meta.fields
  }
}
