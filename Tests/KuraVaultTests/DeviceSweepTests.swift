// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `The device secret of a slot that is being added` {
  @Test func `is destroyed at the next upkeep when its engine was killed`() throws {
    let file = try TestVault()
    let (devices, slot) = try left(in: file, of: file.open().id)
    var vault = try file.unlock()
    #expect(devices.has(slot))
    try vault.sweepAll()
    #expect(!devices.has(slot))
    #expect(try notes(of: file) == [])
  }

  @Test func `stays while its engine is at work`() throws {
    let file = try TestVault()
    let devices = DeviceSecrets(stateDirectory: file.stateDirectory)
    let slot = try SlotID.random()
    let note = try devices.beginAdding(slot, to: file.open().id)
    try devices.store(secret([UInt8](repeating: 7, count: 32)), of: slot)
    var vault = try file.unlock()
    try vault.sweepAll()
    #expect(devices.has(slot))
    note.end()
    #expect(try notes(of: file) == [])
  }

  @Test func `stays when it belongs to another vault`() throws {
    let file = try TestVault()
    let (devices, slot) = try left(in: file, of: try VaultID.random())
    var vault = try file.unlock()
    try vault.sweepAll()
    #expect(devices.has(slot))
    #expect(try notes(of: file).count == 1)
  }

  @Test func `stays when the slot got into the vault just before`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let fresh = try file.key()
    let slot = try PreparedSlot.local(secret("1234"), kdf: TestVault.kdf, allowsWeak: true)
    let id = slot.header.id
    try vault.addSlot(slot, authorizedBy: fresh)
    #expect(try notes(of: file) == [])
    let devices = DeviceSecrets(stateDirectory: file.stateDirectory)
    _ = try devices.beginAdding(id, to: vault.id)
    try vault.sweepAll()
    #expect(devices.has(id))
    #expect(try notes(of: file) == [])
    #expect(file.refusal("1234", .local) == nil)
  }

  @Test func `is not used when others can read it`() throws {
    let file = try TestVault()
    let devices = DeviceSecrets(stateDirectory: file.stateDirectory)
    let slot = try SlotID.random()
    try devices.store(secret([UInt8](repeating: 7, count: 32)), of: slot)
    #expect(try devices.secret(of: slot)?.count == 32)
    for mode in [0o604, 0o640] as [mode_t] {
      chmod("\(devices.directory)/\(slot.hexadecimal).secret", mode)
      #expect(!devices.has(slot))
      #expect(throws: VaultError.deviceSecretUnsafe(.mode(UInt16(mode)))) {
        _ = try devices.secret(of: slot)
      }
    }
  }

  /// A secret whose slot never came to be.
  private func left(in file: TestVault, of vault: VaultID) throws -> (DeviceSecrets, SlotID) {
    let devices = DeviceSecrets(stateDirectory: file.stateDirectory)
    let slot = try SlotID.random()
    _ = try devices.beginAdding(slot, to: vault)
    try devices.store(secret([UInt8](repeating: 7, count: 32)), of: slot)
    return (devices, slot)
  }

  private func notes(of file: TestVault) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(
      atPath: file.stateDirectory + "/device")
    return names.filter { $0.hasSuffix(".adding") }
  }
}
