// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestChips
import Testing

@testable import KuraVault

/// Slots of hardware go through machines that have none of it, and open where it is.
@Suite struct `Slots of hardware that is elsewhere` {
  private let chip = FakeChip()
  private let keys = FakeKeys()

  /// Gives a copy on the machine with the hardware a slot of each kind.
  private func add(to file: TestVault) throws {
    (file.chip, file.keys) = (chip, keys)
    for code in ["4711", ""] {
      try add(to: file) { attempt in
        try .tpm(secret(code), kdf: TestVault.kdf, allowsWeak: true, beside: attempt)
      }
    }
    try add(to: file) { attempt in try .fido2(pin: secret("1234"), beside: attempt) }
  }

  private func add(
    to file: TestVault, _ slot: (UnlockAttempt) throws -> PreparedSlot
  ) throws {
    var locked = try file.open()
    let slot = try slot(try locked.attempt())
    var vault = try file.unlock()
    try vault.addSlot(slot, authorizedBy: file.key())
    vault.fold()
  }

  private let kinds: [SlotKind] = [.passcode, .tpm2, .tpm2, .fido2]

  private func check(_ file: TestVault, opens: Bool) throws {
    #expect(try file.open().slotReports.map(\.kind) == kinds)
    for (text, credential) in [("4711", Credential.tpm), ("", .tpm), ("1234", .fido2)] {
      #expect((file.refusal(text, credential) == nil) == opens)
    }
    var vault = try file.unlock()
    #expect(try vault.findings() == [])
    vault.fold()
  }

  @Test func `come back from a backup that another machine made and puts back`() throws {
    let pair = try Copies()
    try add(to: pair.first)
    try pair.part()
    try pair.there { try $0.put("b", "2") }
    let path = pair.second.directory + "/copy.kura"
    let backup = Backup(of: try pair.second.open(), to: path, keeping: 0)
    backup.copy()
    _ = try #require(backup.copied).get()
    backup.publish()
    _ = try #require(backup.made).get()
    try pair.second.restore(try Data(contentsOf: URL(filePath: path)))
    try check(pair.second, opens: false)
    try pair.first.restore(try pair.second.content())
    try check(pair.first, opens: true)
    #expect(try pair.first.allValues() == ["2"])
  }

  @Test func `stay where copies are merged, on a machine without it as well`() throws {
    let pair = try Copies()
    try add(to: pair.first)
    try pair.part()
    try pair.there { try $0.put("b", "2") }
    try pair.here { try $0.put("a", "1") }
    _ = try pair.mergeBack()
    try check(pair.second, opens: false)
    _ = try pair.merge()
    try check(pair.first, opens: true)
    #expect(try pair.first.allValues() == ["1", "2"])
    // The other copy, carried back to where the hardware is, has what it needs.
    (pair.second.chip, pair.second.keys) = (chip, keys)
    try check(pair.second, opens: true)
  }

  @Test func `stay where machines meet a store, and those that mean something there come along`()
    throws
  {
    let machines = try Machines(3)
    let (first, second, third) = (machines.all[0], machines.all[1], machines.all[2])
    try add(to: first)
    try machines.settle()
    for machine in [second, third] {
      // A TPM is of one machine, a security key of each.
      #expect(try machine.open().slotReports.map(\.kind) == [.passcode, .fido2])
      #expect(machine.refusal("1234", .fido2) == .chip(ChipFault(.noProgram)))
    }
    try second.fill { vault throws in
      try vault.addSlot(passcodeSlot("spare"), authorizedBy: second.key())
    }
    try machines.settle()
    #expect(first.refusal("spare") == nil && third.refusal("spare") == nil)
    #expect(try first.open().slotReports.map(\.kind) == kinds + [.passcode])
    for (text, credential) in [("4711", Credential.tpm), ("", .tpm), ("1234", .fido2)] {
      #expect(first.refusal(text, credential) == nil)
    }
    third.keys = keys
    #expect(third.refusal("1234", .fido2) == nil)
  }
}
