// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Glibc

extension Storage {
  /// Bytes of pages in the WAL from which a commit moves them into the file. Everybody else waits meanwhile,
  /// some 30 ms on the disk that this was measured on; with half of it a long value takes a fifth longer.
  private static let checkpointBytes = 8_192_000
  /// The same for a batch, which is mostly no longer: it does not wait for a second sync then.
  private static let batchCheckpointBytes = 16_384_000
  /// What the file of the WAL may keep for the next pages while the vault is in use, in bytes.
  static let longestWAL = 16_777_216

  /// Whether a WAL with something in it stands beside a file.
  package static func hasWAL(at path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path + "-wal", &facts) == 0 && facts.st_size > 0
  }

  /// Has SQLite keep the WAL short at commits.
  mutating func watchWAL(isOfBatch: Bool = false) throws(StorageError) {
    let bytes = isOfBatch ? Self.batchCheckpointBytes : Self.checkpointBytes
    _ = unsafe sqlite3_wal_autocheckpoint(db, Int32(bytes / (try pageSize)))
  }

  /// Moves the WAL into the file and leaves none, so that no older page is left behind.
  ///
  /// - Throws: ``StorageError/busy`` when another connection still reads an older state, writes, or moves
  ///   the WAL.
  package mutating func truncateWAL() throws(StorageError) {
    precondition(!isInTransaction, "a checkpoint stands outside of transactions")
    let code = unsafe sqlite3_wal_checkpoint_v2(db, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
    // What the file no longer holds in the unused part of a page may not come back from a page in memory.
    unsafe sqlite3_db_release_memory(db)
  }
}
