// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Testing

@testable import KuraStorage

@Suite struct `Opening a file` {
  @Test func `that is not there`() throws {
    #expect(try TestFile(creating: false).refusal == .missing)
  }

  @Test(arguments: [0, 1, 99, 100, 5_000])
  func `that is no database`(length: Int) throws {
    let file = try TestFile(creating: false)
    try Data(bytes(0x41, length)).write(to: URL(filePath: file.path))
    #expect(file.refusal == .notADatabase)
    #expect(file.files == ["test.kura"])
  }

  @Test func `that is another program's database`() throws {
    let file = try TestFile(creating: false)
    try Data().write(to: URL(filePath: file.path))
    file.attack("CREATE TABLE t (a)")
    #expect(file.refusal == .notADatabase)
  }

  @Test func `of a later format leaves it and its journal as they are`() throws {
    let file = try TestFile()
    file.attack("PRAGMA user_version=3")
    let before = try Data(contentsOf: URL(filePath: file.path))
    try Data(bytes(9, 5_000)).write(to: URL(filePath: file.path + "-wal"))
    #expect(file.refusal == .newerFormat(3))
    #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
    #expect(try Data(contentsOf: URL(filePath: file.path + "-wal")) == Data(bytes(9, 5_000)))
    #expect(file.files == ["test.kura", "test.kura-wal"])
  }

  @Test func `whose journal says that it is of a later format`() throws {
    let file = try TestFile()
    var db: OpaquePointer?
    #expect(sqlite3_open_v2(file.path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(db) }
    #expect(sqlite3_exec(db, "PRAGMA user_version=3", nil, nil, nil) == SQLITE_OK)
    let before = try Data(contentsOf: URL(filePath: file.path))
    #expect(file.refusal == .newerFormat(3))
    #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
  }

  @Test func `through a symbolic link is refused`() throws {
    let file = try TestFile()
    let link = file.directory + "/link.kura"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
    do throws(StorageError) {
      _ = try Storage.open(at: link)
      Issue.record("opened")
    } catch {}
  }

  @Test func `of version 0 is none of ours`() throws {
    let file = try TestFile()
    file.attack("PRAGMA user_version=0")
    #expect(file.refusal == .notADatabase)
  }
}

@Suite struct `The schema` {
  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM item; END",
    "CREATE VIEW v AS SELECT * FROM part",
    "CREATE TABLE extra (a)",
    "CREATE INDEX i ON item (id)",
    "ALTER TABLE part ADD COLUMN more BLOB",
    "DROP TABLE loose",
    "ALTER TABLE loose RENAME TO tight",
    "ANALYZE",
  ])
  func `may hold nothing but what we put there`(statement: String) throws {
    let file = try TestFile()
    file.attack(statement)
    #expect(file.refusal == .schema)
  }

  @Test(arguments: [
    // A second space in the text.
    "UPDATE sqlite_schema SET sql = replace(sql, 'data BLOB', 'data  BLOB') WHERE name = 'part'",
    // Two tables on one page.
    """
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'item')
    WHERE name = 'history'
    """,
    "UPDATE sqlite_schema SET tbl_name = 'item' WHERE name = 'loose'",
    // The table of pieces without the index of its key, or with another.
    "DELETE FROM sqlite_schema WHERE type = 'index'",
    "UPDATE sqlite_schema SET name = 'sqlite_autoindex_chunk_2' WHERE type = 'index'",
    """
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'item')
    WHERE type = 'index'
    """,
  ])
  func `is compared byte for byte`(statement: String) throws {
    let file = try TestFile()
    file.attack("PRAGMA writable_schema=ON", statement)
    #expect([.schema, .corrupt].contains(file.refusal))
  }

  @Test func `is the documented one`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.checkSchema()
    #expect(Schema.tables.count == 8)
  }

  @Test func `is read as it stands under any name, and changes by nothing`() throws {
    let file = try TestFile()
    for name in ["a?immutable=0", "b%41c", "d#e&mode=memory", "f g'h\"", "\u{E9}\n\u{1F511}"] {
      let path = file.directory + "/" + name
      try FileManager.default.copyItem(atPath: file.path, toPath: path)
      var storage = try Storage.openAsItStands(path)
      try storage.beginRead()
      #expect(try storage.slots().isEmpty)
      storage.end()
      #expect(throws: StorageError.readOnly) { try storage.beginWrite() }
      try storage.truncateWAL()
    }
    #expect(file.files.count == 6 && !file.files.contains { $0.hasSuffix("-wal") })
  }

  @Test func `cannot be changed by our own connection`() throws {
    let file = try TestFile()
    let storage = try file.open()
    for statement in [
      "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema",
      "ATTACH ':memory:' AS other",
      "SELECT load_extension('x')",
      "SELECT \"text\"",
    ] {
      #expect(throws: StorageError.self) { try storage.execute(statement) }
    }
  }

  @Test func `planted in the middle of a session does not run`() throws {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    try TestItem().store(in: &storage)
    try storage.commit()
    file.attack("CREATE TRIGGER t AFTER INSERT ON loose BEGIN DELETE FROM item; END")
    try storage.beginWrite()
    try storage.markOrphan(bytes(1, 16).span)
    #expect(try storage.holds(bytes(1, 16)))
    #expect(throws: StorageError.schema) { try storage.checkSchema() }
    storage.end()
  }
}

@Suite struct `Damage that SQLite sees` {
  @Test func `in the first page is told at opening`() throws {
    let file = try TestFile()
    try file.patch(bytes(0xFF, 200), at: 100)
    #expect([.corrupt, .schema].contains(file.refusal))
  }

  @Test func `of a truncated file is told`() throws {
    let file = try TestFile()
    let handle = try #require(FileHandle(forUpdatingAtPath: file.path))
    try handle.truncate(atOffset: 4_096)
    try handle.close()
    var failed = file.refusal != nil
    if !failed {
      var storage = try file.open()
      try storage.beginRead()
      do { _ = try storage.holds(bytes(1, 16)) } catch { failed = true }
      storage.end()
    }
    #expect(failed)
  }
}
