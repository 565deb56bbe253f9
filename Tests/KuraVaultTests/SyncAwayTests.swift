// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// Whoever nobody starts for a year comes back to packs that were sealed anew and deleted, to keys that it never had, and to
/// machines that came and went.
@Suite struct `A machine that was away for a year` {
  @Test func `takes all of it, and loses nothing that it had`() throws {
    let machines = try Machines(4) { vault throws in
      for name in ["both", "gone", "kept", "secret"] { try vault.put(name, "1") }
      _ = try vault.protect(Array("secret".utf8).span)
    }
    let (desk, phone, lost) = (machines.all[0], machines.all[1], machines.all[2])
    let (away, store) = (machines.all[3], machines.store)
    let here = [desk, phone]
    try away.fill { vault throws in
      try vault.put("both", "of away")
      try vault.put("mine", "of away")
    }
    for number in 0..<(SyncPush.mostPacksMore + 3) {
      try desk.fill { try $0.put("often \(number % 5)", "\(number)") }
      try desk.meet(store)
    }
    try desk.fill { _ = try $0.purge(Array("gone".utf8).span, .item) }
    try desk.meet(store, compacts: true)
    for _ in 0..<3 { for machine in here + [lost] { try machine.meet(store) } }
    try desk.giveKey()
    for _ in 0..<3 { for machine in here + [lost] { try machine.enterAll(store) } }
    try phone.giveKey(removing: [try lost.settledDevice()])
    for _ in 0..<3 { for machine in here { try machine.enterAll(store) } }
    try phone.fill { try $0.put("both", "of phone") }
    try phone.meet(store)

    // Of the key that it has nothing is there any more; but it knows who made the last one.
    let told = try away.enterAll(store).map(\.kind)
    #expect(told.contains(.passcodeWanted) && told.allSatisfy { $0.wantsPasscode || $0 == .late })
    for _ in 0..<4 { for machine in here + [away] { try machine.enterAll(store) } }
    let states = try (here + [away]).map { try Copies.state($0) }
    #expect(states.allSatisfy { $0 == states[0] })
    for machine in here + [away] {
      #expect(try machine.enterAll(store) == [])
      try machine.fill { vault throws in
        #expect(try vault.getText("mine") == "of away" && vault.getText("kept") == "1")
        #expect(try vault.values(of: "both").isSuperset(of: ["of away", "of phone"]))
        #expect(try vault.openedText("secret") == "1")
        #expect(throws: VaultError.notFound) { try vault.getText("gone") }
        #expect(try vault.getText("often 0") == "\((SyncPush.mostPacksMore + 2) / 5 * 5)")
        #expect(try vault.findings() == [])
        #expect(try vault.awaitedDevices() == [])
      }
    }
  }
}
