// SPDX-License-Identifier: MIT

import KuraClient
import KuraProtocol
import Testing

@testable import KuraCLI

@Suite struct GrantedSetTests {
  private static let facts = ItemFacts(
    revision: 3, size: 1, created: 1_000, modified: 2_000, protection: .protected, kind: .value)

  private static func set(_ names: [String]) throws -> PastSet {
    let items = names.map { Item(name: $0, facts: facts, attributes: []) }
    return PastSet(try CommandDigest([Array("make".utf8)]), 77, items)
  }

  @Test func `what is kept is read as it was`() throws {
    let set = try Self.set(["aws/key", "a name of blanks", "蔵"])
    let read = try #require(PastSet(set.text))
    #expect(read.digest == set.digest)
    #expect(read.time == 77)
    #expect(read.entries.map(\.name) == ["aws/key", "a name of blanks", "蔵"])
    #expect(read.entries == set.entries)
  }

  /// Whoever may write to the vault can write it.
  @Test func `no other text is read, and none ends the program`() throws {
    let text = try Self.set(["pin"]).text
    #expect(PastSet(text) != nil)
    for length in 0..<text.count {
      if let cut = PastSet(Array(text[..<length])) { #expect(cut.entries.count <= 1) }
    }
    for index in text.indices {
      var changed = text
      for byte: UInt8 in [0, 0x0A, 0x20, 0x2D, 0x78, 0xFF] {
        changed[index] = byte
        if let set = PastSet(changed) { #expect(set.entries.count <= 2) }
      }
    }
    let others = [
      "", "\n", "1 2 3 4\n", "1 2 3 4 5 6\n", "99999999999999999999 2 3 4 5 \n",
      "1 2 3 4 5 \npin\n",
    ]
    for other in others { #expect(PastSet(Array(other.utf8)) == nil, "\(other)") }
  }

  @Test func `words are told apart as words, and each set has a key of its own`() throws {
    func words(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
    let digest = try CommandDigest(words("make", "a b"))
    let again = { CommandDigest($0, low: digest.low, high: digest.high) }
    #expect(again(words("make", "a b")) == digest)
    for other in [
      words("make", "a", "b"), words("makea b"), words("make", "a b", ""), words("make"),
    ] {
      #expect(again(other) != digest)
    }
    #expect(try CommandDigest(words("make", "a b")) != digest)
  }
}
