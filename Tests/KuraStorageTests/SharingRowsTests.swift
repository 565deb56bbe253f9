// SPDX-License-Identifier: MIT

import Testing

@testable import KuraStorage

/// What only a shared vault has in its file.
@Suite struct `A file that is shared` {
  /// Of the newest layout, and not shared yet.
  private func taken() throws -> TestFile {
    let file = try TestFile()
    var storage = try file.open()
    try storage.beginWrite()
    try storage.changeOver()
    try storage.commit()
    return file
  }

  private static let head = "CREATE TABLE head (device BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT"
  private static let place =
    "CREATE TABLE place (value BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT"

  @Test func `has two tables more, once it is committed`() throws {
    let file = try taken()
    var storage = try file.open()
    var other = try file.open()
    var states = [storage.isShared]
    try storage.beginWrite()
    try storage.beginSharing()
    states.append(storage.isShared)
    storage.end()
    states.append(storage.isShared)
    #expect(file.refusal == nil)
    try storage.beginWrite()
    try storage.beginSharing()
    try storage.beginSharing()
    try storage.commit()
    states.append(storage.isShared)
    #expect(states == [false, true, false, true])
    // Who has it open sees that at the next look.
    try other.beginRead()
    try other.checkSchema()
    let isSeen = other.isShared
    #expect(isSeen)
  }

  @Test func `has both of them, and no other`() throws {
    for statement in [Self.head, Self.place] {
      let file = try taken()
      file.attack(statement)
      #expect(file.refusal == .schema)
    }
    let file = try taken()
    file.attack(Self.head, Self.place)
    #expect(file.refusal == nil)
    file.attack("DROP TABLE head", Self.head.replacing("device", with: "other"))
    #expect(file.refusal == .schema)
    // What format 1 has no place for.
    let first = try TestFile()
    first.attack(Self.head, Self.place)
    #expect(first.refusal == .schema)
  }

  @Test func `keeps heads, places and the journal`() throws {
    let file = try taken()
    var storage = try file.open()
    try storage.beginWrite()
    #expect(try storage.heads(limit: 9).isEmpty)
    let (one, two) = (bytes(1, 16), bytes(2, 16))
    try storage.deletePlace(of: one.span)
    try storage.beginSharing()
    try storage.storeHead(of: two.span, bytes(7, 262_144).span)
    try storage.storeHead(of: one.span, bytes(8, 3).span)
    #expect(try storage.heads(limit: 9) == [one, two])
    #expect(try storage.heads(limit: 1) == [one])
    if let head = try storage.head(of: one.span) {
      #expect([UInt8](copying: head) == bytes(8, 3))
    } else {
      Issue.record("no head")
    }
    try storage.deleteHead(of: one.span)
    #expect(try storage.heads(limit: 9) == [two])
    try storage.storePlace(of: two.span, bytes(9, 328).span)
    #expect(try storage.placedValue(after: []) == two)
    #expect(try storage.placedValue(after: two) == nil)
    if let place = try storage.place(of: two.span) {
      #expect([UInt8](copying: place) == bytes(9, 328))
    } else {
      Issue.record("no place")
    }
    for number: Int64 in 1...3 { try storage.storeJournal(row: number, bytes(1, 328).span) }
    try storage.deleteJournal(from: 2)
    #expect(try storage.journalRow(from: 1)?.number == 1)
    #expect(try storage.journalRow(from: 2)?.number == nil)
    try storage.storePart(.remote, one.span)
    try storage.forgetCopies()
    #expect(try storage.heads(limit: 9).isEmpty && storage.placedValue(after: []) == nil)
    #expect(try storage.journalRow(from: 1)?.number == nil)
    #expect(try storage.partKeys(after: .min, limit: 9).isEmpty)
    try storage.commit()
  }

  @Test func `hands on no head or place of another length`() throws {
    let file = try taken()
    var storage = try file.open()
    try storage.beginWrite()
    try storage.beginSharing()
    try storage.commit()
    file.attack(
      "INSERT INTO head VALUES (x'01', zeroblob(262145))",
      "INSERT INTO place VALUES (x'01', zeroblob(327))")
    let one: [UInt8] = [1]
    try storage.beginRead()
    #expect(throws: StorageError.damaged(.part)) { _ = try storage.head(of: one.span)?.count }
    #expect(throws: StorageError.damaged(.part)) { _ = try storage.place(of: one.span)?.count }
  }
}
