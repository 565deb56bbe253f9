// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `The owner's proof` {
  @Test func `is no key file, and no code`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    let bytes = pattern(40)
    try vault.addSlot(
      try PreparedSlot.keyFile(secret(bytes), withProtected: true), authorizedBy: try file.key())
    var locked = try file.open()
    let attempt = try locked.attempt()
    #expect(throws: VaultError.ownerNeeded) {
      _ = try OwnerProof(try attempt.open(.keyFile, secret: secret(bytes)))
    }
    let recovery = try file.key(String(decoding: file.recoveryKey, as: UTF8.self), .recoveryKey)
    let proof: OwnerProof? = try OwnerProof(recovery)
    try vault.setPolicy(.idleTimeout, to: 1_000_000, by: proof)
    #expect(vault.policy[.idleTimeout] == 1_000_000)
  }

  @Test func `is of this vault, and of a slot that stands in it`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    var vault = try file.unlock()
    let foreign = try other.unlock()
    #expect(throws: VaultError.credentialStale) {
      try vault.setPolicy(.reuseWindow, to: 1, by: try foreign.owner())
    }
    let old: OwnerProof? = try vault.owner()
    try vault.changeSlots(
      authorizedBy: try file.key(),
      passcode: try PreparedSlot.passcode(secret("another"), kdf: TestVault.kdf, allowsWeak: true),
      recovery: nil)
    #expect(throws: VaultError.credentialStale) {
      try vault.setPolicy(.reuseWindow, to: 1, by: old)
    }
    #expect(vault.policy[.reuseWindow] == 0)
  }

  @Test func `of a slot that somebody put into the file is none`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    var vault = try file.unlock()
    // Sealed for this vault's id, by somebody who knows neither its keys nor its passcode.
    let forged = try other.key()
    let slot = try PreparedSlot.passcode(secret("mine"), kdf: TestVault.kdf, allowsWeak: true)
    let payload = try SlotPayload(
      vaultKey: try forged.payload.vaultKey.copy(), created: 1, label: [])
    let row = try slot.row(
      5, holding: payload, protected: try Key.random().finish(), vault: vault.id)
    let columns = [row.header, row.key, row.protected].map { "x'" + hex($0) + "'" }
    file.attack("INSERT INTO slot VALUES (5, " + columns.joined(separator: ", ") + ")")
    let key = try file.key("mine")
    #expect(key.slot == 5)
    let origin = key.origin
    #expect(throws: VaultError.credentialStale) {
      try vault.checkTimes(idleTimeout: 1, maxSession: 1, by: origin)
    }
    let proof: OwnerProof? = try OwnerProof(key)
    #expect(throws: (any Error).self) { try vault.setPolicy(.reuseWindow, to: 1, by: proof) }
    #expect(vault.policy[.reuseWindow] == 0)
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// What is looser than the first value, and what is not.
  @Test(
    arguments: [
      (.idleTimeout, 900_000, [900_001], [900_000, 1_000]),
      (.maxSession, 28_800_000, [28_800_001], [1_000]),
      (.reuseWindow, 5_000, [5_001], [4_999, 0]),
      (.lockOnSleep, 1, [0], [1]),
      (.historyDepth, 10, [9, 0], [10, 11]),
      (.logEntries, 10_000, [9_999, 0], [10_001]),
      (.eraseLocalAfter, 10, [9, 11, 0], [10]),
      (.logSync, 1, [], [1, 0]),
      (.fingerprint, 0, [1], [0]),
      (.fingerprint, 1, [0], [1]),
    ] as [(Setting, UInt64, [UInt64], [UInt64])])
  func `is taken for a looser setting, and for no stricter one`(
    key: Setting, start: UInt64, looser: [UInt64], stricter: [UInt64]
  ) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for value in looser + stricter {
      try vault.setPolicy(key, to: start)
      let isLooser = looser.contains(value)
      if isLooser {
        let epoch = vault.summary.epoch
        #expect(throws: VaultError.ownerNeeded) { try vault.setPolicy(key, to: value, by: nil) }
        #expect(vault.policy[key] == start && vault.summary.epoch == epoch)
        try vault.setPolicy(key, to: value)
      } else {
        try vault.setPolicy(key, to: value, by: nil)
      }
      #expect(vault.policy[key] == value)
    }
  }

  @Test func `is asked for by what the policy is then, whoever changed it`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    var second = try file.unlock()
    try first.setPolicy(.idleTimeout, to: 60_000)
    #expect(throws: VaultError.ownerNeeded) {
      try second.setPolicy(.idleTimeout, to: 900_000, by: nil)
    }
    #expect(second.policy[.idleTimeout] == 60_000)
  }
}
