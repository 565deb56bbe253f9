// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import Testing

@Suite struct TreeTests {
  @Test(
    arguments: [
      (0, 1), (4096, 1), (4097, 2), (262_144, 2), (262_145, 3), (16_777_216, 3), (1 << 40, 3),
    ] as [(UInt64, UInt8)])
  func `a tree is as deep as its items ask for`(count: UInt64, depth: UInt8) {
    #expect(Tree.depth(for: count) == depth)
  }

  @Test func `a bucket is the tag's first bits, the first the most significant`() {
    var bytes = [UInt8](repeating: 0xFF, count: 16)
    bytes.replaceSubrange(0..<3, with: [0b1010_1101, 0b1100_0011, 0b0101_1010])
    let tag = ItemTag(bytes.span)
    #expect(Tree.bucket(of: tag, depth: 1) == 0b101011)
    #expect(Tree.bucket(of: tag, depth: 2) == 0b1010_1101_1100)
    #expect(Tree.bucket(of: tag, depth: 3) == 0b10_1011_0111_0000_1101)
  }

  @Test func `a node's number is level and index`() {
    #expect(Tree.nodeID(level: 0, index: 0) == 0)
    #expect(Tree.nodeID(level: 2, index: 4095) == 0x2_0000_0FFF)
  }

  @Test func `tags are ordered as their bytes are`() {
    let tags: [ItemTag] = [identifier(0), identifier(1), identifier(0x7F), identifier(0x80)]
    #expect(tags.shuffled().sorted() == tags)
    #expect(ItemTag.zero.bytes == [UInt8](repeating: 0, count: 16))
    let tag: ItemTag = identifier(0xAB)
    #expect(tag.hexadecimal == String(repeating: "ab", count: 16))
  }
}

/// Each hash against its definition.
@Suite struct TreeHashTests {
  private let vault: VaultID = identifier(9)
  private let facts = RowFacts(
    tag: identifier(1), id: identifier(2), revision: 3, generation: 4, protection: .protected,
    kind: .deleted)

  private func tree() throws -> TreeHash { TreeHash(key: try key(from: 1), vault: vault) }

  private func expected(_ domain: UInt8, _ parts: [[UInt8]]) throws -> [UInt8] {
    try hash([[domain]] + parts, key: try key(from: 1))
  }

  @Test func `a leaf hashes facts, both ciphertexts' names and the history`() throws {
    let meta = (0..<100).map { UInt8($0) }
    let body = (100..<200).map { UInt8($0) }
    let leaf = try tree().leaf(facts, meta: meta.span, body: body.span, history: digest(5))
    let numbers = little(UInt64(3)) + little(UInt32(4)) + [1, 1]
    let names = [
      Array(meta[..<56]), Array(meta[84...]), Array(body[..<56]), Array(body[84...]),
    ]
    let parts = [facts.tag.bytes, facts.id.bytes, numbers] + names + [digest(5).bytes]
    #expect(try leaf.bytes == expected(0, parts))
  }

  @Test func `a ciphertext too short to be one is damage`() throws {
    let (long, short) = ([UInt8](repeating: 0, count: 72), [UInt8](repeating: 0, count: 71))
    let tree = try tree()
    #expect(failure { _ = try tree.leaf(facts, meta: short.span, body: long.span) } == .damaged)
    #expect(failure { _ = try tree.leaf(facts, meta: long.span, body: short.span) } == .damaged)
    #expect(failure { _ = try tree.leaf(facts, meta: long.span, body: long.span) } == nil)
  }

  @Test func `a history head is zero without a history`() throws {
    let list = [UInt8](repeating: 4, count: 80)
    let head = try tree().historyHead(of: identifier(2), list: list.span)
    #expect(try head.bytes == expected(3, [facts.id.bytes, list]))
    #expect(try tree().historyHead(of: identifier(2), list: Span()) == .zero)
  }

  @Test func `a bucket hashes vault, depth, number, count and leaves; an empty one is zero`() throws
  {
    let leaves = [UInt8](repeating: 4, count: 96)
    let bucket = try tree().bucket(70, depth: 2, leaves: leaves.span)
    let head = vault.bytes + [2] + little(UInt32(70)) + little(UInt32(2))
    #expect(try bucket.bytes == expected(1, [head, leaves]))
    #expect(try tree().bucket(70, depth: 2, leaves: Span()) == .zero)
  }

  @Test func `one after the other they come to the same`() throws {
    let tree = try tree()
    var hasher = try tree.hasher()
    for count in [72, 400, 72] {
      let sealed = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      for list in [[], [UInt8](repeating: 4, count: 40)] {
        let head = try tree.historyHead(of: facts.id, list: list.span)
        let leaf = try tree.leaf(facts, meta: sealed.span, body: sealed.span, history: head)
        let again = try hasher.leaf(
          facts, meta: sealed.span, body: sealed.span, list: list.span)
        #expect(leaf == again)
      }
      let leaves = [UInt8](repeating: 4, count: 48 * count)
      let bucket = try tree.bucket(70, depth: 2, leaves: leaves.span)
      #expect(hasher.bucket(70, depth: 2, leaves: leaves.span) == bucket)
      #expect(hasher.bucket(70, depth: 2, leaves: Span()) == .zero)
    }
    let short = [UInt8](repeating: 0, count: 71)
    #expect(
      failure {
        _ = try hasher.leaf(facts, meta: short.span, body: short.span, list: Span())
      } == .damaged)
  }

  @Test func `tags one after the other come to the same`() throws {
    let key = try key(from: 1)
    var hasher = try TagHasher(key: key)
    for name in ["a", "b/c", String(repeating: "long/", count: 100) + "x", "a"] {
      let bytes = Array(name.utf8)
      #expect(try hasher.tag(of: bytes.span) == ItemName.tag(of: bytes.span, under: key))
    }
  }

  @Test func `a node hashes vault, depth, level, index and children`() throws {
    let children = [UInt8](repeating: 4, count: 2048)
    let node = try tree().node(level: 1, index: 63, depth: 2, digests: children.span)
    let head = vault.bytes + [2, 1] + little(UInt32(63))
    #expect(try node.bytes == expected(2, [head, children]))
  }

  @Test func `a fingerprint hashes the root`() throws {
    let root = RootRecord(
      epoch: 1, itemCount: 0, deletedCount: 0, depth: 1, treeRoot: .zero, headerDigest: .zero,
      previous: .zero, writer: .zero, time: 0)
    #expect(try tree().fingerprint(of: root).bytes == expected(5, [root.encoded]))
  }
}

@Suite struct HeaderDigestTests {
  @Test func `it hashes header, ring and each slot with their lengths`() throws {
    let key = try key(from: 1)
    let (header, ring) = ([1, 2] as [UInt8], [3, 4, 5] as [UInt8])
    var digest = try HeaderDigest(key: key, header: header.span, ring: ring.span, slotCount: 2)
    digest.add(slot: 0, header: header.span, key: ring.span, protected: Span())
    digest.add(slot: 15, header: ring.span, key: header.span, protected: ring.span)
    let two = little(UInt32(2)) + header
    let three = little(UInt32(3)) + ring
    let slots = [0] + two + three + little(UInt32(0)) + [15] + three + two + three
    let expected = try hash([[4], two, three, little(UInt16(2)), slots], key: key)
    #expect(digest.finalize().bytes == expected)
  }
}

@Suite struct AssociatedDataTests {
  private let vault: VaultID = identifier(9)
  private let facts = RowFacts(tag: identifier(1), id: identifier(2), revision: 3, generation: 4)

  @Test func `each kind is its number and what it is bound to`() {
    let header = SlotHeader(kind: .recoveryKey, kdf: nil, salt: .zero, id: .zero)
    let rest = facts.id.bytes + little(UInt64(3)) + little(UInt32(4)) + [0, 0]
    let all: [(AssociatedData, [UInt8])] = [
      (.slotKey(vault: vault, header: header), [1] + vault.bytes + header.encoded),
      (.slotProtected(vault: vault, header: header), [2] + vault.bytes + header.encoded),
      (.ring(vault: vault), [3] + vault.bytes), (.root(vault: vault), [4] + vault.bytes),
      (.meta(vault: vault, facts: facts), [5] + vault.bytes + facts.tag.bytes + rest),
      (.body(vault: vault, facts: facts), [6] + vault.bytes + rest),
      (
        .chunk(value: identifier(3), number: 258, isLast: true),
        [7] + [UInt8](repeating: 3, count: 16) + little(UInt64(258)) + [1]
      ),
      (
        .protectedValue(vault: vault, item: facts.id, revision: 3),
        [8] + vault.bytes + facts.id.bytes + little(UInt64(3))
      ),
    ]
    for (data, expected) in all { #expect(bytes(data.span) == expected) }
  }
}
