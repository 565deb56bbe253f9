// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Testing

@testable import KuraStorage

@Suite struct `Transactions` {
  @Test func `what was committed is there for the next connection`() throws {
    let file = try TestFile()
    do {
      var storage = try file.open()
      try storage.beginWrite()
      try storage.storePart(.root, bytes(7, 296).span)
      try storage.commit()
    }
    var storage = try file.open()
    try storage.beginRead()
    #expect(try storage.copy(of: .root) == bytes(7, 296))
    #expect(try storage.copy(of: .ring) == nil)
    storage.end()
  }

  @Test func `a commit that has to last waits for the disk, another does not`() throws {
    let file = try TestFile()
    var storage = try file.open()
    // As PRAGMA synchronous numbers them: 2 is FULL, 1 is NORMAL.
    for (isDurable, level) in [(true, 2), (false, 1), (true, 2)] as [(Bool, Int32)] {
      try storage.beginWrite(durable: isDurable)
      var statement: OpaquePointer?
      sqlite3_prepare_v2(storage.db, "PRAGMA synchronous", -1, &statement, nil)
      #expect(sqlite3_step(statement) == SQLITE_ROW)
      #expect(sqlite3_column_int(statement, 0) == level)
      sqlite3_finalize(statement)
      storage.end()
    }
  }

  @Test func `what was not committed is gone`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    try storage.storePart(.root, bytes(7, 296).span)
    storage.end()
    try storage.beginRead()
    #expect(try storage.copy(of: .root) == nil)
    storage.end()
  }

  @Test func `a reader keeps its state while another writes`() throws {
    let file = try TestFile()
    var reader = try file.open()
    var writer = try file.open()
    try reader.beginRead()
    #expect(try reader.copy(of: .root) == nil)
    try writer.beginWrite()
    try writer.storePart(.root, bytes(7, 296).span)
    try writer.commit()
    #expect(try reader.copy(of: .root) == nil)
    reader.end()
    try reader.beginRead()
    #expect(try reader.copy(of: .root) != nil)
    reader.end()
  }

  @Test func `a row left in the middle does not keep an old state`() throws {
    let file = try TestFile()
    var reader = try file.open()
    var writer = try file.open()
    try writer.beginWrite()
    for tag in UInt8(0)..<9 { try TestItem(tag: bytes(tag, 16)).store(in: &writer) }
    try writer.commit()
    try reader.beginRead()
    try reader.scanItems(from: Span())
    #expect(try reader.nextTag() != nil)
    reader.end()
    try writer.truncateWAL()
    #expect(try Data(contentsOf: URL(filePath: file.path + "-wal")).isEmpty)
  }

  @Test func `a second writer is told that the file is busy`() throws {
    let file = try TestFile()
    var first = try file.open()
    var second = try file.open()
    try first.beginWrite()
    #expect(throws: StorageError.busy) { try second.beginWrite() }
    first.end()
    try second.beginWrite()
    second.end()
  }

  @Test func `a journal that a reader needs is not truncated`() throws {
    let file = try TestFile()
    var reader = try file.open()
    var writer = try file.open()
    try reader.beginRead()
    _ = try reader.part(.root)
    try writer.beginWrite()
    try writer.storePart(.root, bytes(7, 296).span)
    try writer.commit()
    #expect(throws: StorageError.busy) { try writer.truncateWAL() }
    reader.end()
    try writer.truncateWAL()
  }

  @Test func `the last one to close leaves one file`() throws {
    let file = try TestFile()
    do {
      var storage = try file.open()
      try storage.beginWrite(durable: false)
      try storage.storePart(.root, bytes(7, 296).span)
      try storage.commit()
      #expect(file.files.count == 3)
    }
    #expect(file.files == ["test.kura"])
  }

  @Test func `overwritten slots leave no byte behind`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let old = SlotRow(
      number: 0, header: bytes(0xA1, 48), key: bytes(0xA2, 328), protected: bytes(0xA3, 104))
    let new = SlotRow(number: 0, header: bytes(1, 48), key: bytes(2, 328), protected: [])
    for row in [old, new] {
      try storage.beginWrite()
      try storage.storeSlot(row)
      try storage.commit()
    }
    try storage.truncateWAL()
    for name in file.files where !name.hasSuffix("-shm") {
      let content = try Data(contentsOf: URL(filePath: file.directory + "/" + name))
      for value: UInt8 in [0xA1, 0xA2, 0xA3] {
        #expect(content.firstRange(of: Data(bytes(value, 8))) == nil, "\(name)")
      }
    }
  }
}

@Suite struct `A full disk` {
  @Test func `is told as such, and the state before stays`() async {
    await #expect(processExitsWith: .success) {
      // A limit on the file's size fails as a full disk does, with an errno of its own.
      signal(SIGXFSZ, SIG_IGN)
      let file = try TestFile()
      var storage = try file.open()
      try storage.beginWrite()
      try storage.storePart(.ring, bytes(1, 400).span)
      try storage.commit()
      try storage.truncateWAL()
      var limit = rlimit(rlim_cur: 200_000, rlim_max: .max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(throws: StorageError.diskFull) {
        try storage.beginWrite()
        for number in UInt64(0)..<100 {
          try storage.storeChunk(bytes(1, 16).span, number, bytes(2, 65_000).span)
        }
        try storage.storePart(.ring, bytes(2, 400).span)
        try storage.commit()
      }
      storage.end()
      try storage.beginRead()
      #expect(try storage.copy(of: .ring) == bytes(1, 400))
      #expect(try storage.chunkCount(bytes(1, 16), 0) == nil)
      storage.end()
    }
  }
}

@Suite struct `Result codes` {
  private static let cases: [(code: Int32, errno: Int32, error: StorageError)] = [
    (SQLITE_BUSY, 0, .busy),
    (extended(SQLITE_BUSY, 2), 0, .busy),
    (SQLITE_FULL, 0, .diskFull),
    (extended(SQLITE_IOERR, 3), ENOSPC, .diskFull),
    (extended(SQLITE_IOERR, 3), EDQUOT, .diskFull),
    (extended(SQLITE_IOERR, 3), EIO, .io(EIO)),
    (extended(SQLITE_IOERR, 2), 0, .corrupt),
    (SQLITE_CANTOPEN, ENOENT, .missing),
    (SQLITE_CANTOPEN, EACCES, .permissionDenied),
    (SQLITE_CANTOPEN, EROFS, .readOnly),
    (SQLITE_READONLY, 0, .readOnly),
    (SQLITE_NOMEM, 0, .outOfMemory),
    (SQLITE_NOTADB, 0, .notADatabase),
    (SQLITE_CORRUPT, 0, .corrupt),
    (SQLITE_ERROR, 0, .corrupt),
    (SQLITE_TOOBIG, 0, .corrupt),
  ]

  @Test(arguments: cases)
  func `become errors that mean something`(code: Int32, errno: Int32, error: StorageError) {
    #expect(StorageError(code: code, systemError: errno) == error)
  }

  private static func extended(_ code: Int32, _ number: Int32) -> Int32 { code | number << 8 }
}
