// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct RevisionVectorTests {
  private func entry(_ device: UInt8, _ counter: UInt64) -> RevisionEntry {
    RevisionEntry(device: identifier(device), counter: counter)
  }

  private func lineage(
    _ id: UInt8, depth: UInt64, _ own: RevisionEntry, _ known: [RevisionEntry] = []
  ) -> Lineage {
    Lineage(
      stamp: RevisionStamp(id: identifier(id), depth: depth, entry: own),
      following: RevisionVector(known))
  }

  @Test func `a vector keeps the last change of each copy, ascending`() {
    let vector = RevisionVector([entry(9, 2), entry(3, 7), entry(9, 5), entry(3, 1)])
    #expect(vector.entries == [entry(3, 7), entry(9, 5)])
    #expect(vector.counter(of: identifier(9)) == 5)
    #expect(vector.counter(of: identifier(4)) == 0)
    #expect(vector.covers(entry(3, 7)))
    #expect(!vector.covers(entry(3, 8)))
    #expect(!vector.covers(entry(4, 1)))
  }

  @Test func `a union knows what either knew`() {
    let (left, right) = (
      RevisionVector([entry(1, 4), entry(2, 1)]), RevisionVector([entry(2, 3), entry(5, 1)])
    )
    var both = left
    both.formUnion(right)
    #expect(both.covers(left) && both.covers(right))
    #expect(!left.covers(both) && !right.covers(both))
    var turned = right
    turned.formUnion(left)
    #expect(both == turned)
  }

  @Test func `a revision follows what its vector covers, and never itself`() {
    let first = lineage(1, depth: 1, entry(1, 1))
    let here = lineage(2, depth: 2, entry(1, 2), [entry(1, 1)])
    let there = lineage(3, depth: 2, entry(2, 1), [entry(1, 1)])
    #expect(here.follows(first) && there.follows(first))
    #expect(!here.follows(there) && !there.follows(here))
    #expect(!here.follows(here) && !first.follows(here))
    #expect(here.vector.covers(here.stamp.entry))
  }

  @Test func `the later of two is the deeper one, then that of the higher id`() {
    let (low, high) = (lineage(1, depth: 3, entry(1, 1)), lineage(2, depth: 3, entry(2, 1)))
    #expect(low.stamp < high.stamp)
    #expect(high.stamp < lineage(0, depth: 4, entry(3, 1)).stamp)
  }
}
