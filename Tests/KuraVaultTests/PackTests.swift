// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// A pack of another copy is that copy, as far as it goes.
@Suite struct `What a copy has for others` {
  @Test func `brings them what they have not`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", Array("1".utf8), .create, ["k": "1"])
      try vault.put("b", "1")
      try vault.put("gone", "1")
      try vault.upload("long", pattern(200_000))
    }
    try pair.part()
    try pair.here { vault throws in
      try vault.put("a", "2")
      try vault.put("new/here", "x")
      _ = try vault.move(Array("b".utf8).span, to: Array("c".utf8).span)
    }
    try pair.there { vault throws in
      try vault.put("b", "2")
      try vault.setSecret("pin", "4711", of: "b")
      try vault.upload("longer", pattern(1_300_000, seed: 3))
      try vault.remove("long")
      _ = try vault.purge(Array("gone".utf8).span, .item)
      _ = try vault.protect(Array("a".utf8).span)
      try vault.setPolicy(.idleTimeout, to: 60_000)
    }
    let there = try Cargo(of: pair.second)
    #expect(there.packs.count > 1 && there.pieces.count == 3)
    var report = pair.report(added: 1, changed: 3, settings: 1)
    report.purged = 1
    #expect(try there.unload(into: pair.first) == report)
    try pair.here { vault throws in
      #expect(try vault.names() == ["a", "c", "longer", "new/here"])
      #expect(try vault.getText("c") == "2")
      #expect(try vault.secretText("c", "pin") == "4711")
      #expect(try vault.openedText("a") == "2")
      #expect(try vault.get("longer") == pattern(1_300_000, seed: 3))
      #expect(try vault.findings() == [])
    }
    // What was taken once is no news.
    #expect(try there.unload(into: pair.first) == MergeReport())
    _ = try Cargo(of: pair.first).unload(into: pair.second)
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    #expect(try pair.merge() == MergeReport())
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        try vault.sweepAll()
        #expect(try vault.findings() == [])
      }
    }
  }

  @Test func `is what changed since all of it was there and nothing else`() throws {
    let pair = try Copies(ofFirstFormat: true)
    try pair.here { vault throws in for name in ["a", "b", "c"] { try vault.put(name, "1") } }
    try pair.first.takeOver()
    try pair.part()
    try pair.here { try $0.put("a", "2") }
    let first = try pair.first.coverage()
    func items(_ coverage: PackCoverage) throws -> Int {
      var vault = try pair.first.unlock()
      let count = try vault.packableItems(beyond: coverage).count
      vault.fold()
      return count
    }
    #expect(try items(.nothing) == 3)
    #expect(try items(PackCoverage(covered: RevisionVector())) == 1)
    #expect(try items(first) == 0)
    try pair.here { vault throws in
      try vault.put("b", "2")
      try vault.put("b", "3")
    }
    #expect(try items(first) == 1)
    try pair.there { try $0.put("b", "4") }
    let news = try Cargo(of: pair.first, beyond: first)
    #expect(news.packs.count == 1)
    #expect(try news.unload(into: pair.second) == pair.report(changed: 1, conflicting: 1))
    try pair.there { vault throws in #expect(try vault.getText("b", revision: 1) == "1") }
    // Sides that were brought together are nobody's news where both are there.
    #expect(try Cargo(of: pair.second).unload(into: pair.first).conflicting == 1)
    let all = try pair.first.coverage(and: pair.second)
    let none = try Cargo(of: pair.first, beyond: all)
    #expect(try none.packs.count == 1 && none.unload(into: pair.second) == MergeReport())
    let empty = try Cargo(of: pair.first, beyond: all, limit: .max).packs
    let vault = try pair.first.unlock()
    let nothing = try vault.sealed(PackWriter(), at: Cargo.place).count
    vault.fold()
    #expect(empty.map(\.count) == [nothing])
  }

  @Test func `brings the latest of what others set before, and not all of it`() throws {
    let pair = try Copies()
    let third = try TestVault.machine(3)
    try Copies.copy(pair.first, to: third)
    for number in 0..<10 {
      try pair.here { try $0.put("a", "\(number)" + String(repeating: "x", count: 1_800)) }
    }
    let known = try pair.first.coverage()
    try pair.part()
    try pair.there { try $0.put("a", "now") }
    _ = try Cargo(of: pair.second, beyond: known).unload(into: third)
    let values = try third.allValues().map { $0.prefix(3) }.sorted()
    #expect(values == ["6xx", "7xx", "8xx", "9xx", "now"])
  }

  @Test func `leaves out of a history what has no room beside a long value`() throws {
    let file = try TestVault.machine(3)
    try file.createOfFirstFormat()
    try file.takeOver()
    try file.fill { vault throws in
      for number in 0..<10 { try vault.put("a", "\(number)") }
      try vault.upload("a", pattern(200_000))
    }
    var vault = try file.unlock()
    let item = try #require(try vault.packableItems(beyond: .nothing).first)
    var writer = try PackWriter()
    let step = try vault.pack(item, beyond: .nothing, into: &writer, upTo: .max, at: [:])
    guard case .lacksPieces(let values) = step else { throw VaultError.notFound }
    let piece = PackedValue.Piece(hash: [UInt8](repeating: 1, count: 32), length: 1)
    let pieces = [PackedValue.Piece](repeating: piece, count: 50)
    let known = [values[0]: PackedValue(values[0], of: Cargo.place.device, in: pieces)]
    var counts: Set<Int> = []
    for limit in 3_000..<8_000 {
      writer = try PackWriter()
      #expect(
        try vault.pack(item, beyond: .nothing, into: &writer, upTo: limit, at: known) == .isIn)
      #expect(writer.byteCount <= limit)
      counts.insert(writer.byteCount)
    }
    #expect(counts.count > 5)
    vault.fold()
  }

  @Test func `has every content that stands, whichever row set it`() throws {
    let pair = try Copies()
    try pair.here { try $0.put("a", "1") }
    try pair.part()
    let third = try TestVault.machine(3)
    try Copies.copy(pair.first, to: third)
    try pair.here { try $0.put("a", "2") }
    try pair.there { try $0.put("a", "3") }
    _ = try pair.merge()
    let known = try pair.first.coverage(and: pair.second)
    try pair.here { vault throws in
      try vault.setAttributes(Array("a".utf8).span, try edits(["k": "1"]))
    }
    let report = try Cargo(of: pair.first, beyond: known).unload(into: third)
    #expect(report == pair.report(changed: 1, conflicting: 1))
    #expect(try third.allValues().isSuperset(of: ["2", "3"]))
  }

  @Test(arguments: 0..<Copies.runs)
  func `comes to the same in the end in whatever order it is carried`(_ run: Int) throws {
    let seed = Copies.seed()
    var dice = SystemDice(seed: seed)
    let copies = try (0..<3).map { number in try TestVault.machine(number) }
    try copies[0].createOfFirstFormat()
    try copies[0].takeOver()
    try copies[0].fill { vault throws in
      try vault.setPolicy(.historyDepth, to: 1_000)
      for name in ["a", "b", "c"] { try vault.put(name, "\(name) 0") }
    }
    for other in copies.dropFirst() { try Copies.copy(copies[0], to: other) }
    var purged: Set<String> = []
    var log = ["seed \(seed)"]
    // What was pushed and is not taken yet: it comes late, twice, or never.
    var store: [Cargo] = []
    for step in 0..<30 {
      let place = dice.below(3)
      switch dice.below(6) {
      case 0:
        log.append("\(place) pushes")
        store.append(try Cargo(of: copies[place]))
      case 1 where !store.isEmpty:
        log.append("\(place) pulls")
        let before = try copies[place].allValues()
        _ = try store[dice.below(store.count)].unload(into: copies[place])
        let lost = before.subtracting(try copies[place].allValues()).subtracting(purged)
        #expect(lost == [], "\(log)")
      default:
        try copies[place].fill { vault throws in
          log.append("\(place): " + (try vault.change(step, &dice, &purged)))
        }
      }
      let findings = try copies[place].unlockedFindings()
      try #require(findings == [], "\(log)")
    }
    for _ in 0..<2 {
      for place in 0..<3 {
        let cargo = try Cargo(of: copies[place])
        for other in 1...2 { _ = try cargo.unload(into: copies[(place + other) % 3]) }
      }
    }
    let states = try copies.map { try Copies.state($0, opening: false) }
    #expect(states[0] == states[1], "\(log)")
    #expect(states[0] == states[2], "\(log)")
    for copy in copies { #expect(try copy.unlockedFindings() == []) }
    // The same by files finds nothing more to do.
    #expect(try Copies.merge(copies[0], into: copies[1]) == MergeReport(), "\(log)")
  }
}

/// What is not as a device of the vault wrote it there is not taken, and nothing of it.
@Suite struct `A pack that is none` {
  let pair: Copies
  let cargo: Cargo

  init() throws {
    pair = try Copies()
    try pair.here { try $0.put("a", "1") }
    try pair.part()
    try pair.there { vault throws in
      try vault.put("a", "2")
      try vault.upload("long", pattern(150_000))
    }
    cargo = try Cargo(of: pair.second, limit: .max)
  }

  /// What taking a pack in comes to.
  private func failure(
    _ pack: [UInt8], at place: ObjectPlace = Cargo.place, into file: TestVault? = nil
  ) throws -> VaultError? {
    var failure: VaultError?
    try (file ?? pair.first).fill { vault throws in
      do { _ = try vault.merge(Cargo.opened(pack, by: vault, at: place)) } catch {
        failure = error as? VaultError
      }
    }
    return failure
  }

  @Test func `is refused wherever a byte of it is another one`() throws {
    let pack = cargo.packs[0]
    for at in stride(from: 0, to: pack.count, by: pack.count / 40) {
      var other = pack
      other[at] ^= 0x20
      #expect(try failure(other) == .copyDamaged, "\(at)")
    }
    #expect(try failure(Array(pack.dropLast())) == .copyDamaged)
    #expect(try failure([]) == .copyDamaged)
    try pair.here { vault throws in
      #expect(throws: VaultError.copyDamaged) {
        _ = try vault.openPack(
          pack.span, named: [UInt8](repeating: 0, count: 32), at: Cargo.place, beside: nil)
      }
      #expect(try vault.getText("a") == "1")
    }
  }

  @Test func `is refused at another device, in another epoch, and of another vault`() throws {
    let (device, epoch) = (Cargo.place.device, Cargo.place.epoch)
    #expect(
      try failure(cargo.packs[0], at: ObjectPlace(device: .zero, epoch: epoch)) == .copyDamaged)
    #expect(
      try failure(cargo.packs[0], at: ObjectPlace(device: device, epoch: .zero)) == .copyDamaged)
    let other = try TestVault(creating: false)
    try other.createOfFirstFormat()
    #expect(try failure(cargo.packs[0], into: other) == .takesNewFormat)
    try other.takeOver()
    #expect(try failure(cargo.packs[0], into: other) == .copyDamaged)
    #expect(throws: VaultError.takesNewFormat) {
      let old = try TestVault(creating: false)
      try old.createOfFirstFormat()
      _ = try Cargo(of: old)
    }
  }

  @Test
  func `is not taken before the pieces of its long values, and they go where nothing names them`()
    throws
  {
    #expect(try failure(cargo.packs[0]) == .copyDamaged)
    try pair.here { vault throws in
      #expect(try vault.getText("a") == "1")
      #expect(try vault.names() == ["a"])
      let piece = cargo.pieces[0]
      let name = try RemoteObject.name(of: piece.object.span)
      for (value, first) in [(ValueID.zero, UInt64(0)), (piece.value, 16)] {
        #expect(throws: VaultError.copyDamaged) {
          try vault.takePiece(
            piece.object, named: name, of: value, from: first, at: Cargo.place)
        }
      }
      #expect(throws: VaultError.copyDamaged) {
        let other = [UInt8](repeating: 7, count: name.count)
        try vault.takePiece(
          piece.object, named: other, of: piece.value, from: 0, at: Cargo.place)
      }
      try vault.takePiece(
        piece.object, named: name, of: piece.value, from: 0, at: Cargo.place)
      #expect(try vault.findings() == [])
    }
    try pair.here { try $0.sweepAll() }
    #expect(pair.first.attack("SELECT count(*) FROM chunk") == ["0"])
    #expect(try cargo.unload(into: pair.first) == pair.report(added: 1, changed: 1))
    try pair.here { vault throws in
      #expect(try vault.get("long") == pattern(150_000))
      try vault.sweepAll()
      #expect(try vault.findings() == [])
    }
  }

  /// A pack with one row, or the same again, of a new item, by somebody who has the keys.
  private func made(
    body: [UInt8], size: UInt64 = 1, protection: ProtectionClass = .standard, count: Int = 1,
    purged: RevisionVector = RevisionVector()
  ) throws -> [UInt8] {
    let entry = RevisionEntry(device: try .fresh(), counter: 1)
    let stamp = RevisionStamp(id: try .fresh(), depth: 1, entry: entry)
    let name = Array("made".utf8)
    let none = try KuraFormat.Attributes.empty()
    let meta = try ItemMeta(
      name: name.span, created: 1, modified: 1, size: size, attributes: none.list,
      trail: MetaTrail(Lineage(stamp: stamp), attributeCount: 0))
    var writer = try PackWriter()
    try writer.add(item: .fresh(), purged: purged, rows: count)
    for _ in 0..<count {
      try writer.add(row: 0, protection, .value, meta: meta.encoded, body: body.span)
    }
    let vault = try pair.first.unlock()
    let pack = try vault.sealed(writer, at: Cargo.place)
    vault.fold()
    return pack
  }

  @Test func `is refused for a row that no vault has`() throws {
    #expect(try failure(made(body: [0, 0x31])) == nil)
    #expect(try failure(made(body: [0, 0x31, 0x32])) == .copyDamaged)
    #expect(try failure(made(body: [9, 0x31])) == .copyDamaged)
    #expect(try failure(made(body: [])) == .copyDamaged)
    #expect(try failure(made(body: [0, 0x31], protection: .protected)) == .copyDamaged)
    #expect(try failure(made(body: [0, 0x31], count: 2)) == .copyDamaged)
    let purged = RevisionVector([RevisionEntry(device: try .fresh(), counter: 1)])
    #expect(try failure(made(body: [0, 0x31], purged: purged)) == .copyDamaged)
    let size: UInt64 = 100_000
    let value = try ItemBody.encode(Manifest(length: size, value: .fresh(), key: .fresh()))
    let body = value.bytes.indices.map { value.bytes[$0] }
    let pack = try made(body: body, size: size)
    try pair.here { vault throws in
      // Nobody says where its pieces are: that is found before anybody looks for them.
      #expect(throws: VaultError.copyDamaged) { _ = try Cargo.opened(pack, by: vault) }
      #expect(try vault.names() == ["a", "made"])
    }
  }
}
