// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import Testing

@Suite struct SeenRecordTests {
  private let vault: VaultID = identifier(9)

  private func record(_ counter: UInt64) -> SeenRecord {
    SeenRecord(
      counter: counter, vault: vault, epoch: counter + 100, fingerprint: digest(1),
      logHead: digest(2), time: 5, path: Array("/home/mo/kura".utf8))
  }

  private func encode(_ record: SeenRecord) throws -> [UInt8] {
    try record.encode(key: try key(from: 1))
  }

  private func latest(_ file: [UInt8], key first: UInt8 = 1) throws -> SeenRecord {
    try SeenRecord.latest(in: file.span, key: try key(from: first), vault: vault)
  }

  @Test func `a record is 512 bytes with its hash at the end`() throws {
    let encoded = try encode(record(7))
    let head = Array("KURASEEN".utf8) + little(UInt64(7)) + vault.bytes + little(UInt64(107))
    let path = little(UInt16(13)) + Array("/home/mo/kura".utf8)
    let content = head + digest(1).bytes + digest(2).bytes + little(UInt64(5)) + path
    let hashed = content + [UInt8](repeating: 0, count: 480 - content.count)
    #expect(try encoded == hashed + hash([hashed], key: try key(from: 1)))
  }

  @Test func `a state that was only seen is told from one that was written here`() throws {
    var foreign = record(7)
    foreign.isOwn = false
    let (encoded, own, old) = (try encode(foreign), try encode(record(7)), try encode(record(1)))
    #expect(encoded[479] == 1)
    #expect(try latest(encoded + old) == foreign)
    #expect(try latest(own + old).isOwn)
    var other = Array(encoded[..<480])
    other[479] = 2
    other += try hash([other], key: try key(from: 1))
    let torn = other + [UInt8](repeating: 0, count: 512)
    #expect(failure { _ = try latest(torn) } == .damaged)
  }

  @Test(arguments: [(1, 2), (2, 1), (7, 7)] as [(UInt64, UInt64)])
  func `the valid record with the higher counter counts`(first: UInt64, second: UInt64) throws {
    let file = try encode(record(first)) + encode(record(second))
    #expect(try latest(file) == record(max(first, second)))
  }

  @Test func `a torn record leaves the other one`() throws {
    let (old, new) = (try encode(record(1)), try encode(record(2)))
    for cut in [0, 1, 100, 480, 511] {
      let torn = Array(new[..<cut]) + [UInt8](repeating: 0xEE, count: 512 - cut)
      #expect(try latest(torn + old) == record(1))
    }
  }

  @Test func `each changed byte is noticed`() throws {
    let encoded = try encode(record(1))
    let empty = [UInt8](repeating: 0, count: 512)
    for index in encoded.indices {
      var changed = encoded
      changed[index] ^= 4
      #expect(failure { _ = try latest(changed + empty) } == .damaged)
    }
  }

  @Test func `a record of another vault, key or length is not taken`() throws {
    let encoded = try encode(record(1))
    var other = record(1)
    other.vault = identifier(8)
    let foreign = try encode(other)
    #expect(failure { _ = try latest(foreign + foreign) } == .damaged)
    #expect(failure { _ = try latest(encoded + encoded, key: 2) } == .damaged)
    for file in [[], encoded, encoded + encoded.dropLast(), encoded + encoded + [0]] {
      #expect(failure { _ = try latest(file) } == .damaged)
    }
  }

  @Test func `records are written in turn`() {
    #expect(record(6).offset == 0)
    #expect(record(7).offset == 512)
  }

  @Test func `of a long path the end is kept`() throws {
    let path = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
    let long = SeenRecord(
      counter: 1, vault: vault, epoch: 1, fingerprint: .zero, time: 1, path: path)
    let encoded = try encode(long)
    #expect(try latest(encoded + encoded).path == Array(path.suffix(360)))
  }
}
