// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

/// What copies of a vault keep of each other: in the root, the ring, the devices, the journal and purged items.
@Suite struct CopyRecordTests {
  private func filled(_ byte: UInt8, _ count: Int = 16) -> [UInt8] {
    [UInt8](repeating: byte, count: count)
  }

  private func encodedLineage(_ id: UInt8 = 0x60, _ device: UInt8 = 3) -> [UInt8] {
    filled(id) + little(UInt64(2)) + little(UInt16(1)) + filled(device) + little(UInt64(4))
      + little(UInt16(0))
  }

  private func lineage(_ id: UInt8 = 0x60, _ device: UInt8 = 3) -> Lineage {
    Lineage(
      stamp: RevisionStamp(
        id: identifier(id), depth: 2, entry: RevisionEntry(device: identifier(device), counter: 4)))
  }

  // MARK: - The root

  private var root: [UInt8] {
    let numbers = little(UInt64(5)) + little(UInt64(4)) + little(UInt64(3)) + [2] + filled(0, 7)
    let digests = filled(10, 32) + filled(11, 32) + filled(12, 32)
    let copy = filled(20) + little(UInt64(77)) + filled(0, 8)
    return numbers + digests + copy + filled(14) + little(UInt64(15)) + filled(21, 32)
      + little(UInt64(9))
  }

  @Test func `a root of format 2 says which copy it is, in as many bytes`() throws {
    let copy = CopyState(
      device: identifier(20), counter: 77, journalHead: digest(21), journalCount: 9)
    let record = RootRecord(
      epoch: 5, itemCount: 4, deletedCount: 3, depth: 2, treeRoot: digest(10),
      headerDigest: digest(11), previous: digest(12), writer: identifier(14), time: 15, copy: copy)
    #expect(record.encoded == root && root.count == RootRecord.byteCount)
    let encoded = root
    #expect(try RootRecord(decoding: encoded.span, of: .second) == record)
    #expect(failure { _ = try RootRecord(decoding: encoded.span) } == .damaged)
    let zeros = [UInt8](repeating: 0, count: 16)
    let none = Array(encoded[..<128]) + zeros + encoded[144...]
    #expect(failure { _ = try RootRecord(decoding: none.span, of: .second) } == .damaged)
    for (place, byte) in [(151, 0x80), (152, 1), (159, 1), (216, 0)] {
      var broken = encoded
      broken[place] = UInt8(byte)
      #expect(failure { _ = try RootRecord(decoding: broken.span, of: .second) } == .damaged)
    }
    for cut in cuts(encoded) {
      #expect(failure { _ = try RootRecord(decoding: cut.span, of: .second) } == .damaged)
    }
  }

  @Test func `a header tells its format, and the digest covers the devices`() throws {
    let encoded = VaultHeader(vault: identifier(7), format: .second).encoded
    #expect(encoded[4] == 2)
    #expect(failure { _ = try VaultHeader(decoding: encoded.span) } == .newerFormat(2))
    #expect(try VaultHeader(decoding: encoded.span, upTo: .second).format == .second)
    var later = encoded
    later[4] = 3
    #expect(
      failure { _ = try VaultHeader(decoding: later.span, upTo: .second) } == .newerFormat(3))
    let (ring, devices): ([UInt8], [UInt8]) = ([1, 2], [3])
    let secret = try key(from: 1)
    let digest = try HeaderDigest(
      key: secret, header: encoded.span, ring: ring.span, devices: devices, slotCount: 0)
    let expected = try hash(
      [
        [4], little(UInt32(24)), encoded, little(UInt32(2)), ring, little(UInt32(1)), devices,
        [0, 0],
      ], key: secret)
    #expect(digest.finalize().bytes == expected)
    let shared = try HeaderDigest(
      key: secret, header: encoded.span, ring: ring.span, devices: devices, remote: [4, 5],
      slotCount: 0)
    let other = try hash(
      [
        [7], little(UInt32(24)), encoded, little(UInt32(2)), ring, little(UInt32(1)), devices,
        little(UInt32(2)), [4, 5], [0, 0],
      ], key: secret)
    #expect(shared.finalize().bytes == other)
  }

  // MARK: - The ring

  private func ring(_ ledger: [UInt8], layout: UInt8 = 3, notes: [UInt8] = [0]) -> [UInt8] {
    [layout] + little(UInt16(1)) + little(UInt32(1)) + [1] + little(UInt64(5)) + filled(9, 32)
      + filled(8, 32) + [0] + filled(0) + little(UInt16(0)) + notes + ledger
  }

  private func slotSide(_ id: UInt8 = 0x60, kind: UInt8 = 1, slots: ClosedRange<UInt8> = 1...2)
    -> [UInt8]
  {
    encodedLineage(id) + [UInt8(slots.count)]
      + slots.flatMap { filled($0) + [kind] + filled(3) + little(UInt64(1)) }
  }

  private func settingSide(_ id: UInt8 = 0x60) -> [UInt8] {
    encodedLineage(id) + little(UInt64(60_000))
  }

  private var waiting: [UInt8] {
    little(UInt16(48)) + filled(1, 48) + little(UInt16(2)) + [5, 6] + little(UInt16(0))
  }

  private func half(_ byte: UInt8) -> [UInt8] {
    filled(byte, 32) + filled(7, 32) + filled(6, 104)
  }

  private func ledger(
    slots: [[UInt8]] = [], settings: [[UInt8]] = [], waiting: [[UInt8]] = [],
    halves: [[UInt8]] = []
  ) -> [UInt8] {
    filled(0x11) + filled(0x22)
      + [slots, settings, waiting, halves].flatMap {
        [UInt8($0.count)] + $0.joined()
      }
  }

  private var full: [UInt8] {
    ledger(
      slots: [slotSide(), slotSide(0x61, kind: 3)],
      settings: [[1, 2] + settingSide() + settingSide(0x61), [200, 1] + settingSide()],
      waiting: [waiting, waiting], halves: [half(1), half(2)])
  }

  @Test func `a ring of format 2 keeps what copies have to know`() throws {
    let encoded = ring(full)
    let read = try Ring.decode(encoded.span, of: .second)
    let kept = read.ledger
    let ledger = try #require(kept)
    #expect(ledger.machine == identifier(0x11) && ledger.epoch == identifier(0x22))
    #expect(ledger.slots.map(\.lineage) == [lineage(), lineage(0x61)])
    #expect(ledger.slots[0].slots.map(\.id) == [identifier(1), identifier(2)])
    #expect(ledger.settings.map(\.key) == [1, 200])
    #expect(ledger.settings[0].sides.map(\.value) == [60_000, 60_000])
    #expect(ledger.waiting[0].key == [5, 6])
    #expect(ledger.formerHalves.map(\.publicHalf) == [filled(1, 32), filled(2, 32)])
    #expect(bytes(of: try read.encode()) == encoded)
    #expect(failure { _ = try Ring.decode(encoded.span) } == .damaged)
    for layout in [1, 2] as [UInt8] {
      let old = ring([], layout: layout, notes: [])
      #expect(failure { _ = try Ring.decode(old.span, of: .second) } == .damaged)
    }
    let plain = ring([], layout: 1, notes: [])
    var fresh = try Ring.decode(plain.span)
    fresh.ledger = CopyLedger(machine: identifier(0x11))
    #expect(
      bytes(of: try fresh.encode()) == ring(filled(0x11) + filled(0) + [0, 0, 0, 0]))
  }

  @Test func `255 machines change one thing, unless what they knew takes too much room`()
    throws
  {
    let ids = Array(0..<UInt8.max)
    let many = ring(
      ledger(
        slots: ids.map { slotSide($0) },
        settings: [[1, UInt8(ids.count)] + ids.flatMap { settingSide($0) }]))
    var read = try Ring.decode(many.span, of: .second)
    let kept = read.ledger
    var ledger = try #require(kept)
    #expect(ledger.slots.count == 255 && ledger.settings[0].sides.count == 255)
    #expect(bytes(of: try read.encode()) == many)
    // What could not be read again is not written.
    let known = RevisionVector(ids.map { RevisionEntry(device: identifier($0), counter: 1) })
    ledger.settings = [
      SettingSides(
        1,
        sides: ids.map { id in
          let stamp = RevisionStamp(
            id: identifier(id), depth: 2, entry: RevisionEntry(device: identifier(0), counter: 1))
          return SettingSides.Side(Lineage(stamp: stamp, following: known), value: 1)
        })
    ]
    read.ledger = ledger
    #expect(failure { _ = try read.encode() } == .tooManySides)
  }

  @Test func `a ring of format 2 that breaks a rule is damage`() throws {
    let broken: [[UInt8]] = [
      ledger(slots: [slotSide(), slotSide()]), ledger(slots: [slotSide(0x61), slotSide()]),
      ledger(slots: [slotSide(kind: 4)]), ledger(slots: [slotSide(kind: 7)]),
      ledger(slots: [slotSide(kind: 0)]), ledger(slots: [encodedLineage() + [0]]),
      ledger(slots: [slotSide(slots: 1...65)]),
      ledger(settings: [[1, 0]]),
      ledger(settings: [[1, 1] + settingSide(), [1, 1] + settingSide()]),
      ledger(settings: [[1, 2] + settingSide() + settingSide()]),
      ledger(waiting: [little(UInt16(47)) + filled(1, 47) + filled(0, 4)]),
      ledger(waiting: Array(repeating: waiting, count: 65)),
      ledger(halves: [half(2), half(1)]), ledger(halves: [half(1), half(1)]),
      ledger(halves: (0..<17).map { half($0) }),
    ]
    for (index, ledger) in broken.enumerated() {
      let encoded = ring(ledger)
      #expect(failure { _ = try Ring.decode(encoded.span, of: .second) } == .damaged, "\(index)")
    }
    for cut in cuts(ring(full)) {
      #expect(failure { _ = try Ring.decode(cut.span, of: .second) } == .damaged)
    }
    for changed in Mutations(of: ring(full)) {
      _ = failure {
        let again = try Ring.decode(changed.span, of: .second).encode()
        #expect(bytes(again.bytes) == changed)
      }
    }
  }

  // MARK: - Devices, journal, purged items

  private func device(
    _ id: UInt8, flags: UInt8 = 3, head: UInt8 = 5, complete: UInt64 = 9, removed: UInt64 = 4,
    key: UInt8 = 6, label: String = "desk"
  ) -> [UInt8] {
    let place = little(UInt64(head)) + filled(head)
    let front = filled(id) + [flags] + little(UInt64(7)) + filled(8) + place + place
    return front + little(complete) + little(removed) + filled(11) + filled(key, 32)
      + little(UInt16(label.utf8.count)) + label.utf8
  }

  private func devices(_ notes: [[UInt8]], layout: UInt8 = 1) -> [UInt8] {
    [layout] + little(UInt16(notes.count)) + notes.joined()
  }

  @Test func `the devices are read as they were written`() throws {
    let encoded = devices([
      device(1), device(2, flags: 0, head: 0, removed: 0, key: 0, label: ""),
      device(3, flags: 1, removed: 0), device(4, flags: 2, removed: 0, key: 0),
    ])
    let table = try DeviceTable(decoding: encoded.span)
    #expect(table.notes.map(\.removedAt) == [4, nil, nil, 0])
    let note = try #require(table[identifier(1)])
    #expect(note.heard == HeadPlace(number: 5, id: identifier(5)) && note.taken == note.heard)
    #expect(note.heardTime == 7 && note.epoch == identifier(8) && note.complete == 9)
    #expect(note.kept == identifier(11) && note.key == filled(6, 32))
    #expect(table[identifier(2)]?.heard == HeadPlace.none && table[identifier(2)]?.key == nil)
    #expect(table[identifier(5)] == nil)
    #expect(bytes(of: try table.encode()) == encoded)
    var grown = DeviceTable(try DeviceNote(device: identifier(3)))
    for note in table.notes {
      let isKept = grown.set(note)
      #expect(isKept)
    }
    #expect(grown == table)
    let broken = [
      devices([]), devices([device(1)], layout: 2), devices([device(1, flags: 4)]),
      devices([device(2), device(1)]),
      devices([device(1), device(1)]), devices([device(1, flags: 7)]),
      devices([device(1, flags: 1)]), devices([device(1, flags: 2)]),
      devices([device(1, complete: 1 << 63)]), devices([device(1, removed: 1 << 63)]),
      devices([device(1, label: "a\u{7}")]),
      devices([device(1, label: String(repeating: "a", count: 65))]),
      little(UInt8(1)) + little(UInt16(1025)) + device(1),
    ]
    for encoded in broken + cuts(encoded) {
      #expect(failure { _ = try DeviceTable(decoding: encoded.span) } == .damaged)
    }
    // What nobody could read is not written either.
    var bent = note
    bent.label = Array("a\u{7}".utf8)
    #expect(failure { _ = try DeviceTable(bent).encode() } == .damaged)
  }

  @Test func `the journal is a chain of counter, revision and item`() throws {
    let record = JournalRecord(counter: 4, revision: identifier(1), item: identifier(2))
    let next = JournalRecord(counter: 6, revision: identifier(3), item: identifier(2))
    let encoded = little(UInt64(4)) + filled(1) + filled(2)
    #expect(record.encoded == encoded)
    let both = encoded + next.encoded
    #expect(try JournalRecord.decode(both.span) == [record, next])
    let secret = try key(from: 3)
    let head = JournalHead(key: try key(from: 3))
    let first = try head.appending(record, to: .zero)
    #expect(try hash([[6], filled(0, 32), encoded], key: secret) == first.bytes)
    let second = try head.appending(next, to: first)
    #expect(try hash([[6], first.bytes, next.encoded], key: secret) == second.bytes)
    let many = (1...65).flatMap { little(UInt64($0)) + filled(1) + filled(2) }
    let most = Array(many[..<(64 * 40)])
    #expect(try JournalRecord.decode(most.span).count == 64)
    let broken: [[UInt8]] = [
      [], many, next.encoded + encoded, encoded + encoded, little(UInt64(0)) + filled(1, 32),
      little(UInt64(1) << 63) + filled(1, 32),
    ]
    for encoded in broken + cuts(encoded) {
      #expect(failure { _ = try JournalRecord.decode(encoded.span) } == .damaged)
    }
  }

  @Test func `what was purged is a vector and the revisions that did it`() throws {
    let vector = little(UInt16(2)) + filled(1) + little(UInt64(5)) + filled(2) + little(UInt64(6))
    let encoded =
      [7] + vector + [2, 0] + encodedLineage(0x40) + [1] + encodedLineage(0x41, 9)
    let record = try PurgeRecord(decoding: encoded.span)
    #expect(record.covered.counter(of: identifier(2)) == 6)
    #expect(record.sides.map(\.lineage) == [lineage(0x40), lineage(0x41, 9)])
    #expect(record.sides.map(\.protection) == [.standard, .protected])
    #expect(bytes(of: try record.encode()) == encoded)
    let again = PurgeRecord(covering: record.covered, sides: record.sides.reversed())
    #expect(again == record)
    let many = [7] + vector + [255] + (0..<UInt8.max).flatMap { [0] + encodedLineage($0) }
    #expect(bytes(of: try PurgeRecord(decoding: many.span).encode()) == many)
    let one = encodedLineage(0x40)
    let broken: [[UInt8]] = [
      [7] + little(UInt16(0)) + [0], [6] + vector + [0], [7] + vector + [1, 2] + one,
      [7] + vector + [2, 0] + one + [0] + one,
    ]
    for encoded in broken + cuts(encoded) {
      #expect(failure { _ = try PurgeRecord(decoding: encoded.span) } == .damaged)
    }
    for changed in Mutations(of: encoded) {
      _ = failure {
        let again = try PurgeRecord(decoding: changed.span).encode()
        #expect(bytes(again.bytes) == changed)
      }
    }
  }
}
