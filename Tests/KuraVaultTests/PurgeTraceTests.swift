// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What copies know of the purges of one item comes to the same, in whatever order they hear of it.
@Suite struct PurgeTraceTests {
  private static func purge(
    _ number: UInt8, depth: UInt64, following known: [UInt8] = []
  ) -> PurgeTrace {
    let stamp = RevisionStamp(
      id: Shared.mark(number), depth: depth,
      entry: RevisionEntry(device: Shared.mark(number), counter: depth))
    let vector = RevisionVector(
      known.map { RevisionEntry(device: Shared.mark($0), counter: UInt64($0)) })
    return PurgeTrace(
      of: Shared.mark(99), by: Lineage(stamp: stamp, following: vector), .standard)
  }

  /// One that knew of another is neither the latest nor the first to be heard of.
  @Test func `keeps no purge that another one knew of`() throws {
    let all = [
      Self.purge(10, depth: 10), Self.purge(12, depth: 12, following: [10]),
      Self.purge(15, depth: 15),
    ]
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for order in orders {
      var trace = all[order[0]]
      for next in order.dropFirst() { try trace.formUnion(all[next]) }
      #expect(trace.purges == [all[1], all[2]].flatMap(\.purges), "\(order)")
      var other = all[order[2]]
      try other.formUnion(all[order[1]])
      try other.formUnion(all[order[0]])
      #expect(trace == other, "\(order)")
    }
  }
}
