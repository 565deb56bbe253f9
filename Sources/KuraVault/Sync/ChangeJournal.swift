// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Reads the journal of a vault, row by row, and holds it against what the root says of it.
struct JournalScan {
  private var row: Int64 = 1
  private var count: UInt64 = 0
  private var head = Digest.zero
  private var last: UInt64 = 0

  /// The records of the next row; nil behind the last, once they are those that the root vouches for.
  ///
  /// - Throws: ``VaultError/damaged(_:)``.
  mutating func next(
    in storage: inout Storage, _ root: RootRecord, _ keys: borrowing Keyring
  ) throws(VaultError) -> [JournalRecord]? {
    guard storage.isNewest else { return nil }
    // One below the first is one too many.
    let first = row == 1 ? Int64.min : row
    guard let found = try fromStorage(storage.journalRow(from: first)) else {
      guard count == root.copy?.journalCount, head == root.copy?.journalHead else {
        throw .damaged(.header)
      }
      return nil
    }
    // Only the last row is not full.
    guard found.number == row, count.isMultiple(of: UInt64(JournalRecord.mostInRow)) else {
      throw .damaged(.header)
    }
    let records = try keys.open(journal: found.data, row: row)
    guard records[0].counter > last else { throw .damaged(.header) }
    head = try keys.journalHead(behind: head, records)
    (row, count) = (row + 1, count + UInt64(records.count))
    last = records[records.count - 1].counter
    return records
  }

  /// All records from here on.
  mutating func rest(
    in storage: inout Storage, _ root: RootRecord, _ keys: borrowing Keyring
  ) throws(VaultError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    while let more = try next(in: &storage, root, keys) { records += more }
    return records
  }
}

extension Keyring {
  /// Opens a row of the journal: at least one record.
  borrowing func open(journal sealed: [UInt8], row: Int64) throws(VaultError) -> [JournalRecord] {
    let place = AssociatedData.journal(vault: vault, row: UInt64(row))
    let plain = try place.openPadded(sealed.span, under: sync, .header)
    return try fromFormat(.header, JournalRecord.decode(plain.bytes))
  }

  /// What records come to behind others.
  borrowing func journalHead(
    behind head: Digest, _ records: [JournalRecord]
  ) throws(VaultError) -> Digest {
    let chain = JournalHead(key: try root.copied())
    var head = head
    for record in records { head = try fromFormat(.header, chain.appending(record, to: head)) }
    return head
  }

  /// Writes records behind those of a copy's journal, and counts them there.
  borrowing func append(
    _ records: [JournalRecord], to copy: inout CopyState, in storage: inout Storage
  ) throws(VaultError) {
    guard !records.isEmpty else { return }
    let most = JournalRecord.mostInRow
    let (full, rest) = copy.journalCount.quotientAndRemainder(dividingBy: UInt64(most))
    var row = Int64(full) + 1
    var open: [JournalRecord] = []
    if rest > 0 {
      guard let found = try fromStorage(storage.journalRow(from: row)), found.number == row else {
        throw .damaged(.header)
      }
      open = try self.open(journal: found.data, row: row)
      guard open.count == Int(rest) else { throw .damaged(.header) }
    }
    let all = open + records
    for start in stride(from: 0, to: all.count, by: most) {
      var plain: [UInt8] = []
      for record in all[start..<min(start + most, all.count)] { plain += record.encoded }
      let place = AssociatedData.journal(vault: vault, row: UInt64(row))
      let sealed = try place.sealPadded(plain.span, under: sync, .header)
      try fromStorage(storage.storeJournal(row: row, sealed.span))
      row += 1
    }
    copy.journalHead = try journalHead(behind: copy.journalHead, records)
    copy.journalCount += UInt64(records.count)
  }
}

extension UnlockedVault {
  /// Notes the changes of a draft in the journal, within its transaction.
  mutating func journalChanges(_ draft: inout Draft) throws(VaultError) {
    guard !draft.changes.isEmpty, var copy = draft.root.copy else { return }
    // A batch names changes ahead that it makes after others.
    draft.changes.sort { $0.counter < $1.counter }
    try keys.append(draft.changes, to: &copy, in: &rows.storage)
    draft.root.copy = copy
  }

  /// The changes that this copy made since it is shared, ascending by their counters.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` for another journal than the root vouches for.
  mutating func journal() throws(VaultError) -> [JournalRecord] {
    try reading { vault throws(VaultError) in
      var scan = JournalScan()
      return try scan.rest(in: &vault.rows.storage, vault.trust.root, vault.keys)
    }
  }

  /// The changes of this copy behind one, as far as they are in the journal.
  mutating func journalRecords(after counter: UInt64) throws(VaultError) -> [JournalRecord] {
    try journal().filter { $0.counter > counter }
  }
}

extension RekeyKeys {
  /// Seals the journal anew; that of another copy, which this one was before, goes.
  func resealJournal(
    of root: inout RootRecord, before: RootRecord, in storage: inout Storage
  ) throws(VaultError) {
    guard var copy = root.copy else { return }
    var scan = JournalScan()
    let records = copy.journalCount > 0 ? try scan.rest(in: &storage, before, old) : []
    try fromStorage(storage.deleteJournal(from: 1))
    (copy.journalHead, copy.journalCount) = (.zero, 0)
    try next.append(records, to: &copy, in: &storage)
    root.copy = copy
  }
}
