// SPDX-License-Identifier: MIT

import KuraClient
import KuraProtocol
import Testing

@testable import KuraCLI

/// What a backup would change is said before it does.
@Suite struct BackupDifferenceTests {
  private func side(_ epoch: UInt64, _ items: [(String, UInt64)]) -> BackupDifference.Side {
    BackupDifference.Side(
      epoch: epoch,
      items: items.map { name, revision in
        Item(
          name: name,
          facts: ItemFacts(
            revision: revision, size: 1, created: 0, modified: 1_700_000_000_000 + revision,
            protection: .standard, kind: .value),
          attributes: [])
      })
  }

  @Test func `each item is told once, under what becomes of it`() {
    let difference = BackupDifference(
      backup: side(4, [("b", 1), ("c", 2), ("d", 1), ("f", 3)]),
      vault: side(9, [("a", 1), ("b", 2), ("d", 1), ("e", 1), ("f", 2)]))
    #expect(
      difference.lines.dropFirst(2) == [
        "would go: 2 items", "  a", "  e", "would come: 1 item", "  c", "would be older: 1 item",
        "  b", "would be newer: 1 item", "  f",
      ])
    #expect(difference.lines[0].hasPrefix("the backup has 4 items, the newest of 2023-11-14"))
    #expect(difference.lines[1].hasSuffix(", epoch 9"))
  }

  @Test func `of many the first are named`() {
    let many = (10..<40).map { ("item/\($0)", UInt64(1)) }
    let lines = BackupDifference(backup: side(1, many), vault: side(1, [])).lines
    #expect(lines.count == 2 + 1 + 20 + 1)
    #expect(lines.last == "  and 10 more")
  }

  @Test func `the same and the unknown are said to be so`() {
    #expect(
      BackupDifference(backup: side(1, [("a", 1)]), vault: side(1, [("a", 1)])).lines.last
        == "no item would change")
    #expect(
      BackupDifference(backup: side(1, []), vault: nil).lines == ["the backup has 0 items, epoch 1"]
    )
  }
}
