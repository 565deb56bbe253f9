// SPDX-License-Identifier: MIT

internal import CSQLite

extension Storage {
  /// Opens a vault file.
  ///
  /// The first bytes are read before SQLite looks at anything, so that a file of a later layout
  /// stays as it is, its WAL included.
  ///
  /// Where nothing can be written it is read as it stands, without locks and WAL: both would have to be
  /// made beside it.
  ///
  /// - Parameter path: Absolute and without symbolic links; nothing is created.
  /// - Throws: ``StorageError/walOutOfReach`` where what was written last is in a WAL that such a
  ///   place lets nobody read.
  package static func open(at path: String) throws(StorageError) -> Storage {
    let place = try? FilePlace.resolve(path)
    guard place?.isWritable == false, (try? place?.identity()) != nil else {
      return try openToWrite(at: path)
    }
    guard hasWAL(at: path) else { return try openAsItStands(path) }
    do { return try openToWrite(at: path) } catch {
      throw error == .busy || error == .outOfMemory ? error : .walOutOfReach
    }
  }

  /// Opens a file that nobody writes to, without locks and WAL, and makes nothing beside it.
  package static func openAsItStands(_ path: String) throws(StorageError) -> Storage {
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI
    var storage = try connect(uri(of: path) + "?immutable=1", flags: flags)
    try storage.peek()
    try storage.settle()
    try storage.checkSchema()
    try storage.fitCache()
    return storage
  }

  /// The URI of a path: no byte of it means anything else than itself.
  static func uri(of path: String) -> String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var text = "file://"
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        text.unicodeScalars.append("%")
        text.unicodeScalars.append(digits[Int(byte >> 4)])
        text.unicodeScalars.append(digits[Int(byte & 15)])
      }
    }
    return text
  }

  private static func openToWrite(at path: String) throws(StorageError) -> Storage {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
    let storage = try connect(path, flags: flags)
    try storage.peek()
    try storage.settle()
    return try prepare(storage)
  }

  /// The bytes of a page of a new file; older ones keep theirs. kura-format(5) says why so many.
  private static let pageSize = 16_384

  /// Lays out an empty file as a vault without rows.
  ///
  /// - Parameter path: Absolute and without symbolic links; a regular file of length 0.
  package static func create(at path: String) throws(StorageError) -> Storage {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
    let storage = try connect(path, flags: flags)
    try storage.settle()
    try storage.execute("PRAGMA page_size=\(pageSize)")
    try storage.execute("PRAGMA encoding='UTF-8'")
    try storage.execute("PRAGMA application_id=\(Schema.applicationID)")
    try storage.execute("PRAGMA user_version=\(Schema.version)")
    try storage.execute("PRAGMA journal_mode=WAL")
    try storage.execute("BEGIN IMMEDIATE")
    for table in Schema.tables { try storage.execute("\(table.sql)") }
    try storage.execute("COMMIT")
    return try prepare(storage)
  }

  /// Opens a connection and takes from it everything that a vault does not need.
  private static func connect(_ path: String, flags: Int32) throws(StorageError) -> Storage {
    precondition(
      path.utf8.first == UInt8(ascii: "/") || flags & SQLITE_OPEN_URI != 0,
      "a path that SQLite cannot read as a URI")
    // A NUL would end the path early, in front of another file.
    guard !path.utf8.contains(0) else { throw .missing }
    var handle: OpaquePointer?
    let all = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    guard let files = unsafe CleanPages.name else { throw .outOfMemory }
    let code = unsafe sqlite3_open_v2(path, &handle, all, files)
    guard let handle = unsafe handle else { throw .outOfMemory }
    let storage = unsafe Storage(owning: handle)
    guard code == SQLITE_OK else { throw storage.failure(code) }
    try storage.harden()
    return storage
  }

  /// Checks the schema before any other statement may touch a row, then sets what a session needs.
  private static func prepare(_ storage: consuming Storage) throws(StorageError) -> Storage {
    var storage = storage
    try storage.checkSchema()
    try storage.execute("PRAGMA journal_mode=WAL")
    try storage.setFlag(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    try storage.fitCache()
    try storage.watchWAL()
    return storage
  }
}

// MARK: - Hardening

extension Storage {
  /// Switches that take effect before SQLite reads the file.
  ///
  /// See "Untrusted database files" in SQLite's security.html.
  private borrowing func harden() throws(StorageError) {
    let flags: [(Int32, Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0),
      (SQLITE_DBCONFIG_DQS_DDL, 0),
      // A file that is refused keeps its WAL, too.
      (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
    ]
    for (option, value) in flags { try setFlag(option, value) }
    limit()
    unsafe sqlite3_busy_timeout(db, 0)
  }

  /// Settings that hold for the life of the connection; some of them make SQLite read the file.
  private borrowing func settle() throws(StorageError) {
    try execute("PRAGMA trusted_schema=OFF")
    try execute("PRAGMA cell_size_check=ON")
    try execute("PRAGMA mmap_size=0")
    try execute("PRAGMA temp_store=MEMORY")
    try execute("PRAGMA secure_delete=ON")
    try execute("PRAGMA max_page_count=\(CleanPages.mostPages)")
    try execute("PRAGMA synchronous=FULL")
    try execute("PRAGMA journal_size_limit=\(Self.longestWAL)")
  }

  private borrowing func setFlag(_ option: Int32, _ value: Int32) throws(StorageError) {
    guard unsafe kura_sqlite_flag(db, option, value) == SQLITE_OK else { throw .io(0) }
  }

  /// What the largest legal row and the longest own statement need, and no more.
  private borrowing func limit() {
    let limits: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, 1_048_576),
      (SQLITE_LIMIT_SQL_LENGTH, 10_000),
      (SQLITE_LIMIT_COLUMN, 32),
      (SQLITE_LIMIT_EXPR_DEPTH, 20),
      (SQLITE_LIMIT_COMPOUND_SELECT, 3),
      (SQLITE_LIMIT_VDBE_OP, 10_000),
      (SQLITE_LIMIT_FUNCTION_ARG, 8),
      (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64),
      (SQLITE_LIMIT_VARIABLE_NUMBER, 16),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
      (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (kind, value) in limits { unsafe sqlite3_limit(db, kind, value) }
  }

  /// Runs a fixed text of ours.
  borrowing func execute(_ sql: String) throws(StorageError) {
    let code = unsafe sqlite3_exec(db, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }
}

// MARK: - What the file claims to be

extension Storage {
  /// Reads the marks in the first 100 bytes through SQLite's own descriptor.
  ///
  /// Opening the file a second time would not do: closing that descriptor drops the POSIX locks
  /// that other connections of this process hold on the file.
  private borrowing func peek() throws(StorageError) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe sqlite3_file_control(db, nil, SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods,
      let read = unsafe methods.pointee.xRead
    else { throw .io(0) }
    var head = [UInt8](repeating: 0, count: 100)
    let result = unsafe head.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, 100, 0) }
    // Shorter than a header: an empty file, or anything else that is no database.
    if result == shortRead { throw .notADatabase }
    guard result == SQLITE_OK else { throw failure(result) }
    guard head.starts(with: "SQLite format 3\0".utf8),
      Self.bigEndian(head, at: 68) == Schema.applicationID
    else { throw .notADatabase }
    try Self.checkVersion(Int32(bitPattern: Self.bigEndian(head, at: 60)))
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func checkVersion(_ version: Int32) throws(StorageError) {
    if version > Schema.newest { throw .newerFormat(UInt32(version)) }
    guard version >= Schema.version else { throw .notADatabase }
  }

  /// Reads the version again: a WAL may have another than the file's first bytes, and another engine may have changed
  /// it.
  private mutating func readVersion() throws(StorageError) {
    _ = unsafe try start(.version)
    defer { finish(.version) }
    guard try step(.version) else { throw .corrupt }
    let version = try integer(.version, 0, Int64(Int32.min)...Int64(Int32.max), in: .part)
    try Self.checkVersion(Int32(version))
    self.version = Int32(version)
  }

  /// Changes the file over to the newest layout, within a write transaction.
  package mutating func changeOver() throws(StorageError) {
    precondition(isInTransaction && version < Schema.newest, "it is changed over once")
    try execute("\(Schema.journal.sql)")
    try execute("PRAGMA user_version=\(Schema.newest)")
    before = before ?? (version, hasSharing)
    version = Schema.newest
  }

  /// Adds what a shared vault has besides, within a write transaction.
  package mutating func beginSharing() throws(StorageError) {
    precondition(isInTransaction && isNewest, "what is shared is of the newest layout")
    guard !hasSharing else { return }
    for table in Schema.sharing { try execute("\(table.sql)") }
    before = before ?? (version, hasSharing)
    hasSharing = true
  }

  /// Compares everything that stands in the schema with what may stand there.
  ///
  /// A planted trigger or view would otherwise run inside our own transactions, and a table on
  /// another table's page would show one's rows as the other's.
  package mutating func checkSchema() throws(StorageError) {
    try readVersion()
    _ = unsafe try start(.schema)
    defer { finish(.schema) }
    // Who copied the tables with a program of SQLite's may have made them in another order.
    var tables = Schema.tables(of: version) + (isNewest ? Schema.sharing : [])
    var indexes = tables.filter { $0.index != nil }
    var owedIndexes = 0
    var pages: [Int64] = []
    while try step(.schema) {
      guard let page = try? integer(.schema, 3, 2...Int64(UInt32.max), in: .part),
        !pages.contains(page)
      else { throw .schema }
      pages.append(page)
      if let index = tables.firstIndex(where: { isEntry("table", $0.name, of: $0) }) {
        let table = tables.remove(at: index)
        if let earlier = table.earlier, text(.schema, 4, is: earlier) { continue }
        guard text(.schema, 4, is: table.sql) else { throw .schema }
        owedIndexes += table.index == nil ? 0 : 1
      } else if let index = indexes.firstIndex(where: { isEntry("index", $0.index, of: $0) }) {
        guard isNull(.schema, 4) else { throw .schema }
        indexes.remove(at: index)
        owedIndexes -= 1
      } else {
        throw .schema
      }
    }
    let missing = tables.count(where: \.isOfSharing)
    guard tables.count == missing, [0, Schema.sharing.count].contains(missing), owedIndexes == 0
    else { throw .schema }
    hasSharing = isNewest && missing == 0
  }

  /// Whether the schema's row at hand is of this type and name, and belongs to this table.
  private borrowing func isEntry(
    _ type: StaticString, _ name: StaticString?, of table: Schema.Definition
  ) -> Bool {
    guard let name else { return false }
    return text(.schema, 0, is: type) && text(.schema, 1, is: name)
      && text(.schema, 2, is: table.name)
  }
}
