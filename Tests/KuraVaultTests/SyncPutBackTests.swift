// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A machine whose disk is put back to what it was before it gave the vault a key: what it wrote under that key is in the
/// store, and nobody will write it again.
@Suite struct `A machine put back to before its own key` {
  let machines: Machines
  var store: TestStore { machines.store }

  init() throws {
    machines = try Machines(3) { vault throws in try vault.put("a", "1") }
  }

  @Test(arguments: [[0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0]])
  func `loses nothing that it had carried`(_ order: [Int]) throws {
    let disk = try machines.all[2].copiedDisk()
    try machines.part(1, 2) { number in
      try machines.all[number].fill { vault throws in try vault.put("of \(number)", "x") }
      guard number == 2 else { return }
      try machines.all[2].meet(store)
      try machines.all[2].fill { vault throws in try vault.put("late", "x") }
    }
    #expect(try machines.all[2].isCarried())
    let all = [machines.all[0], machines.all[1], disk]
    for _ in 0..<6 {
      for number in order { try all[number].enterAll(store) }
    }
    for machine in all {
      try machine.fill { vault throws in
        #expect(try vault.names(includingDeleted: false).sorted() == ["a", "late", "of 1", "of 2"])
      }
      #expect(try machine.enterAll(store).map(\.kind) == [])
    }
  }
}
