// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Glibc
internal import Synchronization

/// How long the journal is, and who moves it into the file.
struct JournalState {
  /// Bytes of pages from which a commit is followed by a move, as SQLite itself has it.
  static let short = 4_096_000
  /// Bytes from which another thread is given the move.
  static let long = 8_192_000
  /// Bytes from which who can wait does, so that it begins anew.
  static let longest = 49_152_000
  /// What the file of the journal may keep for the next pages while the vault is in use, in bytes.
  static let longestFile = 67_108_864

  /// The bytes of a page of the file.
  var pageSize = 4_096
  /// The bytes of the pages that were in it at the last commit, and the most that there were.
  var byteCount = 0
  var peak = 0
  /// Whether there was a commit since the last move was asked for.
  var isChanged = false
  /// Whether another thread moves it, so that a commit need not.
  var isMovedElsewhere = false
}

/// The work of moving a vault's journal into its file, for another thread.
///
/// SQLite syncs the journal before and the file after: the longest waits of a large write. It takes a
/// connection of its own, and no key. Whoever reads or writes goes on meanwhile; only
/// ``Storage/truncateJournal()`` finds the file busy.
package final class JournalMove: Sendable {
  private let path: String
  private let done = Atomic(false)

  init(path: String) { self.path = path }

  /// Moves what is in the journal as it begins. Where that fails, a later move does it, or the end of the
  /// last connection.
  package func run() {
    if let storage = try? Storage.open(at: path) { try? storage.checkpoint() }
    done.store(true, ordering: .releasing)
  }

  fileprivate var isDone: Bool { done.load(ordering: .acquiring) }
}

extension Storage {
  /// Whether a journal with something in it stands beside a file.
  package static func hasWAL(at path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path + "-wal", &facts) == 0 && facts.st_size > 0
  }

  /// Counts the journal's pages from now on, and keeps it short.
  func watchJournal() {
    _ = unsafe sqlite3_wal_hook(db, journalHook, journal)
  }

  /// The move that the journal is long enough for; who asks for it runs it, and commits leave it to
  /// that from then on.
  package mutating func takeJournalMove() -> JournalMove? {
    unsafe journal.pointee.isMovedElsewhere = true
    if let move {
      guard move.isDone else { return nil }
      self.move = nil
    }
    guard unsafe journal.pointee.isChanged, unsafe journal.pointee.byteCount >= JournalState.long,
      let name = unsafe sqlite3_db_filename(db, nil)
    else { return nil }
    move = unsafe JournalMove(path: String(cString: name))
    unsafe journal.pointee.isChanged = false
    return move
  }

  /// Whether whoever can wait should: the journal is as long as it may be, and its move is not done.
  package var isJournalFull: Bool {
    guard let move, !move.isDone else { return false }
    return unsafe journal.pointee.byteCount >= JournalState.longest
  }

  /// Takes over what another connection to the same file committed last.
  package borrowing func noteJournal(of other: borrowing Storage) {
    unsafe journal.pointee.byteCount = other.journal.pointee.byteCount
    unsafe journal.pointee.isChanged = true
  }

  /// Has commits of this connection leave the journal to ``checkpoint()``.
  func leaveJournal() { unsafe journal.pointee.isMovedElsewhere = true }

  /// Whether the file of the journal has become long, and what could be moved of it was.
  package var hasLongJournal: Bool {
    guard move?.isDone != false else { return false }
    return unsafe journal.pointee.peak > JournalState.long
      && (journal.pointee.byteCount < JournalState.long || !journal.pointee.isChanged)
  }
}

/// What SQLite calls after a commit; its own does the same without anybody else to do it.
private let journalHook:
  @convention(c) (
    UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32
  ) -> Int32 = { context, db, _, count in
    guard let context = unsafe context else { return SQLITE_OK }
    let journal = unsafe context.assumingMemoryBound(to: JournalState.self)
    let bytes = unsafe Int(count) * journal.pointee.pageSize
    unsafe journal.pointee.byteCount = bytes
    unsafe journal.pointee.isChanged = true
    unsafe journal.pointee.peak = max(journal.pointee.peak, bytes)
    let isElsewhere = unsafe journal.pointee.isMovedElsewhere
    if bytes >= (isElsewhere ? 2 * JournalState.longest : JournalState.short) {
      // What is in the way now may not be at the next commit; where another thread moves it, it is as long
      // as that only while those moves fail, or others never stop to read and write.
      let code = unsafe sqlite3_wal_checkpoint_v2(db, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      if code == SQLITE_OK { unsafe journal.pointee.isChanged = false }
    }
    return SQLITE_OK
  }
