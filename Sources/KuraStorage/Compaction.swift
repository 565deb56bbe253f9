// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Synchronization

/// Gives the disk back what a vault file no longer needs; the work is for another thread.
///
/// SQLite's `VACUUM` copies all rows as they are into a temporary file, and from there over the file, as one
/// transaction in the WAL: until its commit the file is whole as it was, and after that whole and short. It
/// takes a connection of its own, and no key. Others read meanwhile; what they write finds the file busy.
package final class Compaction: Sendable {
  /// How many steps of SQLite's lie between two looks at ``stop()``: a millisecond's or so.
  fileprivate static let steps: Int32 = 100
  /// How long another connection that writes, or reads an older state, is waited for, in milliseconds.
  fileprivate static let patience: Int32 = 1_000

  private let path: String
  private let pageCount = Atomic(0)
  private let readCount = Atomic(0)
  private let pageSize = Atomic(1)
  private let isStopped = Atomic(false)

  /// Work on the vault file at this path.
  package init(at path: String) { self.path = path }

  /// Undoes what is not committed, soon.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// What it has done, and all that there is to do, in pages; each of them is read and written again.
  package var progress: (done: UInt64, total: UInt64) {
    let count = pageCount.load(ordering: .relaxed)
    let written = Machine.size(of: path + "-wal") / UInt64(pageSize.load(ordering: .relaxed))
    let done = UInt64(min(readCount.load(ordering: .relaxed), count)) + min(written, UInt64(count))
    return (done, 2 * UInt64(count))
  }

  /// Does it.
  ///
  /// - Returns: How long file and WAL were, and are now, in bytes; nil where another connection reads an
  ///   older state, so that the file becomes shorter when the WAL is moved the next time.
  /// - Throws: ``StorageError/busy`` when another connection writes, and after ``stop()``;
  ///   ``StorageError/diskFull`` and others of the file. Nothing is changed then.
  package func run() throws(StorageError) -> (before: UInt64, after: UInt64)? {
    var storage = try Storage.open(at: path)
    let before = byteCount
    let space = try storage.space()
    guard space.free > 0 else { return (before, before) }
    pageCount.store((space.all - space.free) / space.pageSize, ordering: .relaxed)
    pageSize.store(space.pageSize, ordering: .relaxed)
    do throws(StorageError) { try storage.compact(at: path, for: self) } catch {
      // What was written of it to the WAL takes room that somebody else needs, perhaps.
      try? storage.truncateWAL()
      throw isStopped.load(ordering: .relaxed) ? .busy : error
    }
    do throws(StorageError) { try storage.truncateWAL() } catch {
      guard error == .busy else { throw error }
      return nil
    }
    return (before, byteCount)
  }

  private var byteCount: UInt64 { Machine.size(of: path) + Machine.size(of: path + "-wal") }

  /// Notes how many pages were read.
  ///
  /// - Returns: Whether to go on.
  fileprivate func note(_ db: OpaquePointer) -> Bool {
    var (now, most): (Int32, Int32) = (0, 0)
    if unsafe sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 0) == SQLITE_OK {
      readCount.store(Int(now), ordering: .relaxed)
    }
    return !isStopped.load(ordering: .relaxed)
  }
}

extension Storage {
  /// Lays the file out anew, without what is free in it.
  fileprivate func compact(at path: String, for work: Compaction) throws(StorageError) {
    // All in memory would be as much as the vault has.
    try execute("PRAGMA temp_store=FILE")
    // The temporary file is attached.
    unsafe sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1)
    unsafe sqlite3_busy_timeout(db, Compaction.patience)
    let watch = UnsafeMutablePointer<Watch>.allocate(capacity: 1)
    unsafe watch.initialize(to: Watch(work: work, db: db))
    defer {
      unsafe sqlite3_progress_handler(db, 0, nil, nil)
      unsafe watch.deinitialize(count: 1)
      unsafe watch.deallocate()
    }
    unsafe sqlite3_progress_handler(db, Compaction.steps, look, watch)
    let name = TemporaryFile(path + "-compact")
    defer { name.end() }
    try execute("VACUUM")
  }
}

/// Carries what the look at ``Compaction/stop()`` needs.
@unsafe private struct Watch {
  let work: Compaction
  let db: OpaquePointer
}

/// What SQLite calls between steps; other than 0 has it stop.
private let look: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
  guard let watch = unsafe context?.assumingMemoryBound(to: Watch.self) else { return 1 }
  return unsafe watch.pointee.work.note(watch.pointee.db) ? 0 : 1
}
