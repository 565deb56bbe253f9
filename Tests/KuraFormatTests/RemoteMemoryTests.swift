// SPDX-License-Identifier: MIT

import KuraCrypto
import Testing

@testable import KuraFormat

/// What a shared vault remembers of its store.
@Suite struct RemoteMemoryTests {
  private func filled(_ byte: UInt8, _ count: Int = 16) -> [UInt8] {
    [UInt8](repeating: byte, count: count)
  }

  private func at(_ number: UInt64, _ byte: UInt8 = 7) -> [UInt8] {
    little(number) + filled(number == 0 ? 0 : byte)
  }

  private func was(_ device: UInt8 = 4, fork: UInt64 = 6, last: UInt64 = 8) -> [UInt8] {
    filled(device) + filled(5) + little(fork) + little(last) + at(3) + little(UInt16(1)) + at(4, 8)
  }

  private func vouched(_ runs: [UInt64], device: UInt8 = 6) -> [UInt8] {
    filled(device) + little(UInt16(runs.count / 2)) + runs.flatMap { little($0) }
  }

  private func standing(
    _ place: [UInt8]? = nil, slots: [UInt8] = [9], vouched: [[UInt8]]? = nil
  ) -> [UInt8] {
    let vouched = vouched ?? [self.vouched([1, 2, 4, 9])]
    return (place ?? at(3)) + little(UInt16(2)) + [UInt8(slots.count)]
      + slots.flatMap { filled($0) } + little(UInt16(vouched.count)) + vouched.joined()
  }

  private func memory(
    layout: UInt8 = 1, device: UInt8 = 1, flags: UInt8 = 119, was: [[UInt8]]? = nil,
    _ standing: [UInt8]? = nil, pending: [UInt8]? = nil
  ) -> [UInt8] {
    let was = was ?? [self.was()]
    let covered = little(UInt16(1)) + filled(3) + little(UInt64(9))
    return [layout] + filled(device) + [flags] + little(UInt32(2)) + [0, 1] + covered
      + little(UInt16(was.count)) + was.joined() + (standing ?? self.standing())
      + (pending ?? [1] + self.standing(at(5)))
  }

  private func refusal(_ bytes: [UInt8]) -> FormatError? {
    failure { _ = try RemoteMemory(decoding: bytes.span) }
  }

  @Test func `the memory of a store is read as it was written`() throws {
    let encoded = memory()
    let read = try RemoteMemory(decoding: encoded.span)
    #expect(read.device == identifier(1) && read.mustRewrite && read.mustWalk)
    #expect(read.awaitsSlots && read.leavesOld && read.mustPlaceNames && read.mustBeginRound)
    #expect(read.record == [0, 1] && read.covered.counter(of: identifier(3)) == 9)
    #expect(read.was.map(\.fork) == [6] && read.was.map(\.last) == [8])
    #expect(read.standing.packBase == 2)
    #expect(read.standing.place == HeadPlace(number: 3, id: identifier(7)))
    #expect(read.standing.slots == [identifier(9)])
    #expect(read.standing.vouched.runs(of: identifier(6)) == [1...2, 4...9])
    #expect(read.pending?.place.number == 5)
    #expect(bytes(of: try read.encode()) == encoded)
    let plain = memory(flags: 0, was: [], standing(at(0), slots: [], vouched: []), pending: [0])
    let fresh = try RemoteMemory(decoding: plain.span)
    #expect(fresh.standing.place == .none && fresh.standing.vouched == CounterRuns())
    #expect(fresh.pending == nil)
    #expect(bytes(of: try fresh.encode()) == plain)
  }

  @Test func `one that breaks a rule is damage`() throws {
    let broken = [
      memory(layout: 2), memory(device: 0), memory(flags: 128), memory(was: [was(), was()]),
      memory(was: [was(last: 1 << 63)]), memory(was: [was(fork: 9)]),
      memory(was: (0..<65).map { was($0) }),
      memory(standing(slots: [9, 9])), memory(standing(slots: [9, 8])),
      memory(standing(slots: Array(0..<65))), memory(standing(vouched: [vouched([])])),
      memory(standing(vouched: [vouched([0, 1])])), memory(standing(vouched: [vouched([2, 1])])),
      memory(standing(vouched: [vouched([1, 2, 3, 4])])),
      memory(standing(vouched: [vouched([5, 6, 1, 2])])),
      memory(standing(vouched: [vouched([1, 1 << 63])])),
      memory(standing(vouched: [vouched([1, 1]), vouched([1, 1])])),
      memory(standing(vouched: (0..<257).map { filled(0, 14) + little(UInt16($0)) + [0, 0] })),
      memory(pending: [2]), memory(pending: [1] + standing(at(0))), memory(pending: []),
    ]
    for (index, encoded) in broken.enumerated() {
      #expect(refusal(encoded) == .damaged, "\(index)")
    }
    for cut in cuts(memory()) { #expect(refusal(cut) == .damaged) }
    for changed in Mutations(of: memory()) {
      _ = failure {
        let again = try RemoteMemory(decoding: changed.span).encode()
        #expect(bytes(again.bytes) == changed)
      }
    }
  }

  @Test func `what nobody could read is not written`() throws {
    let good = try RemoteMemory(decoding: memory().span)
    var bent = good
    bent.standing.slots = [identifier(9), identifier(8)]
    #expect(failure { _ = try bent.encode() } == .damaged)
    bent = good
    bent.pending?.place = .none
    #expect(failure { _ = try bent.encode() } == .damaged)
    bent = good
    bent.record = filled(1, 131_073)
    #expect(failure { _ = try bent.encode() } == .valueTooLarge)
    bent = good
    for counter in 1...60_000 { bent.standing.vouched.insert(entry(6, UInt64(2 * counter))) }
    #expect(failure { _ = try bent.encode() } == .valueTooLarge)
  }

  private func entry(_ device: UInt8, _ counter: UInt64) -> RevisionEntry {
    RevisionEntry(device: identifier(device), counter: counter)
  }

  @Test func `runs hold what was put in, and nothing else`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var (runs, known) = (CounterRuns(), Set<RevisionEntry>())
      for _ in 0..<60 {
        let entry = entry(.random(in: 1...3, using: &random), .random(in: 1...40, using: &random))
        runs.insert(entry)
        known.insert(entry)
      }
      let all = (1...3).flatMap { device in (1...41).map { entry(device, $0) } }
      #expect(all.allSatisfy { runs.contains($0) == known.contains($0) })
      for device in runs.devices {
        let own = runs.runs(of: device)
        #expect(zip(own, own.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
      }
      let fork = UInt64.random(in: 0...40, using: &random)
      runs.move(identifier(2), beyond: fork, to: identifier(9))
      let moved = Set(
        known.map { one in
          one.device == identifier(2) && one.counter > fork ? entry(9, one.counter - fork) : one
        })
      let places = all + (1...41).map { entry(9, $0) }
      #expect(places.allSatisfy { runs.contains($0) == moved.contains($0) })
      var both = CounterRuns()
      both.insert(entry(1, 100))
      both.formUnion(runs)
      #expect(both.contains(entry(1, 100)) && moved.allSatisfy { both.contains($0) })
    }
  }

  private func place(_ chunks: UInt64, pieces: Int, length: UInt32 = 1_000) -> [UInt8] {
    little(chunks) + filled(2) + little(UInt16(pieces))
      + (0..<pieces).flatMap { filled(UInt8($0 % 250), 32) + little(length) }
  }

  @Test func `a long value is whole once as many objects have it as it takes`() throws {
    func read(_ encoded: [UInt8]) throws -> ValuePlace {
      try ValuePlace(decoding: encoded.span, of: identifier(4))
    }
    let under = try read(place(33, pieces: 2))
    let whole = try read(place(33, pieces: 3))
    #expect(!under.isWhole && whole.isWhole && whole.value.value == identifier(4))
    #expect(whole.encoded == place(33, pieces: 3) && whole.value.device == identifier(2))
    #expect(try ValuePlace(whole.value, chunkCount: 33) == whole)
    #expect(failure { _ = try ValuePlace(whole.value, chunkCount: 2) } == .valueTooLarge)
    let most = try read(place(393_216, pieces: 24_576))
    #expect(most.isWhole)
    let broken = [
      place(0, pieces: 1), place(33, pieces: 0), place(1, pieces: 2),
      place((1 << 24) + 1, pieces: 1), place(393_217, pieces: 24_577),
      place(33, pieces: 2, length: 1_114_113),
    ]
    for encoded in broken + cuts(place(33, pieces: 2)) {
      #expect(failure { _ = try read(encoded) } == .damaged)
    }
  }
}
