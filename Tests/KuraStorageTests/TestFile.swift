// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import TestGround
import Testing

@testable import KuraStorage

/// A vault file of its own, gone with its test.
final class TestFile {
  let directory: String
  var path: String { directory + "/test.kura" }

  init(creating: Bool = true) throws {
    directory = try Ground.inMemory.directory("storage")
    guard creating else { return }
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    _ = try Storage.create(at: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  func open() throws -> Storage { try Storage.open(at: path) }

  /// What opening the file says is wrong with it.
  var refusal: StorageError? {
    do throws(StorageError) {
      _ = try Storage.open(at: path)
      return nil
    } catch { return error }
  }

  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
  }

  /// What somebody with the file and no key can do.
  func attack(_ statements: String...) {
    var db: OpaquePointer?
    #expect(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(db) }
    for statement in statements {
      var message: UnsafeMutablePointer<CChar>?
      let status = sqlite3_exec(db, statement, nil, nil, &message)
      let text = message.map { String(cString: $0) } ?? ""
      #expect(status == SQLITE_OK, "\(statement): \(text)")
    }
  }

  /// Writes bytes into the file, past SQLite.
  func patch(_ bytes: [UInt8], at offset: UInt64) throws {
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
}

func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

/// An item row with lengths that are right.
struct TestItem {
  var tag = bytes(1, 16)
  var id = bytes(2, 16)
  var facts = RevisionFacts(revision: 1, generation: 1, itemClass: 0, kind: 0)
  var history: [UInt8] = []
  var meta = bytes(3, 328)
  var body = bytes(4, 328)

  func store(in storage: inout Storage) throws(StorageError) {
    try storage.storeItem(
      ItemRow(
        tag: tag.span, id: id.span, facts: facts, history: history.span, meta: meta.span,
        body: body.span))
  }

  /// Makes it a row of the history.
  func keep(in storage: inout Storage) throws(StorageError) {
    try store(in: &storage)
    try storage.keepItem(tag.span)
  }
}

// Macros take no views; these say what a view showed.
extension Storage {
  mutating func copy(of part: Part) throws(StorageError) -> [UInt8]? {
    guard let data = try self.part(part) else { return nil }
    return [UInt8](copying: data)
  }

  mutating func holds(_ tag: [UInt8]) throws(StorageError) -> Bool {
    guard let row = try item(tag.span) else { return false }
    return [UInt8](copying: row.tag) == tag
  }

  /// The first byte of the next item's tag.
  mutating func nextTag() throws(StorageError) -> UInt8? {
    guard let row = try nextItem() else { return nil }
    return row.tag[0]
  }

  mutating func keeps(_ item: [UInt8], _ revision: UInt64) throws(StorageError) -> Bool {
    guard let row = try history(of: item.span, revision: revision) else { return false }
    return row.facts.revision == revision
  }

  mutating func chunkCount(_ value: [UInt8], _ number: UInt64) throws(StorageError) -> Int? {
    guard let chunk = try chunk(value.span, number) else { return nil }
    return chunk.count
  }

  mutating func bucketCount(_ number: UInt32) throws(StorageError) -> Int? {
    guard let leaves = try bucket(number) else { return nil }
    return leaves.count
  }

  mutating func nodeCount(_ id: Int64) throws(StorageError) -> Int? {
    guard let digests = try node(id) else { return nil }
    return digests.count
  }
}
