// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Of what a purge covers nothing is left in an item that stands on beside it, once no side's row has it.
@Suite struct `What was purged beside a change` {
  /// The phone purges a value that the tower has built on, and the desk has another one: the tower has both.
  ///
  /// - Parameters:
  ///   - puts: How often the phone puts its value, so that the tower shows its last one, or the desk's; where it is
  ///   3, the laptop has one as well, a later one than the desk's.
  ///   - laptopHasIt: Whether the laptop has built on the phone's value as well.
  private func tower(showing puts: Int, laptopHasIt: Bool = false) throws -> Machines {
    let machines = try Machines(4) { vault throws in
      try vault.put("e", "first")
      try vault.remove("e")
    }
    let (desk, phone, tower) = (machines.all[0], machines.all[1], machines.all[2])
    for number in 0..<puts { try phone.fill { try $0.put("e", "of the phone \(number)") } }
    try phone.meet(machines.store)
    try tower.meet(machines.store)
    try tower.fill { vault throws in try vault.touch("x") }
    if laptopHasIt {
      try machines.all[3].meet(machines.store)
      try machines.all[3].fill { vault throws in try vault.touch("z") }
    }
    try phone.fill { vault throws in _ = try vault.purge(Array("e".utf8).span, .item) }
    try phone.meet(machines.store)
    try desk.fill { vault throws in
      _ = try vault.restore("e")
      for number in 0..<max(0, 2 - puts) { try vault.put("e", "of the desk \(number)") }
    }
    if puts > 2 {
      try machines.all[3].fill { vault throws in
        _ = try vault.restore("e")
        try vault.put("e", "of the laptop")
      }
      try machines.all[3].meet(machines.store)
    }
    try desk.meet(machines.store)
    try tower.meet(machines.store)
    return machines
  }

  private func check(_ machines: Machines, _ value: String) throws {
    let before = try Copies.state(machines.all[2], opening: false)
    try machines.settle()
    for machine in machines.all {
      #expect(try Copies.state(machine, opening: false) == before)
      try machine.fill { vault throws in #expect(try vault.getText("e") == value) }
    }
  }

  @Test(arguments: 1...2) func `is no conflict after a deletion`(puts: Int) throws {
    let machines = try tower(showing: puts)
    try machines.all[2].fill { vault throws in
      #expect(try vault.conflicts().count == 2, "another value, and the purge")
      try vault.remove("e")
      try vault.put("e", "new")
      #expect(try vault.conflicts() == [])
    }
    try check(machines, "new")
  }

  @Test func `leaves the latest of the others to be replaced`() throws {
    let machines = try tower(showing: 3)
    try machines.all[2].fill { vault throws in
      #expect(try vault.conflicts().count == 3, "two other values, and the purge")
      try vault.remove("e")
      try vault.put("e", "new")
      let left = try vault.conflicts()
      try #require(left.count == 1, "\(left)")
      let revision = try #require(UInt64(left[0].split(separator: " ")[2]))
      #expect(try vault.getText("e", revision: revision) == "first")
    }
    try check(machines, "new")
  }

  @Test func `comes back into none with a row that has it`() throws {
    let machines = try tower(showing: 1, laptopHasIt: true)
    try machines.all[2].fill { vault throws in
      try vault.touch("y")
      try vault.put("e", "new")
    }
    try machines.settle()
    try machines.all[2].fill { vault throws in
      #expect(try vault.conflicts() == [])
      #expect(try vault.attributes(of: "e") == ["x": "1", "y": "1", "z": "1"])
    }
    try check(machines, "new")
  }

  @Test(arguments: 1...2) func `is no conflict after another change`(puts: Int) throws {
    let machines = try tower(showing: puts)
    var shown = ""
    try machines.all[2].fill { vault throws in
      shown = try vault.getText("e")
      try vault.touch("y")
      // Its own row has what it shows.
      #expect(try vault.conflicts().count == puts - 1)
    }
    try check(machines, shown)
  }
}

extension UnlockedVault {
  fileprivate mutating func touch(_ key: String) throws {
    _ = try setAttributes(Array("e".utf8).span, try edits([key: "1"]))
  }
}
