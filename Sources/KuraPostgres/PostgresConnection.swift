// SPDX-License-Identifier: MIT

internal import CPostgres
internal import Glibc
internal import KuraStore

/// Holds a connection to a database by libpq, with its rules for addresses, TLS, variables and files of passwords.
@safe final class PostgresConnection {
  /// Holds the rows of an answer; the first two columns at most.
  struct Rows {
    var rows: [[[UInt8]]]
    /// How many rows were written or deleted.
    var changed: Int
  }

  /// In seconds, unless the address says otherwise.
  private static let patience = "15"
  /// In ms: how long a server may leave what was sent to it unanswered before it counts as gone.
  private static let silence = "30000"
  /// In seconds: after that long without a word it is looked whether the server is there.
  private static let idle = "60"
  /// How long the server tries for a lock and for a statement, and leaves a transaction open that nobody goes on with.
  private static let limits = """
    SELECT set_config('lock_timeout', '60s', false), set_config('statement_timeout', '300s', false), \
    set_config('idle_in_transaction_session_timeout', '600s', false)
    """

  private let connection: OpaquePointer
  /// The address as people write it.
  private let place: String

  /// Connects.
  init(to address: String) throws(StoreError) {
    // What stands before the address is what it may say otherwise.
    let words = [
      ("connect_timeout", Self.patience), ("tcp_user_timeout", Self.silence),
      ("keepalives_idle", Self.idle),
      ("dbname", address), ("fallback_application_name", "kura-sync"),
    ]
    place = address
    var names: [UnsafePointer<CChar>?] = unsafe []
    var values: [UnsafePointer<CChar>?] = unsafe []
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe []
    defer { unsafe copies.forEach { unsafe free($0) } }
    for (name, value) in words {
      let (name, value) = unsafe (strdup(name), strdup(value))
      unsafe copies += [name, value]
      unsafe names.append(UnsafePointer(name))
      unsafe values.append(UnsafePointer(value))
    }
    unsafe names.append(nil)
    unsafe values.append(nil)
    guard let opened = unsafe PQconnectdbParams(names, values, 1) else {
      throw .system(errno: ENOMEM, path: address)
    }
    unsafe connection = opened
    // What the server remarks is no answer, and its words would stand among ours.
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
    guard unsafe PQstatus(connection) == CONNECTION_OK else {
      throw PostgresWords.error(ofConnecting: said, to: place)
    }
    // A database that knows none of them has its own.
    _ = try? run(Self.limits)
  }

  deinit { unsafe PQfinish(connection) }

  /// What libpq says of the last thing that went wrong.
  private var said: String { unsafe String(cString: PQerrorMessage(connection)) }

  /// What becomes readable when the server says something.
  var descriptor: Int32 { unsafe PQsocket(connection) }

  /// Runs a statement.
  ///
  /// - Parameter values: What stands for `$1` and so on, in binary.
  @discardableResult
  func run(_ sql: String, _ values: [[UInt8]] = []) throws(StoreError) -> Rows {
    // One block that has an address, even where all are empty.
    let block = Array(values.joined()) + [0]
    let lengths = values.map { Int32($0.count) }
    let formats = [Int32](repeating: 1, count: values.count)
    let answer = unsafe block.withUnsafeBytes { block in
      var places: [UnsafePointer<CChar>?] = unsafe []
      var start = 0
      for value in values {
        unsafe places.append(
          block.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self))
        start += value.count
      }
      return unsafe PQexecParams(
        connection, sql, Int32(values.count), nil, places, lengths, formats, 1)
    }
    defer { unsafe PQclear(answer) }
    let status = unsafe PQresultStatus(answer)
    if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return unsafe Self.rows(answer) }
    // PG_DIAG_SQLSTATE; without one it is libpq that speaks.
    let state = unsafe PQresultErrorField(answer, Int32(UInt8(ascii: "C")))
    let code = unsafe state.map { unsafe String(cString: $0) }
    let isGone = unsafe PQstatus(connection) != CONNECTION_OK
    throw PostgresWords.error(code: code, isGone: isGone, said, at: place)
  }

  private static func rows(_ answer: OpaquePointer?) -> Rows {
    let columns = unsafe PQnfields(answer)
    let rows = unsafe (0..<PQntuples(answer)).map { row in
      (0..<columns).map { column in
        let count = Int(unsafe PQgetlength(answer, row, column))
        return unsafe Array(
          UnsafeRawBufferPointer(start: PQgetvalue(answer, row, column), count: count))
      }
    }
    let changed = Int(unsafe String(cString: PQcmdTuples(answer))) ?? 0
    return Rows(rows: rows, changed: changed)
  }

  /// Takes what others have told; nil where the server is gone.
  ///
  /// - Returns: Whether somebody else told something.
  func hasNews() -> Bool? {
    guard unsafe PQconsumeInput(connection) == 1 else { return nil }
    let own = unsafe PQbackendPID(connection)
    var isNew = false
    while let told = unsafe PQnotifies(connection) {
      if unsafe told.pointee.be_pid != own { isNew = true }
      unsafe PQfreemem(told)
    }
    return isNew
  }
}
