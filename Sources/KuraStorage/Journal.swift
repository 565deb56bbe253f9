// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Synchronization

/// How long the journal is, and who moves it into the file.
struct JournalState {
  /// Pages from which a commit is followed by a move, as SQLite itself has it: 4 MiB.
  static let short: Int32 = 1_000
  /// Pages from which another thread is given the move: 8 MiB.
  static let long: Int32 = 2_000
  /// Pages from which who can wait does, so that it begins anew: 48 MiB.
  static let longest: Int32 = 12_000
  /// What the file of the journal may keep for the next pages while the vault is in use, in bytes.
  static let longestFile = 67_108_864

  /// The pages that were in it at the last commit, and the most that there were.
  var pageCount: Int32 = 0
  var peak: Int32 = 0
  /// Whether another thread moves it, so that a commit need not.
  var isMovedElsewhere = false
}

/// The work of moving a vault's journal into its file, for another thread.
///
/// SQLite syncs the journal before and the file after: the longest waits of a large write. It takes a
/// connection of its own, and no key. Whoever writes goes on meanwhile.
package final class JournalMove: Sendable {
  private let path: String
  /// Held while it runs; whether it is not wanted any more.
  private let isCancelled = Mutex(false)
  private let begun = Atomic(false)
  private let done = Atomic(false)

  init(path: String) { self.path = path }

  /// Moves what is in the journal as it begins.
  package func run() {
    begun.store(true, ordering: .releasing)
    isCancelled.withLock { isCancelled in
      guard !isCancelled, let storage = try? Storage.open(at: path) else { return }
      // Where that fails, a later move or the end of the connection does it.
      try? storage.checkpoint()
    }
    done.store(true, ordering: .releasing)
  }

  /// Whether it runs just now.
  var isUnderWay: Bool { begun.load(ordering: .acquiring) && !isDone }

  var isDone: Bool { done.load(ordering: .acquiring) }

  /// Sees to it that it does not run any more; waits for its end when it does.
  func cancel() { isCancelled.withLock { $0 = true } }
}

extension Storage {
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
    guard unsafe journal.pointee.pageCount >= JournalState.long,
      let name = unsafe sqlite3_db_filename(db, nil)
    else { return nil }
    move = unsafe JournalMove(path: String(cString: name))
    // What comes to it from now on the next commit tells.
    unsafe journal.pointee.pageCount = 0
    return move
  }

  /// Whether a write that may wait should: the journal is as long as it may be, and is being moved.
  ///
  /// A move that was asked for and has not begun is made here and now.
  package mutating func isJournalFull() -> Bool {
    guard let move, unsafe journal.pointee.pageCount >= JournalState.longest else { return false }
    if move.isUnderWay { return true }
    move.cancel()
    try? checkpoint()
    unsafe journal.pointee.pageCount = 0
    return false
  }

  /// Has commits of this connection leave the journal to ``checkpoint()``.
  func leaveJournal() { unsafe journal.pointee.isMovedElsewhere = true }

  /// Whether the journal is one that a commit would have moved if that had not been left to others.
  package var isJournalDue: Bool { unsafe journal.pointee.pageCount >= JournalState.short }

  /// Whether the file of the journal has become long.
  package var hasLongJournal: Bool { unsafe journal.pointee.peak > JournalState.long }
}

/// What SQLite calls after a commit; its own does the same without anybody else to do it.
private let journalHook:
  @convention(c) (
    UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32
  ) -> Int32 = { context, db, _, count in
    guard let context = unsafe context else { return SQLITE_OK }
    let journal = unsafe context.assumingMemoryBound(to: JournalState.self)
    unsafe journal.pointee.pageCount = count
    unsafe journal.pointee.peak = max(journal.pointee.peak, count)
    let isElsewhere = unsafe journal.pointee.isMovedElsewhere
    if count >= (isElsewhere ? 2 * JournalState.longest : JournalState.short) {
      // What is in the way now may not be at the next commit.
      _ = unsafe sqlite3_wal_checkpoint_v2(db, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    return SQLITE_OK
  }
