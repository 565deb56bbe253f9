// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Glibc
internal import Synchronization

/// Counts how far a copy of a vault's file is, and has it stopped.
package final class CopyWatch: Sendable {
  private let done = Atomic<UInt64>(0)
  private let total = Atomic<UInt64>(0)
  private let stopped = Atomic(false)

  /// A copy that has not begun.
  package init() {}

  /// Ends it, soon.
  package func stop() { stopped.store(true, ordering: .relaxed) }

  /// Whether it is to end.
  var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// What it has done, and all that there is to do, in bytes.
  package var progress: (done: UInt64, total: UInt64) {
    (done.load(ordering: .relaxed), total.load(ordering: .relaxed))
  }

  fileprivate func begin(_ byteCount: UInt64) { total.store(byteCount, ordering: .relaxed) }

  fileprivate func add(_ count: Int) { done.add(UInt64(count), ordering: .relaxed) }
}

/// Says at which end a copy failed.
package enum CopyError: Error, Equatable, Sendable {
  /// The file that is copied could not be read, or held still.
  case source(StorageError)
  /// The copy could not be written or read.
  case draft(StorageError)
  /// The copy is not what was written.
  case differs
  /// Somebody stopped it.
  case stopped
}

extension Storage {
  /// SQLite reads no more than this at once.
  private static let pieceCount = 65_536
  /// Has the disk begin to write after so many; a multiple of a piece.
  private static let burstCount: UInt64 = 8 << 20
  /// How often another connection that writes is waited for, and how long each time, in microseconds.
  private static let tries = 250
  private static let pause: UInt32 = 20_000

  /// Copies the file, byte for byte as it is at one moment, and reads each piece of the copy again.
  ///
  /// All is moved from the WAL into the file, which then stays as it is for as long as somebody reads a state
  /// without WAL: others read and write meanwhile, and what they write stands in the WAL.
  ///
  /// - Parameters:
  ///   - draft: An empty file.
  ///   - path: The file's.
  package mutating func copyFile(
    at path: String, to draft: FileDraft, _ watch: CopyWatch
  ) throws(CopyError) {
    try holdFile(path, watch)
    defer { end() }
    let source = unsafe try SourceFile(db)
    watch.begin(source.byteCount)
    // A full disk is known before anything is written.
    guard source.byteCount <= draft.room else { throw .draft(.diskFull) }
    var buffer = [UInt8](repeating: 0, count: Self.pieceCount)
    var copy = buffer
    var offset: UInt64 = 0
    while offset < source.byteCount {
      let count = try source.read(into: &buffer, at: offset, watch)
      // While it is still in the processor's cache.
      do throws(StorageError) {
        try draft.write(buffer.span.extracting(first: count), at: offset)
        try draft.read(into: &copy, count, at: offset)
      } catch { throw .draft(error) }
      guard unsafe memcmp(buffer, copy, count) == 0 else { throw .differs }
      offset += UInt64(count)
      // The disk is at work while the rest is copied and compared.
      if offset.isMultiple(of: Self.burstCount) {
        draft.beginSync(of: Self.burstCount, endingAt: offset)
      }
    }
    guard draft.byteCount == source.byteCount else { throw .differs }
  }

  /// Moves the WAL into the file, and holds that state.
  private mutating func holdFile(_ path: String, _ watch: CopyWatch) throws(CopyError) {
    let isFixed = unsafe sqlite3_db_readonly(db, "main") != 0
    for _ in 0..<Self.tries {
      guard !watch.isStopped else { throw .stopped }
      do throws(StorageError) {
        if !isFixed { try truncateWAL() }
        try beginRead()
        // The first read takes the state.
        _ = try part(.header)
        finish(.part)
        if isFixed || !Storage.hasWAL(at: path) { return }
      } catch {
        end()
        guard error == .busy else { throw .source(error) }
      }
      end()
      usleep(Self.pause)
    }
    throw .source(.busy)
  }

  /// Whether SQLite finds every page of the file in its place, and no row malformed.
  package mutating func isSound() throws(StorageError) -> Bool {
    _ = unsafe try start(.quickCheck)
    defer { finish(.quickCheck) }
    return try step(.quickCheck) && text(.quickCheck, 0, is: "ok")
  }
}

/// Reads a database's file by SQLite's own descriptor: closing another one would drop the locks on it.
@safe private struct SourceFile {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let call:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, Int32, sqlite3_int64
    ) -> Int32
  let byteCount: UInt64

  init(_ db: OpaquePointer) throws(CopyError) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe sqlite3_file_control(db, nil, SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods,
      let read = unsafe methods.pointee.xRead, let size = unsafe methods.pointee.xFileSize
    else { throw .source(.io(0)) }
    var count: sqlite3_int64 = 0
    guard unsafe size(file, &count) == SQLITE_OK, count > 0 else { throw .source(.corrupt) }
    unsafe self.file = file
    unsafe call = read
    byteCount = UInt64(count)
  }

  /// Fills the buffer, or as much of it as the file still has.
  func read(
    into buffer: inout [UInt8], at offset: UInt64, _ watch: CopyWatch
  ) throws(CopyError) -> Int {
    guard !watch.isStopped else { throw .stopped }
    let count = Int(min(UInt64(buffer.count), byteCount - offset))
    let code = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe call(file, bytes.baseAddress, Int32(count), sqlite3_int64(offset))
    }
    guard code == SQLITE_OK else { throw .source(StorageError(code: code, systemError: errno)) }
    watch.add(count)
    return count
  }
}

// MARK: - The copy

extension FileDraft {
  /// `SYNC_FILE_RANGE_WRITE`, which Swift does not see.
  private static let beginWriting: UInt32 = 2

  /// How many bytes its disk still takes; where nobody says, writing will tell.
  fileprivate var room: UInt64 {
    var facts = statvfs()
    guard unsafe fstatvfs(descriptor, &facts) == 0, facts.f_blocks > 0 else { return .max }
    return UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
  }

  fileprivate func write(
    _ bytes: Span<UInt8>, at offset: UInt64
  ) throws(StorageError) {
    var count = 0
    while count < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        return unsafe pwrite(
          descriptor, start + count, bytes.count - count, off_t(offset) + off_t(count))
      }
      if part < 0 && errno == EINTR { continue }
      // A file system that takes no file of that length is not full.
      guard part >= 0 || errno != EFBIG else { throw .io(EFBIG) }
      guard part > 0 else { throw StorageError(systemError: part < 0 ? errno : EIO) }
      count += part
    }
  }

  /// Has the disk begin to write what was written last, and waits for nothing; a file system that cannot writes later.
  fileprivate func beginSync(of count: UInt64, endingAt end: UInt64) {
    _ = sync_file_range(descriptor, off_t(end - count), off_t(count), Self.beginWriting)
  }

  fileprivate func read(
    into buffer: inout [UInt8], _ wanted: Int, at offset: UInt64
  ) throws(StorageError) {
    var count = 0
    while count < wanted {
      let part = unsafe buffer.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        return unsafe pread(
          descriptor, start + count, wanted - count, off_t(offset) + off_t(count))
      }
      if part < 0 && errno == EINTR { continue }
      guard part > 0 else { throw StorageError(systemError: part < 0 ? errno : EIO) }
      count += part
    }
  }
}
