// SPDX-License-Identifier: MIT

internal import CSQLite

/// Keeps a vault file as rows of opaque bytes: what stands in them, and whether it is true, is for the caller
/// to find out.
///
/// SQLite is taken for what it is here, a parser of a file that an attacker may have written: it
/// runs hardened, its schema must be the expected one to the byte, and a row whose columns are not
/// of the type and size that the format allows is never handed on.
///
/// All rows are read and written within a transaction. What a read returns is borrowed from SQLite
/// and ends with the next call.
@safe
// A connection without a mutex may go from thread to thread, one at a time: there is no second owner.
package struct Storage: ~Copyable, @unchecked Sendable {
  let db: OpaquePointer
  /// One statement a ``Query``, prepared when first needed.
  private var prepared: [OpaquePointer?]
  /// Which statements have been started since the transaction began, one bit each.
  private var started: UInt64 = 0
  /// The layout of the file's tables, as it was when they were looked at last.
  var version = Schema.version
  /// Whether it has the tables of a shared vault, likewise.
  var hasSharing = false
  /// What both were before a change that is not committed.
  var before: (version: Int32, hasSharing: Bool)?

  /// Takes over an open connection.
  init(owning db: OpaquePointer) {
    unsafe self.db = db
    unsafe prepared = Array(repeating: nil, count: Query.allCases.count)
  }

  deinit {
    for index in unsafe prepared.indices { unsafe sqlite3_finalize(prepared[index]) }
    // The last connection to close moves the WAL into the file, which takes no key.
    unsafe sqlite3_close(db)
  }
}

// MARK: - Transactions

extension Storage {
  /// Whether a transaction is under way.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(db) == 0 }

  /// Begins to read; everything read until ``end()`` comes from one state of the file.
  package mutating func beginRead() throws(StorageError) {
    precondition(!isInTransaction, "transactions do not nest")
    try run(.beginRead)
  }

  /// Takes the write lock.
  ///
  /// - Parameter durable: Whether ``commit()`` returns only when the disk has it. Without, a power
  ///   cut may take the transaction back, until a durable one has followed it.
  /// - Throws: ``StorageError/busy`` when another connection writes; nothing happened.
  package mutating func beginWrite(durable: Bool = true) throws(StorageError) {
    precondition(!isInTransaction, "transactions do not nest")
    // SQLite would begin a transaction that reads instead.
    guard unsafe sqlite3_db_readonly(db, "main") == 0 else { throw .readOnly }
    try run(durable ? .syncFully : .syncLazily)
    try run(.beginWrite)
  }

  /// Commits what was written.
  ///
  /// - Throws: After an error the transaction has been rolled back.
  package mutating func commit() throws(StorageError) {
    resetStarted()
    do throws(StorageError) {
      try run(.commit)
      before = nil
    } catch {
      end()
      throw error
    }
  }

  /// Ends a transaction without keeping anything that it wrote; without one, does nothing.
  package mutating func end() {
    resetStarted()
    // After some errors SQLite has rolled back by itself.
    if isInTransaction { try? run(.rollback) }
    if let before = before.take() { (version, hasSharing) = before }
  }
}

// MARK: - Statements

extension Storage {
  /// The error that SQLite just reported.
  borrowing func failure(_ code: Int32) -> StorageError {
    let number = unsafe sqlite3_system_errno(db)
    let isKnown = number != 0 || code & 0xff != SQLITE_IOERR
    return StorageError(code: code, systemError: isKnown ? number : lastFileError)
  }

  /// The `errno` that the database file or its WAL last met: by the time that SQLite asks the system
  /// for it, a later call may have cleared it.
  private var lastFileError: Int32 {
    for pointer in [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER] {
      var file: UnsafeMutablePointer<sqlite3_file>?
      guard unsafe sqlite3_file_control(db, nil, pointer, &file) == SQLITE_OK,
        let file = unsafe file, let methods = unsafe file.pointee.pMethods,
        let control = unsafe methods.pointee.xFileControl
      else { continue }
      var number: Int32 = 0
      _ = unsafe control(file, SQLITE_FCNTL_LAST_ERRNO, &number)
      if number != 0 { return number }
    }
    return 0
  }

  /// The statement of a query, reset and without parameters.
  mutating func start(_ query: Query) throws(StorageError) -> OpaquePointer {
    started |= 1 << UInt64(query.rawValue)
    if let ready = unsafe prepared[query.rawValue] {
      unsafe sqlite3_reset(ready)
      return unsafe ready
    }
    var fresh: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = unsafe sqlite3_prepare_v3(db, query.sql, -1, flags, &fresh, nil)
    guard code == SQLITE_OK, let fresh = unsafe fresh else { throw failure(code) }
    unsafe prepared[query.rawValue] = fresh
    return unsafe fresh
  }

  /// Takes the next row of a query that was started.
  ///
  /// - Returns: Whether there is one.
  mutating func step(_ query: Query) throws(StorageError) -> Bool {
    guard let statement = unsafe prepared[query.rawValue] else { return false }
    let code = unsafe sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    unsafe sqlite3_reset(statement)
    unsafe sqlite3_clear_bindings(statement)
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }

  /// Runs a query without parameters that returns no row.
  mutating func run(_ query: Query) throws(StorageError) {
    _ = unsafe try start(query)
    while try step(query) {}
  }

  /// Ends a query of which no further row is wanted.
  mutating func finish(_ query: Query) {
    guard let statement = unsafe prepared[query.rawValue] else { return }
    unsafe sqlite3_reset(statement)
    unsafe sqlite3_clear_bindings(statement)
  }

  /// A statement left in the middle would keep its state of the file, and the WAL, alive.
  private mutating func resetStarted() {
    while started != 0 {
      if let statement = unsafe prepared[started.trailingZeroBitCount] {
        unsafe sqlite3_reset(statement)
      }
      started &= started - 1
    }
  }
}

// MARK: - Parameters and columns

/// Binds a blob that outlives the next step of the statement.
func bind(_ statement: OpaquePointer, _ index: Int32, borrowing bytes: Span<UInt8>) {
  unsafe bytes.withUnsafeBytes { bytes in
    // A null pointer would bind NULL, not a blob without bytes.
    guard let start = bytes.baseAddress else {
      unsafe sqlite3_bind_zeroblob(statement, index, 0)
      return
    }
    unsafe sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), nil)
  }
}

/// Binds a copy of a blob, for a statement that is stepped after the caller has gone on.
func bind(_ statement: OpaquePointer, _ index: Int32, copying bytes: Span<UInt8>) {
  unsafe bytes.withUnsafeBytes { bytes in
    guard let start = bytes.baseAddress else {
      unsafe sqlite3_bind_zeroblob(statement, index, 0)
      return
    }
    // SQLITE_TRANSIENT, a cast that Swift does not import.
    let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    unsafe sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), transient)
  }
}

/// Binds an integer.
func bind(_ statement: OpaquePointer, _ index: Int32, _ value: Int64) {
  unsafe sqlite3_bind_int64(statement, index, value)
}

extension Storage {
  /// A column of the current row that must be a blob of one of these lengths.
  @_lifetime(borrow self)
  borrowing func blob(
    _ query: Query, _ column: Int32, _ counts: ClosedRange<Int>, in table: Table
  ) throws(StorageError) -> Span<UInt8> {
    guard let statement = unsafe prepared[query.rawValue] else { throw .damaged(table) }
    // "Unprotected", which is for those who share a connection among threads; each look at a column
    // by its number takes and gives back what protects it.
    let value = unsafe sqlite3_column_value(statement, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_BLOB else { throw .damaged(table) }
    let start = unsafe sqlite3_value_blob(value)
    let count = unsafe Int(sqlite3_value_bytes(value))
    guard counts.contains(count) else { throw .damaged(table) }
    guard let start = unsafe start else {
      // No bytes have no address; with a length it was memory that ran out.
      guard count == 0 else { throw .outOfMemory }
      return Span()
    }
    let pointer = unsafe start.assumingMemoryBound(to: UInt8.self)
    let span = unsafe Span<UInt8>(_unsafeStart: pointer, count: count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// A column of the current row that must be an integer in a range.
  borrowing func integer(
    _ query: Query, _ column: Int32, _ range: ClosedRange<Int64>, in table: Table
  ) throws(StorageError) -> Int64 {
    guard let statement = unsafe prepared[query.rawValue] else { throw .damaged(table) }
    let value = unsafe sqlite3_column_value(statement, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_INTEGER else { throw .damaged(table) }
    let number = unsafe sqlite3_value_int64(value)
    guard range.contains(number) else { throw .damaged(table) }
    return number
  }

  /// Whether a column of the current row is NULL.
  borrowing func isNull(_ query: Query, _ column: Int32) -> Bool {
    guard let statement = unsafe prepared[query.rawValue] else { return false }
    return unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  /// Whether a column of the current row is this text.
  borrowing func text(_ query: Query, _ column: Int32, is expected: StaticString) -> Bool {
    guard let statement = unsafe prepared[query.rawValue],
      unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT,
      let start = unsafe sqlite3_column_text(statement, column)
    else { return false }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    let actual = unsafe UnsafeBufferPointer(start: start, count: count)
    let wanted = unsafe UnsafeBufferPointer(
      start: expected.utf8Start, count: expected.utf8CodeUnitCount)
    return unsafe actual.elementsEqual(wanted)
  }
}
