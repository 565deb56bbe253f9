// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// What becomes of the ways to open a vault when two copies become one.
@Suite struct `Slots of two copies` {
  private static let usual = TestVault.passcode

  /// Does something to a copy that a passcode unlocks.
  private func within(
    _ file: TestVault, _ passcode: String = usual,
    _ body: (inout UnlockedVault, borrowing VaultKey) throws -> Void
  ) throws {
    var vault = try file.unlock(passcode)
    try body(&vault, try file.key(passcode))
    #expect(try vault.findings() == [])
    vault.fold()
  }

  private func merge(
    _ other: TestVault, into file: TestVault, _ passcode: String = usual
  ) throws -> UInt64 { try told(other, into: file, passcode).slots }

  private func told(
    _ other: TestVault, into file: TestVault, _ passcode: String = usual
  ) throws -> MergeReport {
    var report = MergeReport()
    try within(file, passcode) { vault, _ in
      let copy = try vault.openCopy(at: other.path)
      report = try vault.merge(copy)
    }
    return report
  }

  private func change(_ file: TestVault, to passcode: String, from before: String = usual) throws {
    try within(file, before) { vault, fresh in
      try vault.changeSlots(
        authorizedBy: fresh, passcode: try passcodeSlot(passcode), recovery: nil)
    }
  }

  private func recoveryKeys(_ vault: inout UnlockedVault) throws -> Int {
    let kinds = try vault.slotReports().map(\.kind)
    return kinds.filter { $0 == .recoveryKey }.count
  }

  /// Which of some passcodes open a copy.
  private func opening(_ file: TestVault, _ passcodes: String...) -> [String] {
    passcodes.filter { file.refusal($0) == nil }
  }

  @Test func `a passcode that one changed is changed in both, and stays so`() throws {
    let pair = try Copies()
    try pair.part()
    try change(pair.first, to: "fresh")
    #expect(try merge(pair.second, into: pair.first, "fresh") == 0)
    #expect(opening(pair.first, Self.usual, "fresh") == ["fresh"])
    #expect(try merge(pair.first, into: pair.second) == 2)
    #expect(opening(pair.second, Self.usual, "fresh") == ["fresh"])
    #expect(try merge(pair.first, into: pair.second, "fresh") == 0)
  }

  @Test func `a new recovery key ends those that both have added`() throws {
    let pair = try Copies()
    try pair.part()
    for file in [pair.first, pair.second] {
      try within(file) { vault, fresh in
        try vault.addSlot(PreparedSlot.recoveryKey(), authorizedBy: fresh)
      }
    }
    #expect(try merge(pair.second, into: pair.first) == 1)
    try within(pair.first) { vault, fresh in
      let both = try recoveryKeys(&vault)
      #expect(both == 2)
      try vault.addSlot(PreparedSlot.recoveryKey(), authorizedBy: fresh, replacing: true)
      let left = try recoveryKeys(&vault)
      #expect(left == 1)
    }
    #expect(try merge(pair.first, into: pair.second) == 2)
    try within(pair.second) { vault, _ in
      let left = try recoveryKeys(&vault)
      #expect(left == 1)
    }
  }

  @Test func `a passcode that both chose alike ends everywhere with its next change`() throws {
    let pair = try Copies()
    try pair.part()
    for file in [pair.first, pair.second] { try change(file, to: "alike") }
    #expect(try merge(pair.second, into: pair.first, "alike") == 1)
    #expect(try merge(pair.first, into: pair.second, "alike") == 1)
    try within(pair.first, "alike") { vault, _ in
      try vault.addSlot(passcodeSlot("another"), authorizedBy: pair.first.key("alike"))
      #expect(try vault.slotReports().count == 3)
      var fresh = try pair.first.key("alike")
      var locked = try pair.first.open()
      try locked.attempt().noteOthers(openedBy: secret("alike"), &fresh)
      try vault.changeSlots(authorizedBy: fresh, passcode: passcodeSlot("next"), recovery: nil)
      #expect(try vault.slotReports().count == 2)
    }
    #expect(opening(pair.first, "alike", "next", "another") == ["next", "another"])
    #expect(try merge(pair.first, into: pair.second, "alike") == 4)
    #expect(opening(pair.second, "alike", "next", "another") == ["next", "another"])
  }

  @Test func `what each added opens both, with its label, and what one removed opens neither`()
    throws
  {
    let pair = try Copies()
    try within(pair.first) { vault, fresh in
      try vault.addSlot(passcodeSlot("both"), authorizedBy: fresh)
    }
    try pair.part()
    try within(pair.first) { vault, fresh in
      try vault.addSlot(passcodeSlot("here", label: "h"), authorizedBy: fresh)
    }
    try within(pair.second) { vault, fresh in
      try vault.addSlot(PreparedSlot.keyFile(keyFile(7)), authorizedBy: fresh)
      try vault.removeSlot(1, authorizedBy: fresh)
    }
    #expect(try merge(pair.second, into: pair.first) == 2)
    #expect(try merge(pair.first, into: pair.second) == 1)
    for file in [pair.first, pair.second] {
      #expect(opening(file, Self.usual, "both", "here") == [Self.usual, "here"])
      try within(file) { vault, _ in
        let reports = try vault.slotReports()
        #expect(reports.map(\.kind).filter { $0 == .keyFile }.count == 1)
        #expect(reports.map { label($0) }.contains("h"))
        #expect(reports.count == 3)
      }
    }
  }

  @Test func `two removals that did not know of each other lock nobody out`() throws {
    let pair = try Copies()
    try within(pair.first) { vault, fresh in
      try vault.addSlot(passcodeSlot("second"), authorizedBy: fresh)
    }
    try pair.part()
    try within(pair.first) { vault, fresh in try vault.removeSlot(1, authorizedBy: fresh) }
    try within(pair.second, "second") { vault, fresh in
      try vault.removeSlot(0, authorizedBy: fresh)
    }
    #expect(try told(pair.second, into: pair.first).keptSlots)
    #expect(try told(pair.first, into: pair.second, "second").keptSlots)
    for file in [pair.first, pair.second] {
      #expect(opening(file, Self.usual, "second") == [Self.usual, "second"])
    }
  }

  @Test func `what stood before changes had names comes back to no copy`() throws {
    let pair = try Copies(ofFirstFormat: true)
    try pair.part()
    // Nobody can tell whether the second one has not heard of it, or the first one ended it.
    try change(pair.first, to: "fresh")
    for (file, passcode) in [(pair.first, "fresh"), (pair.second, Self.usual)] {
      try within(file, passcode) { vault, _ in _ = try vault.takeOver() }
    }
    try within(pair.second) { vault, fresh in
      try vault.addSlot(passcodeSlot("there"), authorizedBy: fresh)
    }
    #expect(try merge(pair.second, into: pair.first, "fresh") == 1)
    #expect(opening(pair.first, Self.usual, "fresh", "there") == ["fresh", "there"])
    #expect(try merge(pair.first, into: pair.second) == 0)
    #expect(opening(pair.second, Self.usual, "fresh", "there") == [Self.usual, "there"])
    // A change that knew of both ends it for good, and leaves what it did not mean.
    try within(pair.second, "there") { vault, fresh in
      try vault.removeSlot(0, authorizedBy: fresh)
    }
    #expect(try merge(pair.second, into: pair.first, "fresh") == 0)
    #expect(opening(pair.first, Self.usual, "fresh", "there") == ["fresh", "there"])
  }

  @Test func `one that finds no room waits, stands on, and comes when there is some`() throws {
    let pair = try Copies()
    try pair.part()
    for (file, word) in [(pair.first, "a"), (pair.second, "b")] {
      try within(file) { vault, fresh in
        for number in 0..<3 {
          try vault.addSlot(passcodeSlot("\(word)\(number)"), authorizedBy: fresh)
        }
      }
    }
    let report = try told(pair.second, into: pair.first)
    #expect(report.slots == 0 && report.waitingSlots == 3 && !report.keptSlots)
    let all = ["a0", "a1", "a2", "b0", "b1", "b2"]
    #expect(all.filter { opening(pair.first, $0) == [$0] } == ["a0", "a1", "a2"])
    // A change here that does not mean them ends none of them.
    try within(pair.first) { vault, fresh in
      try vault.removeSlot(1, authorizedBy: fresh)
      try vault.removeSlot(2, authorizedBy: fresh)
    }
    #expect(try merge(pair.first, into: pair.second) == 0)
    #expect(
      all.filter { opening(pair.second, $0) == [$0] }.filter { $0.hasPrefix("b") }
        == ["b0", "b1", "b2"])
    try within(pair.second) { vault, fresh in
      try vault.addSlot(PreparedSlot.keyFile(keyFile(9)), authorizedBy: fresh)
    }
    #expect(try merge(pair.second, into: pair.first) == 3)
    #expect(all.filter { opening(pair.first, $0) == [$0] }.count == 3)
  }

  @Test func `a rekey begins anew`() throws {
    let pair = try Copies()
    try within(pair.first) { vault, fresh in
      try vault.addSlot(passcodeSlot("more"), authorizedBy: fresh)
      #expect(vault.keys.ring.ledger?.slots.count == 1)
    }
    try within(pair.first) { vault, fresh in
      let slots = RekeySlots(
        passcode: try passcodeSlot(Self.usual), keyFile: nil, keyFileNumber: 0, recovery: nil)
      try vault.complete(try vault.beginRekey(authorizedBy: fresh, slots))
      #expect(vault.keys.ring.ledger?.slots == [])
    }
  }
}

/// What becomes of the settings.
@Suite struct `Settings of two copies` {
  @Test func `take the stricter setting, and loosen none`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.here { try $0.setPolicy(.idleTimeout, to: 600_000) }
    try pair.there { vault throws in
      try vault.setPolicy(.idleTimeout, to: 300_000)
      try vault.setPolicy(.maxSession, to: 40_000_000)
    }
    #expect(try pair.merge() == pair.report(settings: 1, looserSettings: 1))
    try pair.here { vault throws in
      #expect(vault.policy[.idleTimeout] == 300_000)
      #expect(vault.policy[.maxSession] == Setting.maxSession.standard)
    }
    #expect(try pair.merge() == MergeReport())
  }

  @Test func `one that was made looser holds when the owner is there, and is told`() throws {
    let pair = try Copies()
    let file = pattern(64)
    try pair.here { vault throws in
      try vault.addSlot(try PreparedSlot.keyFile(secret(file)), authorizedBy: pair.first.key())
      try vault.setPolicy(.idleTimeout, to: 60_000)
    }
    try pair.part()
    // The second one knows of the stricter value; and of one setting the first one says nothing.
    try pair.there { vault throws in
      try vault.setPolicy(.idleTimeout, to: 300_000)
      try vault.setPolicy(.maxSession, to: 40_000_000)
    }
    #expect(try pair.merge() == pair.report(looserSettings: 2))
    #expect(try loosened(pair, .keyFile, file) == [60_000, Setting.maxSession.standard, 0])
    let passcode = Array(TestVault.passcode.utf8)
    #expect(try loosened(pair, .passcode, passcode) == [300_000, 40_000_000, 1])
    #expect(try loosened(pair, .passcode, passcode) == [300_000, 40_000_000, 0])
    // A stricter one that did not know of it goes before it.
    _ = try pair.mergeBack()
    try pair.here { try $0.setPolicy(.idleTimeout, to: 600_000) }
    try pair.there { try $0.setPolicy(.idleTimeout, to: 30_000) }
    #expect(try pair.merge().settings == 1)
    #expect(try loosened(pair, .passcode, passcode) == [30_000, 40_000_000, 0])
  }

  /// What two settings are once the first copy was unlocked, and whether something became looser by that.
  private func loosened(
    _ pair: Copies, _ credential: Credential, _ shown: [UInt8]
  ) throws -> [UInt64] {
    var locked = try pair.first.open()
    let key = try locked.attempt().open(credential, secret: secret(shown))
    let origin = key.origin
    var vault = try locked.unlock(with: key)
    try vault.takeLooserSettings(by: origin)
    let policy = vault.policy
    let isTold = vault.notices.contains(.settingsLoosened)
    #expect(try vault.findings() == [])
    vault.fold()
    return [policy[.idleTimeout], policy[.maxSession], isTold ? 1 : 0]
  }
}
