// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Walks through all items, and crosses out the orphans that some item names after all.
///
/// The list of orphans is not authenticated: somebody without a key can write a living value's id
/// there, and must not have its chunks deleted by it.
struct OrphanSearch {
  /// How many items are looked at in one slice, or a bucket more.
  fileprivate static let itemLimit = 200
  /// How many orphans are looked for at a time; a hostile list may be of any length.
  fileprivate static let candidateLimit = 10_000
  /// How many buckets are looked at in one slice.
  fileprivate static let bucketLimit = 512

  /// Values that no item named so far.
  fileprivate(set) var candidates: Set<ValueID>
  /// The first tag that was not come to; nil at the end.
  fileprivate var cursor: ItemTag? = .zero

  fileprivate init(_ candidates: Set<ValueID>) { self.candidates = candidates }
}

extension UnlockedVault {
  /// Lists the orphans that no upload is still to claim: while nobody shares the upload lock, no
  /// upload is under way in any engine of this machine.
  mutating func beginOrphanSearch() throws(VaultError) {
    sweeper.mustSearch = false
    do throws(StorageError) {
      guard let lock = try uploadLock(.exclusive) else { return }
      let found = try orphans()
      if !found.isEmpty { sweeper.search = OrphanSearch(found) }
      _ = consume lock
    } catch {
      // Where somebody uploads, the next unlock searches again.
      guard error == .busy else { throw VaultError(error) }
    }
  }

  private mutating func orphans() throws(StorageError) -> Set<ValueID> {
    try rows.storage.beginRead()
    defer { rows.storage.end() }
    var found: Set<ValueID> = []
    var last: [UInt8] = []
    while found.count < OrphanSearch.candidateLimit,
      let next = try rows.storage.orphan(after: last)
    {
      found.insert(ValueID(next.span))
      last = next
    }
    return found
  }

  /// Crosses out what the next items name.
  mutating func continueOrphanSearch() throws(VaultError) {
    guard var search = sweeper.search else { return }
    // Whatever comes of an error, nothing is deleted on half the evidence.
    sweeper.search = nil
    try reading { vault throws(VaultError) in try vault.crossOut(&search) }
    sweeper.search = search
    if search.cursor == nil || search.candidates.isEmpty { sweeper.finishSearch() }
  }

  private mutating func crossOut(_ search: inout OrphanSearch) throws(VaultError) {
    guard let cursor = search.cursor else { return }
    let depth = trust.root.depth
    let first = Tree.bucket(of: cursor, depth: depth)
    var itemCount = 0
    for number in first..<(1 << (6 * UInt32(depth))) {
      if itemCount >= OrphanSearch.itemLimit || Int(number - first) >= OrphanSearch.bucketLimit {
        search.cursor = Tree.firstTag(ofBucket: number, depth: depth)
        return
      }
      let bytes = try rows.tree.leaves(
        ofBucket: number, under: trust.root, in: &rows.storage, keys)
      let leaves = BucketLeaves(bytes.span)
      for index in 0..<leaves.count where leaves.tag(index) >= cursor {
        itemCount += 1
        try search.candidates.subtract(namedValues(leaves.tag(index)))
      }
    }
    search.cursor = nil
  }
}
