// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct RingTests {
  private let half = [UInt8](repeating: 8, count: 32)

  @Test func `a new ring has one active data key and all defaults`() throws {
    let ring = Ring(dataKey: try key(from: 5), created: 77, protectedHalf: half)
    #expect(ring.active == 1)
    #expect(bytes(of: try ring.dataKey(1)) == (5..<37).map { UInt8($0) })
    #expect(failure { _ = try ring.dataKey(2) } == .damaged)
    let expected: [UInt8] =
      [1] + little(UInt16(1)) + generation(1, 1, from: 5, created: 77) + half + [0]
      + [UInt8](repeating: 0, count: 16) + [0, 0]
    #expect(bytes(of: try ring.encode()) == expected)
  }

  @Test func `a ring is read back as it was written`() throws {
    let encoded = full()
    let ring = try Ring.decode(encoded.span)
    #expect(ring.active == 7)
    #expect(ring.generations.map(\.number) == [1, 7])
    #expect(ring.generations.map(\.state) == [.retiring, .active])
    #expect(ring.work == .rotate)
    #expect(ring.cursor == identifier(0x80))
    #expect(ring.policy[.idleTimeout] == 5000)
    #expect(ring.protectedHalf == half)
    #expect(bytes(of: try ring.dataKey(7)) == (9..<41).map { UInt8($0) })
    #expect(bytes(of: try ring.encode()) == encoded)
  }

  @Test func `settings of later releases are kept`() throws {
    let encoded = full(policy: [(1, 5000), (3, 0), (200, .max)])
    var ring = try Ring.decode(encoded.span)
    #expect(ring.policy[.lockOnSleep] == 0)
    try ring.policy.set(6000, for: .idleTimeout)
    ring.policy.reset(.lockOnSleep)
    #expect(try bytes(of: ring.encode()) == full(policy: [(1, 6000), (200, .max)]))
  }

  @Test func `what breaks the layout is damage`() {
    let broken: [[UInt8]] = [
      [2] + full().dropFirst(),
      ring(generations: []),
      ring(generations: [generation(1, 2, from: 0)]),
      ring(generations: [generation(1, 1, from: 0), generation(2, 1, from: 0)]),
      ring(generations: [generation(1, 1, from: 0), generation(1, 2, from: 0)]),
      ring(generations: [generation(2, 1, from: 0), generation(1, 2, from: 0)]),
      ring(generations: [generation(0, 1, from: 0)]),
      ring(generations: [generation(1, 3, from: 0)]),
      full(policy: [(2, 5000), (1, 5000)]), full(policy: [(1, 5000), (1, 5000)]),
      full(work: 2),
    ]
    for encoded in broken {
      #expect(failure { _ = try Ring.decode(encoded.span) } == .damaged)
    }
    for cut in cuts(full()) {
      #expect(failure { _ = try Ring.decode(cut.span) } == .damaged)
    }
  }

  @Test func `counts that promise more than there is allocate nothing`() {
    let most = [1, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 40)
    #expect(failure { _ = try Ring.decode(most.span) } == .damaged)
    let settings = full(policy: []).dropLast(2) + [0xFF, 0xFF]
    #expect(failure { _ = try Ring.decode(Array(settings).span) } == .damaged)
  }

  @Test func `mutated rings are refused or read, never a trap`() {
    for changed in Mutations(of: full()) {
      _ = failure {
        let ring = try Ring.decode(changed.span)
        _ = try ring.dataKey(ring.active)
        #expect(bytes(of: try ring.encode()) == changed)
      }
    }
  }

  private func generation(
    _ number: UInt32, _ state: UInt8, from first: UInt8, created: UInt64 = 1
  ) -> [UInt8] {
    little(number) + [state] + little(created) + (0..<32).map { first &+ $0 }
  }

  private func ring(
    generations: [[UInt8]], work: UInt8 = 1, policy: [(UInt8, UInt64)] = [(1, 5000)]
  ) -> [UInt8] {
    var encoded = [1] + little(UInt16(generations.count)) + generations.joined() + half
    encoded += [work] + [UInt8](repeating: 0x80, count: 16) + little(UInt16(policy.count))
    for (key, value) in policy { encoded += [key] + little(value) }
    return encoded
  }

  private func full(work: UInt8 = 1, policy: [(UInt8, UInt64)] = [(1, 5000)]) -> [UInt8] {
    ring(
      generations: [generation(1, 2, from: 3), generation(7, 1, from: 9)], work: work,
      policy: policy)
  }
}

@Suite struct PolicyTests {
  @Test func `an unset value is the default`() {
    let policy = Policy()
    #expect(policy[.idleTimeout] == 900_000)
    #expect(policy[.maxSession] == 28_800_000)
    #expect(policy[.lockOnSleep] == 1)
    #expect(policy[.historyDepth] == 10)
    #expect(policy[.reuseWindow] == 0)
    #expect(policy[.logSync] == 0)
    #expect(!policy.isSet(.idleTimeout))
  }

  @Test(arguments: Setting.allCases)
  func `a value is set within its range only, and reset`(key: Setting) throws {
    var policy = Policy()
    try policy.set(key.storedRange.upperBound, for: key)
    #expect(policy[key] == key.storedRange.upperBound)
    #expect(policy.isSet(key))
    let before = policy
    #expect(
      failure { try policy.set(key.storedRange.upperBound + 1, for: key) } == .policyInvalid(key))
    #expect(policy == before)
    policy.reset(key)
    #expect(policy == Policy())
    #expect(key.storedRange.contains(key.standard))
  }

  @Test func `a stored value out of its range holds as the nearest in it`() throws {
    let values = [1] + little(UInt64.max) + [3] + little(UInt64(9))
    let generation = little(UInt32(1)) + [1] + [UInt8](repeating: 0, count: 40)
    let encoded =
      [1, 1, 0] + generation + [UInt8](repeating: 0, count: 49) + little(UInt16(2)) + values
    let ring = try Ring.decode(encoded.span)
    #expect(ring.policy[.idleTimeout] == Setting.idleTimeout.storedRange.upperBound)
    #expect(ring.policy[.lockOnSleep] == 1)
  }
}
