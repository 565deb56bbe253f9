// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

// Most of what a merge takes are items of which nothing is here and the other copy has one row, as when a machine joins:
// such an item comes to what its row says, and there is nothing to bring together.

extension ItemCopy {
  /// The only row of an item that is all that its copy knows of it, and that is one revision; nil for any other item.
  var loneRow: OpenedRow? {
    guard trace == nil, rows.count == 1, let row = rows.first, row.isRevision,
      !row.trail.name.isEmpty
    else { return nil }
    return row
  }
}

extension OpenedRow {
  /// The tag of its name.
  func tag(by keys: borrowing Keyring) throws(VaultError) -> ItemTag { try keys.tag(of: meta) }

  /// Whether its body has the secret attributes that its meta names: whoever brings rows together looks for them.
  func hasItsSecrets() throws(VaultError) -> Bool {
    switch body.secrets {
    case .some: try body.fits(meta)
    case .none: trail.secrets.isEmpty
    }
  }

  /// The row that its item gets where it is new, and its chunks.
  fileprivate func sealedAlone(by keys: borrowing Keyring) throws(VaultError) -> LoneRow {
    let row = try sealed(lowestNumber(), by: keys)
    return LoneRow(row: row, leaf: try keys.leaf(of: row, []), pieces: try pieces())
  }
}

extension MergeClaim {
  /// What an item comes to that is new here and has one row.
  ///
  /// - Parameter wanted: The tag of its name.
  init(lone row: OpenedRow, at tag: ItemTag, wanted: ItemTag) {
    self.init(
      claim: PlacedNames.Claim(
        item: row.facts.id, state: row.hasBody ? .live : .deleted,
        protection: row.facts.protection, wanted: wanted),
      ours: nil, theirs: tag, isNews: true, hasConflicts: false, isLone: true,
      byteCount: row.byteCount)
  }
}

/// Holds the row of an item that is new here, sealed, with its leaf.
struct LoneRow {
  let row: ResealedRow
  let leaf: Digest
  /// How its chunks are told from damaged ones; nil where it has none.
  let pieces: PieceCheck?
}

/// Seals the rows of some items that are new here, on one thread.
///
/// Unchecked: that thread has it until all parts are done, and its maker before and after.
final class LonePart: @unchecked Sendable {
  /// How many rows a thread takes at once.
  static let count = 32

  private let rows: [OpenedRow]
  private(set) var sealed: [LoneRow] = []
  /// Why it came to no end.
  private(set) var failure: VaultError?

  init(_ rows: some Sequence<OpenedRow>) { self.rows = Array(rows) }

  /// Seals them, in their order.
  func seal(by keys: borrowing Keyring) {
    sealed.reserveCapacity(rows.count)
    do throws(VaultError) {
      for row in rows { sealed.append(try row.sealedAlone(by: keys)) }
    } catch { failure = error }
  }
}

extension MergeWork {
  /// How many items that are new here are sealed at once.
  private static let loneCount = 8 * LonePart.count
  /// How many bytes they may have before no more are added: all of them are held opened and sealed.
  private static let loneByteCount = 1 << 20

  /// The rows of the items that come next, as far as they are new here and their places are free.
  mutating func takeLoneRows() throws(VaultError) -> [OpenedRow] {
    var (rows, byteCount): ([OpenedRow], Int) = ([], 0)
    while next < plan.items.count, rows.count < Self.loneCount, byteCount < Self.loneByteCount {
      let item = plan.items[next]
      guard item.isLone, let tag = item.place?.tag, !occupied.contains(tag),
        let theirs = item.theirs
      else { break }
      guard let row = try engine.loneRow(theirs, survey.difference, &copy) else {
        throw .copyDamaged
      }
      rows.append(row)
      byteCount += row.byteCount
      next += 1
    }
    return rows
  }

  /// Seals rows on both cores, and writes those that were sealed before them meanwhile.
  mutating func seal(_ rows: [OpenedRow], _ slice: inout Slice) throws(VaultError) {
    let parts = stride(from: 0, to: rows.count, by: LonePart.count).map { start in
      LonePart(rows[start..<min(start + LonePart.count, rows.count)])
    }
    try makeRoom()
    let ready = self.sealed
    sealed = []
    try MergeWork.run(parts, with: engine.keys, writing: ready, to: &engine.rows, &draft)
    for row in ready {
      if let pieces = row.pieces, after[pieces.value] == nil { after[pieces.value] = pieces }
    }
    for part in parts {
      if let failure = part.failure { throw failure }
      for row in part.sealed { slice.countLone(row.row.byteCount) }
      sealed += part.sealed
    }
  }

  private static func run(
    _ parts: [LonePart], with keys: borrowing Keyring, writing ready: [LoneRow],
    to rows: inout VaultRows, _ draft: inout Draft
  ) throws(VaultError) {
    var failure: VaultError?
    ForkJoin.run(parts, with: keys) { part, keys in
      part.seal(by: keys)
    } meanwhile: { keys in
      do throws(VaultError) {
        for row in ready { try rows.write(row, &draft, keys) }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

extension VaultRows {
  /// Writes the row of an item that is new here, and its leaf.
  fileprivate mutating func write(
    _ lone: LoneRow, _ draft: inout Draft, _ keys: borrowing Keyring
  ) throws(VaultError) {
    let facts = lone.row.facts
    try draft.count((1, facts.kind == .deleted ? 1 : 0), insteadOf: (0, 0))
    var path = try tree.path(to: facts.tag, under: draft.root, in: &storage, keys)
    try storage.store(lone.row, [])
    path.leaves.setLeaf(lone.leaf, of: facts.tag)
    draft.root.treeRoot = try tree.store(path, in: &storage, keys)
    tree.keepStaged()
  }
}
