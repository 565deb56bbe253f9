// SPDX-License-Identifier: MIT

import CSQLite

/// Another program that holds the write lock of a vault.
final class VaultWriter {
  private var database: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open(path, &database) == SQLITE_OK,
      sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
    else { throw TestFailure("the write lock was not had") }
  }

  deinit { sqlite3_close(database) }
}

/// Another program that reads a vault, and keeps the state that it began with.
final class VaultReader {
  private var database: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open(path, &database) == SQLITE_OK,
      sqlite3_exec(database, "BEGIN; SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        == SQLITE_OK
    else { throw TestFailure("the vault was not read") }
  }

  func end() {
    sqlite3_close(database)
    database = nil
  }

  deinit { sqlite3_close(database) }
}
