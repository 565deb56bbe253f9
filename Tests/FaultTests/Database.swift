// SPDX-License-Identifier: MIT

import CSQLite

/// A vault file as somebody without a key has it: rows and SQL.
final class Database {
  enum Cell: Hashable {
    case integer(Int64)
    case blob([UInt8])
    case other
  }

  struct Failure: Error {
    let status: Int32
    let message: String
  }

  private var handle: OpaquePointer?

  init(_ path: String) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &handle, flags, nil)
    guard status == SQLITE_OK else { throw failure(status) }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Has its end not move the journal into the file.
  func leaveJournal() { kura_sqlite_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  private func failure(_ status: Int32) -> Failure {
    Failure(status: status, message: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs a script; `script` need not end in a NUL.
  func run(_ script: [UInt8]) throws {
    let status = (script + [0]).withUnsafeBytes {
      sqlite3_exec(handle, $0.assumingMemoryBound(to: CChar.self).baseAddress, nil, nil, nil)
    }
    guard status == SQLITE_OK else { throw failure(status) }
  }

  func run(_ script: String) throws { try run(Array(script.utf8)) }

  /// Runs one statement with arguments and gives its rows.
  @discardableResult
  func rows(_ sql: String, _ arguments: [Cell] = []) throws -> [[Cell]] {
    var statement: OpaquePointer?
    let status = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard status == SQLITE_OK else { throw failure(status) }
    defer { sqlite3_finalize(statement) }
    for (index, argument) in arguments.enumerated() { bind(argument, statement, Int32(index + 1)) }
    var rows: [[Cell]] = []
    while true {
      let step = sqlite3_step(statement)
      guard step == SQLITE_ROW else {
        guard step == SQLITE_DONE else { throw failure(step) }
        return rows
      }
      rows.append((0..<sqlite3_column_count(statement)).map { Self.cell(statement, $0) })
    }
  }

  private func bind(_ cell: Cell, _ statement: OpaquePointer?, _ index: Int32) {
    switch cell {
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .blob(let bytes):
      // No bytes would bind NULL.
      guard !bytes.isEmpty else {
        sqlite3_bind_zeroblob(statement, index, 0)
        return
      }
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
    case .other: sqlite3_bind_null(statement, index)
    }
  }

  private static func cell(_ statement: OpaquePointer?, _ column: Int32) -> Cell {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(statement, column))
      let start = sqlite3_column_blob(statement, column)
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: return .other
    }
  }
}

/// The tables of a vault and how their columns fall: so many of them are the key.
struct Table: Hashable {
  let name: String
  let columns: [String]
  let keyCount: Int

  static let all = [
    Table(name: "part", columns: ["id", "data"], keyCount: 1),
    Table(name: "slot", columns: ["number", "header", "key", "protected"], keyCount: 1),
    Table(
      name: "item",
      columns: [
        "tag", "id", "revision", "generation", "class", "kind", "history", "meta", "body",
      ], keyCount: 1),
    Table(
      name: "history",
      columns: ["item", "revision", "tag", "generation", "class", "kind", "meta", "body"],
      keyCount: 2),
    Table(name: "chunk", columns: ["value", "number", "data"], keyCount: 2),
    Table(name: "loose", columns: ["value"], keyCount: 1),
    Table(name: "bucket", columns: ["number", "leaves"], keyCount: 1),
    Table(name: "node", columns: ["id", "digests"], keyCount: 1),
  ]
}

/// Every row of a vault file, by table and primary key.
struct Rows: Equatable {
  typealias Key = [Database.Cell]
  var tables: [Table: [Key: [Database.Cell]]] = [:]

  init(of database: Database) throws {
    for table in Table.all {
      var rows: [Key: [Database.Cell]] = [:]
      for row in try database.rows("SELECT * FROM \(table.name)") {
        rows[Array(row.prefix(table.keyCount))] = row
      }
      tables[table] = rows
    }
  }

  /// Makes the file's rows these; untouched ones are left alone.
  func store(in database: Database, over old: Rows) throws {
    try database.run("BEGIN")
    for table in Table.all {
      let (mine, theirs) = (tables[table]!, old.tables[table]!)
      guard mine != theirs else { continue }
      let condition = table.columns.prefix(table.keyCount).map { "\($0) = ?" }
      for key in theirs.keys where mine[key] == nil {
        try database.rows(
          "DELETE FROM \(table.name) WHERE \(condition.joined(separator: " AND "))", key)
      }
      let places = Array(repeating: "?", count: table.columns.count).joined(separator: ", ")
      for (key, row) in mine where theirs[key] != row {
        try database.rows("INSERT OR REPLACE INTO \(table.name) VALUES (\(places))", row)
      }
    }
    try database.run("COMMIT")
  }
}
