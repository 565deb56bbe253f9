// SPDX-License-Identifier: MIT

internal import CSQLite

/// The bytes that wait at most.
private let capacity = 131_072
/// The bytes in front of a frame's page, and in front of the first frame: "The WAL File Format" in SQLite's
/// fileformat2.html.
private let headerCount: Int32 = 24
private let fileHeaderCount: Int32 = 32

/// The file of a journal, whose frames are written many at a time.
///
/// SQLite writes each page of a transaction in two calls: 24 bytes of frame header, and the page. Here
/// frames that are appended one behind the other wait until some 128 KiB are together or the last one of
/// their transaction is complete, whose header says so. By then, and before anything else happens to the
/// file, they are written: whoever learns of a frame finds it there, and an error fails the transaction.
@unsafe struct JournalFile {
  /// First, so that the file's methods are found where SQLite looks for them.
  var own: sqlite3_io_methods
  let original: UnsafePointer<sqlite3_io_methods>
  /// The frames that wait, where in the file the first begins, and how many bytes there are.
  let buffer: UnsafeMutableRawPointer
  var start: sqlite3_int64 = 0
  var count = 0
  /// Where the next frame begins if it is appended to the last one; negative when that is not known.
  var end: sqlite3_int64 = -1
  /// Where the page of a header begins that was written last; negative when none is missing.
  var pageStart: sqlite3_int64 = -1
  /// Whether that header ends a transaction.
  var endsTransaction = false

  /// Puts its methods in front of a file's own.
  static func take(_ file: UnsafeMutablePointer<sqlite3_file>) {
    guard let plain = unsafe file.pointee.pMethods else { return }
    let journal = UnsafeMutablePointer<JournalFile>.allocate(capacity: 1)
    unsafe journal.initialize(
      to: JournalFile(
        own: plain.pointee, original: plain,
        buffer: .allocate(byteCount: capacity, alignment: 8)))
    unsafe journal.pointee.own.xWrite = unsafe write
    unsafe journal.pointee.own.xRead = unsafe read
    unsafe journal.pointee.own.xSync = unsafe sync
    unsafe journal.pointee.own.xTruncate = unsafe truncate
    unsafe journal.pointee.own.xFileSize = unsafe fileSize
    unsafe journal.pointee.own.xClose = unsafe close
    unsafe file.pointee.pMethods = UnsafePointer(
      UnsafeRawPointer(journal).assumingMemoryBound(to: sqlite3_io_methods.self))
  }
}

// MARK: - Frames

extension JournalFile {
  /// Takes what is written: keeps it, or writes it after what waits.
  mutating func take(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ data: UnsafeRawPointer, _ size: Int32,
    at offset: sqlite3_int64
  ) -> Int32 {
    let isPage = unsafe offset == pageStart && size >= 512
    let isHeader = unsafe size == headerCount && offset == end && pageStart < 0
    let continues = unsafe count > 0
    guard isHeader || isPage && continues else {
      return unsafe pass(file, data, size, at: offset, isPage: isPage)
    }
    if isHeader, unsafe count + Int(size) + 65_536 > capacity {
      let code = unsafe flush(file)
      guard code == SQLITE_OK else { return code }
    }
    if unsafe count == 0 { unsafe start = offset }
    unsafe (buffer + count).copyMemory(from: data, byteCount: Int(size))
    unsafe count += Int(size)
    unsafe note(data, size, at: offset, isPage: isPage)
    // A page is its frame's end.
    guard isPage, unsafe endsTransaction else { return SQLITE_OK }
    return unsafe flush(file)
  }

  /// Writes what does not continue what waits, or is no whole frame.
  private mutating func pass(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ data: UnsafeRawPointer, _ size: Int32,
    at offset: sqlite3_int64, isPage: Bool
  ) -> Int32 {
    let code = unsafe flush(file)
    guard code == SQLITE_OK else { return code }
    guard let write = unsafe original.pointee.xWrite else { return SQLITE_IOERR }
    unsafe note(data, size, at: offset, isPage: isPage)
    return unsafe write(file, data, size, offset)
  }

  private mutating func note(
    _ data: UnsafeRawPointer, _ size: Int32, at offset: sqlite3_int64, isPage: Bool
  ) {
    unsafe pageStart = -1
    if size == headerCount {
      unsafe pageStart = offset + sqlite3_int64(size)
      // The size of the database after the transaction stands in its last frame only.
      unsafe endsTransaction = data.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
    } else if isPage || offset == 0 && size == fileHeaderCount {
      unsafe end = offset + sqlite3_int64(size)
    }
  }

  /// Writes what waits.
  mutating func flush(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    guard unsafe count > 0 else { return SQLITE_OK }
    let size = unsafe Int32(count)
    unsafe count = 0
    guard let write = unsafe original.pointee.xWrite else { return SQLITE_IOERR }
    let code = unsafe write(file, buffer, size, start)
    if code != SQLITE_OK { unsafe (end, pageStart) = (-1, -1) }
    return code
  }
}

// MARK: - What SQLite calls

private func journal(
  of file: UnsafeMutablePointer<sqlite3_file>
) -> UnsafeMutablePointer<JournalFile>? {
  guard let methods = unsafe file.pointee.pMethods else { return nil }
  return unsafe UnsafeMutablePointer(
    mutating: UnsafeRawPointer(methods).assumingMemoryBound(to: JournalFile.self))
}

/// Writes what waits, then goes on with SQLite's own way.
private func afterFlush(
  _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ body: (UnsafeMutablePointer<sqlite3_file>, UnsafePointer<sqlite3_io_methods>) -> Int32?
) -> Int32 {
  guard let file = unsafe file, let journal = unsafe journal(of: file) else { return SQLITE_IOERR }
  let code = unsafe journal.pointee.flush(file)
  guard code == SQLITE_OK else { return code }
  return unsafe body(file, journal.pointee.original) ?? SQLITE_IOERR
}

private let write:
  @convention(c) (
    UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, Int32, sqlite3_int64
  ) -> Int32 = { file, data, size, offset in
    guard let file = unsafe file, let journal = unsafe journal(of: file), let data = unsafe data
    else { return SQLITE_IOERR }
    return unsafe journal.pointee.take(file, data, size, at: offset)
  }

private let read:
  @convention(c) (
    UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, Int32, sqlite3_int64
  ) -> Int32 = { file, data, size, offset in
    unsafe afterFlush(file) { unsafe $1.pointee.xRead?($0, data, size, offset) }
  }

private let sync: @convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32 = {
  file, flags in
  unsafe afterFlush(file) { unsafe $1.pointee.xSync?($0, flags) }
}

private let truncate: @convention(c) (UnsafeMutablePointer<sqlite3_file>?, sqlite3_int64) -> Int32 =
  { file, size in
    unsafe afterFlush(file) { unsafe $1.pointee.xTruncate?($0, size) }
  }

private let fileSize:
  @convention(c) (
    UnsafeMutablePointer<sqlite3_file>?, UnsafeMutablePointer<sqlite3_int64>?
  ) -> Int32 = { file, size in
    unsafe afterFlush(file) { unsafe $1.pointee.xFileSize?($0, size) }
  }

private let close: @convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Int32 = { file in
  guard let file = unsafe file, let journal = unsafe journal(of: file),
    let close = unsafe journal.pointee.original.pointee.xClose
  else { return SQLITE_IOERR }
  _ = unsafe journal.pointee.flush(file)
  let code = unsafe close(file)
  unsafe journal.pointee.buffer.deallocate()
  unsafe journal.deallocate()
  return code
}
