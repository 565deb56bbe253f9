// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds what a verification learns of a row by opening all of it.
struct CheckedRow: ~Copyable {
  let facts: RowFacts
  /// The leaf that the row comes to.
  let leaf: Digest
  /// The list of its history; nil when it cannot be read.
  let history: HistoryList?
  /// The item's name, or its tag where the meta does not open.
  let place: SecretBytes
  /// Whether meta and body open, and fit each other and the tag.
  let isSound: Bool
  /// Its value, when it is a large one.
  let value: PieceCheck?
}

extension Storage {
  /// The next row of the scan of all items, opened; nil at its end.
  mutating func nextChecked(_ keys: borrowing Keyring) throws(VaultError) -> CheckedRow? {
    guard let row = try nextRow() else { return nil }
    return try keys.check(row)
  }

  /// A row of the history, opened; nil when there is none.
  mutating func keptChecked(
    _ item: ItemID, _ revision: UInt64, _ keys: borrowing Keyring
  ) throws(VaultError) -> CheckedRow? {
    guard let row = try kept(revision, of: item) else { return nil }
    return try keys.check(row, isKept: true)
  }

  /// What the next row of the scan of all items says of its history; nil at its end.
  mutating func nextHistoryKeys() throws(VaultError) -> [KeyPair]? {
    guard let row = try nextRow() else { return nil }
    let id = [UInt8](copying: row.id)
    let list = (try? HistoryList(decoding: row.history)) ?? HistoryList()
    return list.entries.map { KeyPair(id: id, number: Int64(clamping: $0.revision)) }
  }
}

extension Keyring {
  /// Opens all of a row.
  ///
  /// - Parameter isKept: Whether it is one of the history.
  /// - Throws: ``VaultError/damaged(_:)`` when the row's numbers mean nothing, and what is no damage.
  borrowing func check(
    _ row: ItemRow, isKept: Bool = false
  ) throws(VaultError) -> CheckedRow {
    let facts = try RowFacts(row)
    let leaf = try leaf(of: row, facts, isKept: isKept)
    let history = try? HistoryList.checked(row.history, below: facts.revision)
    do throws(VaultError) {
      let meta = try openMeta(row.meta, facts)
      let (isSound, value) = try check(body: row.body, meta, facts)
      let isPlaced = facts.kind != .purged || history?.entries.isEmpty == true && !isKept
      return CheckedRow(
        facts: facts, leaf: leaf, history: history, place: try meta.copiedName(),
        isSound: isSound && isPlaced, value: value)
    } catch {
      guard error.isDamage else { throw error }
      let text = Array("tag \(facts.tag.hexadecimal)".utf8)
      return CheckedRow(
        facts: facts, leaf: leaf, history: history,
        place: try fromMemory(SecretBytes(copying: text.span)), isSound: false, value: nil)
    }
  }

  /// Opens a body and holds it against its meta.
  private borrowing func check(
    body sealed: Span<UInt8>, _ meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> (isSound: Bool, value: PieceCheck?) {
    do throws(VaultError) {
      return try check(opened: try openBody(sealed, facts), meta, facts)
    } catch {
      guard error.isDamage else { throw error }
      return (false, nil)
    }
  }

  /// Holds an opened body against its meta.
  borrowing func check(
    opened body: consuming SecretBytes, _ meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> (isSound: Bool, value: PieceCheck?) {
    do throws(VaultError) {
      if facts.kind == .purged {
        _ = try fromFormat(.item, PurgeRecord(decoding: body.bytes))
        return (true, nil)
      }
      let parts = try PartedBody.part(body, facts.protection, of: format)
      guard try parts.fits(meta) else { return (false, nil) }
      guard facts.protection == .standard else {
        return try check(protected: try ProtectedBody.read(parts.value, of: format), meta, facts)
      }
      switch try ItemBody.read(parts.value) {
      case .inline(let bytes):
        return (UInt64(bytes.count) == meta.size, nil)
      case .chunked(let manifest):
        let isSound = manifest.length == meta.size
        return (isSound, PieceCheck(manifest, of: try meta.copiedName()))
      }
    } catch {
      guard error.isDamage else { throw error }
      return (false, nil)
    }
  }

  /// Holds a protected body against its meta, as far as that goes without the secret half: what is
  /// inside has one length, and the tree vouches for its ciphertext.
  private borrowing func check(
    protected body: borrowing ProtectedBody, _ meta: borrowing ItemMeta, _ facts: RowFacts
  ) throws(VaultError) -> (isSound: Bool, value: PieceCheck?) {
    let isOfRevision = body.isSealed(upTo: facts.revision)
    guard let value = body.value else {
      // The meta's size may be any number.
      return (isOfRevision && UInt64(body.innerByteCount - 1) == meta.size, nil)
    }
    guard Manifest.lengths.contains(meta.size) else { return (false, nil) }
    let check = PieceCheck(value, length: meta.size, of: try meta.copiedName())
    return (isOfRevision, check)
  }
}

extension ItemMeta {
  /// A copy of the name, to say where something is.
  fileprivate borrowing func copiedName() throws(VaultError) -> SecretBytes {
    try fromMemory(SecretBytes(copying: name))
  }
}
