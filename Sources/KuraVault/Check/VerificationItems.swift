// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Checks a large value piece by piece.
final class PieceCheck {
  let value: ValueID
  let length: UInt64
  /// nil for a protected value, of whose pieces only presence and length can be looked at.
  let manifest: Manifest?
  /// Which item it belongs to.
  let place: SecretBytes
  var next: UInt64 = 0

  var count: UInt64 { Manifest.chunkCount(of: length) }

  init(_ manifest: consuming Manifest, of place: consuming SecretBytes) {
    value = manifest.value
    length = manifest.length
    self.manifest = consume manifest
    self.place = place
  }

  init(_ value: ValueID, length: UInt64, of place: consuming SecretBytes) {
    self.value = value
    self.length = length
    manifest = nil
    self.place = place
  }

  /// Whether a piece is what it should be, as far as that can be told.
  func isSound(_ sealed: Span<UInt8>, _ number: UInt64) throws(VaultError) -> Bool {
    switch manifest {
    case .some(let manifest): try manifest.verify(chunk: sealed, number)
    case .none:
      let count = Manifest.byteCount(ofChunk: number, of: length)
      return sealed.count == count + Seal.overhead
    }
    return true
  }

  func report(to findings: inout FindingQueue) throws(VaultError) {
    try findings.add(.chunk, place)
  }
}

extension Verification {
  /// Takes one row, one entry, one bucket or some chunks.
  mutating func stepItems(_ keys: borrowing Keyring) throws(VaultError) {
    if let check = pieces.last { return try continueCheck(check) }
    if pendingRow == nil, !isAtLastRow { try loadRow(keys) }
    if walk.isAtEnd { return try finishItems() }
    if walk.bucket == nil { try walk.load(root: root, from: &storage, keys, &findings) }
    budget -= 1
    let tag = pendingTag
    let isInBucket = tag.map { Tree.bucket(of: $0, depth: root.depth) == walk.number } ?? false
    switch (isInBucket ? tag : nil, walk.leaf) {
    case (nil, nil): walk.advance()
    case (let tag?, let leaf?) where tag == leaf.tag:
      walk.entry += 1
      try compare(with: leaf.digest, keys)
    case (let tag, let leaf?) where tag.map { $0 > leaf.tag } ?? true:
      walk.entry += 1
      try findings.add(.missingItem, "tag \(leaf.tag.hexadecimal)")
    default: try reportExtraRow()
    }
  }

  private var pendingTag: ItemTag? {
    switch pendingRow {
    case .some(let row): row.facts.tag
    case .none: nil
    }
  }

  private mutating func loadRow(_ keys: borrowing Keyring) throws(VaultError) {
    do throws(VaultError) {
      pendingRow = try storage.nextChecked(keys)
      isAtLastRow = pendingRow == nil
    } catch {
      guard error.isDamageOfRow else { throw error }
      try findings.add(.row, "a row in the table of items")
    }
  }

  /// A row whose tag has no leaf: a planted one, or one whose bucket is damaged.
  private mutating func reportExtraRow() throws(VaultError) {
    guard let row = pendingRow.take() else { return }
    let kind: FindingKind = walk.bucket == .broken ? .unprovenItem : .extraItem
    if kind == .unprovenItem { itemCount += 1 }
    try findings.add(kind, row.place.bytes)
  }

  /// A row whose tag has a leaf.
  private mutating func compare(with leaf: Digest, _ keys: borrowing Keyring) throws(VaultError) {
    guard let row = pendingRow.take() else { return }
    itemCount += 1
    if row.facts.kind == .deleted || row.facts.kind == .purged { deletedCount += 1 }
    if row.leaf != leaf || !row.isSound { try findings.add(.item, row.place.bytes) }
    switch row.history {
    case .some(let history):
      for entry in history.entries { try checkKept(entry, of: row.facts, row.place.bytes, keys) }
    case .none: try findings.add(.history, row.place.bytes)
    }
    begin(row.value)
  }

  /// Looks at a kept revision.
  private mutating func checkKept(
    _ entry: HistoryList.Entry, of item: RowFacts, _ place: Span<UInt8>, _ keys: borrowing Keyring
  ) throws(VaultError) {
    budget -= 1
    do throws(VaultError) {
      guard let row = try storage.keptChecked(item.id, entry.revision, keys) else {
        return try findings.add(.history, place)
      }
      historyCount += 1
      let isTrue =
        row.leaf == entry.leaf && row.isSound && row.facts.protection == item.protection
      guard isTrue else { return try findings.add(.history, place) }
      begin(row.value)
    } catch {
      guard error.isDamageOfRow else { throw error }
      historyCount += 1
      try findings.add(.history, place)
    }
  }

  private mutating func finishItems() throws(VaultError) {
    if itemCount != root.itemCount || deletedCount != root.deletedCount {
      try findings.add(.count, "\(itemCount) items instead of \(root.itemCount)")
    }
    finishPhase()
  }
}

// MARK: - Large values

extension Verification {
  /// Puts a value on the list of those whose pieces are to be looked at, unless another revision has the
  /// same.
  private mutating func begin(_ value: PieceCheck?) {
    guard let value, values[value.value] == nil else { return }
    values[value.value] = value.count
    chunksTotal += value.count
    pieces.append(value)
  }

  /// Opens some pieces of a value.
  private mutating func continueCheck(_ check: PieceCheck) throws(VaultError) {
    while budget > 0, check.next < check.count {
      budget -= 8
      chunksDone += 1
      let isSound = try isSound(check.next, of: check)
      check.next += 1
      if !isSound {
        // One piece is enough to say that the value is lost.
        try check.report(to: &findings)
        chunksDone += check.count - check.next
        check.next = check.count
      }
    }
    if check.next == check.count { pieces.removeLast() }
  }

  private mutating func isSound(_ number: UInt64, of check: PieceCheck) throws(VaultError) -> Bool {
    do throws(VaultError) {
      guard let sealed = try storage.chunk(number, of: check.value) else { return false }
      return try check.isSound(sealed, number)
    } catch {
      guard error.isDamageOfRow else { throw error }
      return false
    }
  }
}
