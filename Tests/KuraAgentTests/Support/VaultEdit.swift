// SPDX-License-Identifier: MIT

import CSQLite

/// Changes a vault's file as whoever has no key can.
enum VaultEdit {
  static func run(_ sql: String, at path: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    guard sqlite3_open(path, &database) == SQLITE_OK,
      sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
    else { throw TestFailure("the vault was not changed") }
  }
}
