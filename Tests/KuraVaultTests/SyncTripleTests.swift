// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A disk that was copied, and the copy copied again: three machines that begin under one id, two of which have changes
/// in common of which the third has none.
@Suite struct `A copy of a copy of a machine` {
  private static let orders = [
    [0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 4, 1, 0, 2], [3, 1, 4, 2, 0], [4, 1, 3, 0, 2],
    [4, 0, 1, 3, 2], [0, 4, 2, 3, 1],
  ]

  /// - Parameters:
  ///   - order: In which they meet the store.
  ///   - hasMore: Whether the last copy has a change of its own.
  @Test(arguments: orders, [true, false])
  func `comes to the same as all others, and nobody loses anything`(
    _ order: [Int], _ hasMore: Bool
  ) throws {
    let machines = try Machines(3) { vault throws in try vault.put("a", "1") }
    var (hub, dice) = (TrialHub(), SystemDice(seed: 1))
    var all = machines.all.map { ($0, TrialFolder()) }
    for (_, folder) in all { folder.store.files = machines.store.files }
    for (path, bytes) in machines.store.files { hub.set(path, bytes) }
    func copy(_ number: Int) throws {
      let folder = TrialFolder()
      folder.copy(all[number].1)
      all.append((try all[number].0.copiedDisk(), folder))
    }
    func meet(_ number: Int) throws -> SyncReport {
      let report = try all[number].0.meet(all[number].1.store)
      all[number].1.noteWrites()
      return report
    }
    try copy(0)
    try all[3].0.fill { vault throws in
      _ = try vault.move(Array("a".utf8).span, to: Array("b".utf8).span)
      try vault.put("b", "of both")
      try vault.put("of both", "3 and 4")
    }
    try all[0].0.fill { vault throws in
      try vault.put("a", "of 0")
      try vault.put("of 0", "0")
    }
    try copy(3)
    _ = try meet(4)
    try all[3].0.fill { vault throws in
      try vault.remove("b")
      try vault.put("of 3", "3")
    }
    _ = try meet(0)
    if hasMore {
      try all[4].0.fill { vault throws in
        try vault.put("b", "of 4")
        try vault.put("of 4", "4")
      }
    }
    var told: [SyncReport] = []
    for _ in 0..<6 {
      told = []
      for number in order {
        _ = all[number].1.carry(&hub, 100, &dice)
        told.append(try meet(number))
        _ = all[number].1.carry(&hub, 100, &dice)
      }
    }
    let states = try all.map { try Copies.state($0.0, opening: false) }
    #expect(states.allSatisfy { $0 == states[0] }, "\(states)")
    #expect(try Set(all.map { try $0.0.settledDevice() }).count == all.count)
    #expect(!told.contains { $0.findings.contains { $0.kind != .late } })
    for (file, _) in all {
      #expect(try file.unlockedFindings() == [])
      try file.fill { vault throws in
        #expect(try vault.getText("of 0") == "0")
        #expect(try vault.getText("of both") == "3 and 4")
        #expect(try vault.getText("of 3") == "3")
        if hasMore { #expect(try vault.getText("of 4") == "4") }
      }
      let values = try file.allValues()
      #expect(values.isSuperset(of: hasMore ? ["of 0", "of 4"] : ["of 0"]))
    }
  }
}
