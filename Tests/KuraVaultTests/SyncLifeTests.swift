// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// Whatever a store delays, cuts and doubles, and whenever a machine is killed: in the end all have the same, and
/// nothing is lost.
@Suite struct `Random lives of machines at a store` {
  @Test(arguments: 0..<Copies.runs)
  func `end alike`(_ run: Int) throws {
    let life = try SyncLife(Copies.seed(byDay: 100 + UInt64(run)))
    for step in 0..<40 { try life.step(step) }
    try life.end()
  }
}

/// Three machines of one vault, which do what dice say.
final class SyncLife {
  private var dice: SystemDice
  private let machines: Machines
  /// Whether the store shows some files late.
  private let isLate: Bool
  private var purged: Set<String> = []
  private(set) var log: [String]

  init(_ seed: UInt64) throws {
    dice = SystemDice(seed: seed)
    isLate = dice.below(2) == 0
    log = ["seed \(seed)"]
    machines = try Machines(3) { vault throws in
      try vault.setPolicy(.historyDepth, to: 1_000)
      for name in ["a", "b", "c"] { try vault.put(name, "\(name) 0") }
    }
    machines.store.dice = SystemDice(seed: seed ^ 1)
  }

  func step(_ step: Int) throws {
    let place = dice.below(3)
    let machine = machines.all[place]
    switch dice.below(8) {
    case 0...2: try meet(place)
    case 3:
      let other = (place + 1 + dice.below(2)) % 3
      log.append("\(place) merges the file of \(other)")
      _ = try Copies.merge(machines.all[other], into: machine)
    case 4 where dice.below(4) == 0:
      let other = (place + 1) % 3
      log.append("\(place) has the file of \(other), which is lost, and a new machine gets a copy")
      // Of a store that shows files late what follows may come first, and history that comes later is left there.
      let lost = machines.all[other]
      let kept = try (isLate ? lost.standingValues() : lost.allValues()).subtracting(purged)
      _ = try Copies.merge(machines.all[other], into: machine)
      try FileManager.default.removeItem(atPath: machines.all[other].stateDirectory)
      try Copies.copy(machine, to: machines.all[other])
      #expect(kept.subtracting(try machine.allValues()) == [], "\(log)")
    case 5 where dice.below(4) == 0:
      let long = dice.below(2) == 0 ? 70_000 : 1_200_000
      log.append("\(place) has a long value \(step)")
      try machine.fill { try $0.upload("long \(step)", letters(long, seed: step + 3)) }
    default:
      try machine.fill { vault throws in
        log.append("\(place): " + (try vault.change(step, &dice, &purged)))
      }
    }
    let findings = try machine.unlockedFindings()
    try #require(findings == [], "\(log)")
  }

  private func meet(_ place: Int) throws {
    let machine = machines.all[place]
    machines.store.lateness = isLate ? [0, 0, 10, 30][dice.below(4)] : 0
    defer { machines.store.lateness = 0 }
    machines.store.forgets = dice.below(2) == 0
    let killed = dice.below(3) == 0 ? dice.below(20) : nil
    let isUnheard = dice.below(2) == 0
    log.append(
      "\(place) meets"
        + (killed.map { ", killed after \($0)\(isUnheard ? ", unheard" : "")" } ?? "")
        + (machines.store.forgets ? ", forgotten" : "") + ", late \(machines.store.lateness)")
    let before = try machine.allValues()
    let report = try machine.meet(
      machines.store, killedAfter: killed, unheard: isUnheard)
    let lost = before.subtracting(try machine.allValues()).subtracting(purged)
    #expect(lost == [], "\(log)")
    let alarms = report.findings.map(\.kind).filter { kind in
      // A store that does not find a head now has lost it, as far as that can be told.
      kind.isAlarm && !(kind == .ownHeadGone && machines.store.lateness > 0)
    }
    #expect(alarms == [], "\(log)")
  }

  func end() throws {
    try machines.settle()
    #expect(try machines.agree(), "\(log)")
    for (place, machine) in machines.all.enumerated() {
      let findings = try machine.unlockedFindings()
      #expect(findings == [], "\(place) \(log)")
      let other = machines.all[(place + 1) % 3]
      #expect(try Copies.merge(other, into: machine) == MergeReport(), "\(log)")
    }
  }
}
