// SPDX-License-Identifier: MIT

import Testing

@testable import KuraVault

/// By one hash two machines see that they have the same items.
@Suite struct `What all items of a shared vault come to` {
  @Test func `is told as of the last change, and is the same where the items are`() throws {
    let machines = try Machines(2) { vault throws in try vault.put("a", "1") }
    try machines.settle()
    var sums: [[UInt8]] = []
    for machine in machines.all {
      try machine.fill { vault throws in
        for value in ["", "2", "3"] {
          if !value.isEmpty { try vault.put("a", value) }
          sums.append(try vault.knownFingerprint())
          #expect(try vault.knownFingerprint() == vault.fingerprintOfItems())
        }
      }
    }
    #expect(sums[0] == sums[3] && Set(sums).count == 5 && sums.allSatisfy { $0.count == 32 })
  }
}
