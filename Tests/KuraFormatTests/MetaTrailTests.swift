// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct MetaTrailTests {
  /// A meta of layout 2, of which each part can be bent.
  private struct Sample {
    var name = Array("a/b".utf8)
    var attributes = [("k", "v")]
    var secrets: [(String, UInt32)] = [("user", 5)]
    var depth: UInt64 = 4
    var vector: [(UInt8, UInt64)] = [(3, 9), (5, 2)]
    var own: UInt16 = 0
    var stamps: [(device: UInt16, counter: UInt64, depth: UInt64, id: UInt8)] = [
      (1, 2, 1, 0x51), (0, 8, 3, 0x50),
    ]
    var fields: [[UInt16]] = [[2, 0, 1], [1], [0], [2]]
    var deleted: [(String, [UInt16])] = [("old", [0])]
    var sides: [UInt64] = [2, 6]
    var size: UInt64 = 44

    var encoded: [UInt8] {
      var out = [2] + little(UInt64(10)) + little(UInt64(11)) + little(size)
      out += little(UInt16(name.count)) + name + KuraFormatTests.encoded(attributes)
      out += little(UInt16(secrets.count))
      for (key, size) in secrets { out += little(UInt16(key.utf8.count)) + key.utf8 + little(size) }
      out += [UInt8](repeating: 0x77, count: 16) + little(depth) + little(UInt16(vector.count))
      for (device, counter) in vector {
        out += [UInt8](repeating: device, count: 16) + little(counter)
      }
      out += little(own) + little(UInt16(stamps.count))
      for stamp in stamps {
        out += little(stamp.device) + little(stamp.counter) + little(stamp.depth)
        out += [UInt8](repeating: stamp.id, count: 16)
      }
      for field in fields { out += [UInt8(field.count)] + field.flatMap { little($0) } }
      out += little(UInt16(deleted.count))
      for (key, field) in deleted {
        out += little(UInt16(key.utf8.count)) + key.utf8 + [UInt8(field.count)]
        out += field.flatMap { little($0) }
      }
      return out + little(UInt16(sides.count)) + sides.flatMap { little($0) }
    }

    func with(_ change: (inout Sample) -> Void) -> [UInt8] {
      var copy = self
      change(&copy)
      return copy.encoded
    }
  }

  private func stamp(
    _ id: UInt8, depth: UInt64, _ device: UInt8, _ counter: UInt64
  ) -> RevisionStamp {
    RevisionStamp(
      id: identifier(id), depth: depth,
      entry: RevisionEntry(device: identifier(device), counter: counter))
  }

  private func decode(_ encoded: [UInt8]) throws -> ItemMeta {
    try ItemMeta.decode(try secret(encoded), of: .second)
  }

  private struct NoTrail: Error {}

  private func trail(of meta: borrowing ItemMeta) throws -> MetaTrail {
    guard let trail = try meta.view.trail() else { throw NoTrail() }
    return trail
  }

  private func fits(
    _ meta: borrowing ItemMeta, _ kind: ItemKind, _ revision: UInt64 = 7
  ) -> Bool {
    meta.view.fits(kind, revision: revision)
  }

  /// The keys of the secret attributes, with the sizes of their values.
  private func secrets(of meta: borrowing ItemMeta) -> [String] {
    var cursor = meta.view.makeSecretCursor()
    var found: [String] = []
    while cursor.advance() {
      found.append("\(String(decoding: bytes(cursor.key), as: UTF8.self)) \(cursor.size)")
    }
    return found
  }

  @Test func `a meta of layout 2 says what its revision follows`() throws {
    let meta = try decode(Sample().encoded)
    #expect(bytes(meta.name) == Array("a/b".utf8))
    #expect(pairs(meta.attributes) == ["k=v"])
    let trail = try trail(of: meta)
    let own = stamp(0x77, depth: 4, 3, 9)
    let (first, second) = (stamp(0x51, depth: 1, 5, 2), stamp(0x50, depth: 3, 3, 8))
    #expect(trail.lineage.stamp == own)
    #expect(trail.lineage.vector.covers(first.entry))
    #expect(trail.value == [second, own, first])
    #expect(trail.name == [first])
    #expect(trail.attributes == [[own]])
    #expect(trail.secrets == [[second]])
    #expect(trail.deleted == [[own]])
    #expect(trail.sides == [2, 6])
    let keys = secrets(of: meta)
    #expect(keys == ["user 5"])
  }

  @Test func `what was read is written as it was`() throws {
    let samples = [
      Sample().encoded,
      Sample().with {
        $0.secrets = []
        $0.deleted = []
        $0.sides = []
        $0.fields = [[0], [1], [2]]
      },
      Sample().with {
        $0.stamps = []
        $0.fields = [[], [0], [0], [0]]
        $0.depth = 1
        $0.deleted = []
      },
      purged,
    ]
    for encoded in samples {
      let meta = try decode(encoded)
      let trail = try trail(of: meta)
      let again = try ItemMeta(
        name: meta.name, created: meta.created, modified: meta.modified, size: meta.size,
        attributes: meta.attributes, trail: trail)
      #expect(bytes(again.encoded) == encoded)
    }
  }

  private var purged: [UInt8] {
    Sample().with {
      $0.name = []
      $0.attributes = []
      $0.secrets = []
      $0.stamps = []
      $0.fields = [[], []]
      $0.deleted = []
      $0.sides = []
      $0.size = 0
    }
  }

  @Test func `a vault of format 1 has no such meta, and one of format 2 both`() throws {
    #expect(failure { _ = try ItemMeta.decode(secret(Sample().encoded)) } == .damaged)
    let old = [1] + Array(Sample().encoded[1..<30]) + encoded([("k", "v")])
    let meta = try decode(old)
    #expect(throws: NoTrail.self) { _ = try trail(of: meta) }
    let keys = secrets(of: meta)
    #expect(keys.isEmpty)
  }

  @Test func `a row's kind and number have to fit`() throws {
    let meta = try decode(Sample().encoded)
    var told = [fits(meta, .value), fits(meta, .value, 6), fits(meta, .deleted)]
    #expect(told == [true, false, false])
    let without = try decode(
      Sample().with {
        $0.secrets = []
        $0.fields = [[], [1], [0]]
        $0.stamps = [(1, 2, 1, 0x51)]
        $0.size = 0
      })
    told = [fits(without, .deleted), fits(without, .value)]
    #expect(told == [true, false])
    let gone = try decode(purged)
    told = [fits(gone, .deleted), fits(gone, .value)]
    #expect(told == [false, false])
  }

  @Test func `what breaks a rule is damage`() {
    let sample = Sample()
    let broken: [String: [UInt8]] = [
      "layout": [3] + sample.encoded.dropFirst(),
      "no name": sample.with { $0.name = [] },
      "secrets ascend": sample.with {
        $0.secrets = [("user", 1), ("url", 1)]
        $0.fields.append([0])
      },
      "secret key": sample.with { $0.secrets = [("a=", 1)] },
      "secret too long": sample.with { $0.secrets = [("user", 65_537)] },
      "secret is public too": sample.with { $0.secrets = [("k", 1)] },
      "deleted is public too": sample.with { $0.deleted = [("k", [0])] },
      "deleted is secret too": sample.with { $0.deleted = [("user", [0])] },
      "deleted ascend": sample.with { $0.deleted = [("b", [0]), ("a", [0])] },
      "deleted by nobody": sample.with { $0.deleted = [("old", [])] },
      "depth 0": sample.with { $0.depth = 0 },
      "depth": sample.with { $0.depth = (1 << 40) + 1 },
      "stamp as deep": sample.with { $0.depth = 3 },
      "no vector": sample.with { $0.vector = [] },
      "vector ascends": sample.with { $0.vector = [(5, 9), (3, 9)] },
      "vector twice": sample.with { $0.vector = [(5, 9), (5, 9)] },
      "counter 0": sample.with { $0.vector = [(3, 9), (5, 0)] },
      "counter": sample.with { $0.vector = [(3, 1 << 63), (5, 2)] },
      "own": sample.with { $0.own = 2 },
      "stamp's device": sample.with { $0.stamps[0].device = 2 },
      "stamp unknown": sample.with { $0.stamps[0].counter = 3 },
      "stamp's counter 0": sample.with { $0.stamps[0].counter = 0 },
      "stamp's depth 0": sample.with { $0.stamps[0].depth = 0 },
      "stamp is own": sample.with { $0.stamps[1].id = 0x77 },
      "stamps ascend": sample.with { $0.stamps[0].depth = 3 },
      "stamp twice": sample.with { $0.stamps[0] = $0.stamps[1] },
      "stamp of nothing": sample.with {
        $0.fields[0] = [0, 1]; $0.fields[3] = [0]
      },
      "stamp that is none": sample.with { $0.fields[1] = [1, 3] },
      "name by nobody": sample.with { $0.fields[1] = [] },
      "attribute by nobody": sample.with { $0.fields[2] = [] },
      "contents ascend": sample.with { $0.fields[0] = [2, 1, 0] },
      "content twice": sample.with { $0.fields[0] = [2, 0, 1, 2] },
      "sides ascend": sample.with { $0.sides = [6, 2] },
      "side 0": sample.with { $0.sides = [0] },
      "too many sides": sample.with { $0.sides = (1...256).map { UInt64($0) } },
    ]
    for (rule, encoded) in broken {
      #expect(failure { _ = try decode(encoded) } == .damaged, "\(rule)")
    }
    for cut in cuts(sample.encoded) { #expect(failure { _ = try decode(cut) } == .damaged) }
  }

  @Test func `numbers are not believed before as many bytes are there`() {
    for (rule, encoded) in [
      ("vector", Sample().with { $0.vector = (0..<513).map { (UInt8($0 & 255), 1) } }),
      ("purged with more", Sample().with { $0.name = [] }),
    ] {
      #expect(failure { _ = try decode(encoded) } == .damaged, "\(rule)")
    }
    // Secret attributes and stamps that are announced and do not come.
    let start = Sample().encoded.firstIndex(of: 0x77) ?? 0
    for place in [start + 24, start + 24 + 2 + 48 + 2] {
      var encoded = Sample().encoded
      encoded[place] = 0xFF
      encoded[place + 1] = 0x01
      #expect(failure { _ = try decode(encoded) } == .damaged)
    }
  }

  @Test func `64 KiB of attributes leave room for what the revision follows`() throws {
    let value = String(repeating: "v", count: 65_536 - 27 - 3 - 9)
    #expect(try decode(Sample().with { $0.attributes = [("k", value)] }).attributes.count == 1)
    let longer = Sample().with { $0.attributes = [("k", value + "v")] }
    #expect(failure { _ = try decode(longer) } == .damaged)
  }

  @Test func `mutated metas are refused or read, never a trap`() {
    for changed in Mutations(of: Sample().encoded, count: 4000) {
      _ = failure {
        let meta = try decode(changed)
        guard let trail = try meta.view.trail() else { return }
        let again = try ItemMeta(
          name: meta.name, created: meta.created, modified: meta.modified, size: meta.size,
          attributes: meta.attributes, trail: trail)
        #expect(bytes(again.encoded) == changed)
      }
    }
  }
}

@Suite struct OldRevisionTests {
  private let facts = RowFacts(
    tag: identifier(1), id: identifier(2), revision: 5, generation: 3, protection: .protected)

  private func meta(_ name: String = "a") throws -> ItemMeta {
    let sent = encoded([("k", "v")])
    let attributes = try Attributes(unsorted: sent.span)
    let name = Array(name.utf8)
    return try ItemMeta(
      name: name.span, created: 1, modified: 2, size: 3, attributes: attributes.list)
  }

  private func hash(_ bytes: [UInt8]) throws -> [UInt8] {
    var hash = try KeyedHash(keyBytes: Span(), byteCount: 16)
    hash.update(bytes.span)
    return KuraFormatTests.bytes(of: try hash.finalizeSecret())
  }

  @Test func `its id is of what format 1 says of it, but the value`() throws {
    let meta = try meta()
    let trail = try MetaTrail(old: meta.view, of: facts)
    let expected = try hash(
      Array("kura1/revision".utf8) + facts.id.bytes + little(UInt64(5)) + [1, 0]
        + bytes(meta.encoded))
    #expect(trail.lineage.stamp.id.bytes == expected)
    let device = try hash(Array("kura1/old-item".utf8) + facts.id.bytes)
    #expect(trail.lineage.stamp.entry.device.bytes == device)
    #expect(trail.lineage.stamp.entry.counter == 5 && trail.lineage.stamp.depth == 5)
    #expect(trail.lineage.vector.entries == [trail.lineage.stamp.entry])
    #expect(trail.value == [trail.lineage.stamp] && trail.name == trail.value)
    #expect(trail.attributes == [trail.value])
  }

  @Test func `a later revision of the same copy follows it, another name is another one`() throws {
    let first = try lineage(facts)
    var next = facts
    next.revision = 6
    #expect(try lineage(next, "b").follows(first))
    let renamed = try lineage(facts, "b")
    #expect(renamed.stamp.id != first.stamp.id)
    #expect(!renamed.follows(first))
  }

  private func lineage(_ facts: RowFacts, _ name: String = "a") throws -> Lineage {
    let meta = try meta(name)
    return try MetaTrail(old: meta.view, of: facts).lineage
  }

  @Test func `a deleted one has no value, and the generation does not count`() throws {
    var gone = facts
    gone.kind = .deleted
    let meta = try meta()
    #expect(try MetaTrail(old: meta.view, of: gone).value.isEmpty)
    var later = facts
    later.generation = 9
    #expect(try lineage(facts) == lineage(later))
    later.revision = 1 << 63
    #expect(failure { _ = try lineage(later) } == .damaged)
    later.revision = 1 << 41
    #expect(try lineage(later).stamp.depth == 1 << 40)
  }
}
