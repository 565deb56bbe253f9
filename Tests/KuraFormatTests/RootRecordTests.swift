// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import Testing

@Suite struct RootRecordTests {
  private let root = RootRecord(
    epoch: 5, itemCount: 4, deletedCount: 3, depth: 2, treeRoot: digest(10),
    headerDigest: digest(11), previous: digest(12), logHead: digest(13), writer: identifier(14),
    time: 15)

  @Test func `a root is 224 bytes in the order of the format`() throws {
    let numbers = little(UInt64(5)) + little(UInt64(4)) + little(UInt64(3))
    let digests = (10...13).flatMap { [UInt8](repeating: UInt8($0), count: 32) }
    let end = [UInt8](repeating: 14, count: 16) + little(UInt64(15))
    let expected =
      numbers + [2] + [UInt8](repeating: 0, count: 7) + digests + end
      + [UInt8](repeating: 0, count: 40)
    #expect(expected.count == RootRecord.byteCount)
    #expect(root.encoded == expected)
    #expect(try decode(expected) == root)
  }

  @Test func `numbers that cannot be and reserved bytes are damage`() {
    for (index, byte) in [(0, 0), (16, 5), (24, 0), (24, 4), (25, 1), (31, 1), (184, 1), (223, 1)] {
      var bytes = root.encoded
      bytes[index] = UInt8(byte)
      #expect(failure { _ = try decode(bytes) } == .damaged, "\(index)")
    }
    for cut in cuts(root.encoded) { #expect(failure { _ = try decode(cut) } == .damaged) }
  }

  @Test func `mutated roots are refused or read, never a trap`() {
    for changed in Mutations(of: root.encoded) {
      _ = failure {
        let root = try decode(changed)
        #expect(root.encoded == changed)
      }
    }
  }

  private func decode(_ bytes: [UInt8]) throws -> RootRecord {
    try RootRecord(decoding: bytes.span)
  }
}

@Suite struct HistoryListTests {
  private func list(_ revisions: [UInt64]) -> HistoryList {
    var list = HistoryList()
    for revision in revisions { list.append(revision: revision, leaf: digest(UInt8(revision))) }
    return list
  }

  @Test func `a list is revision and leaf, ascending`() throws {
    let expected =
      little(UInt64(2)) + [UInt8](repeating: 2, count: 32) + little(UInt64(9))
      + [UInt8](repeating: 9, count: 32)
    #expect(list([2, 9]).encoded == expected)
    #expect(try decode(expected) == list([2, 9]))
    #expect(try decode([]).entries.isEmpty)
  }

  @Test func `order, zero and odd lengths are damage`() {
    let (two, nine) = (Array(list([2]).encoded), Array(list([9]).encoded))
    let zero = [UInt8](repeating: 0, count: 40)
    for bytes in [nine + two, two + two, zero, Array(two.dropLast()), two + [0]] {
      #expect(failure { _ = try decode(bytes) } == .damaged)
    }
    let many = (1...1025).flatMap { little(UInt64($0)) + [UInt8](repeating: 0, count: 32) }
    #expect(failure { _ = try decode(many) } == .damaged)
  }

  @Test func `trimming drops the oldest and says which`() {
    var list = list([1, 2, 3, 4])
    #expect(list.trim(to: 3).map(\.revision) == [1])
    #expect(list.trim(to: 3).isEmpty)
    #expect(list.entries.map(\.revision) == [2, 3, 4])
    #expect(list.trim(to: 0).map(\.revision) == [2, 3, 4])
  }

  private func decode(_ bytes: [UInt8]) throws -> HistoryList {
    try HistoryList(decoding: bytes.span)
  }
}
