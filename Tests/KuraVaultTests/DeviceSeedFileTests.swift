// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// The secret half of a copy's pair stands on its machine, and in no vault.
@Suite struct DeviceSeedFileTests {
  private func key(of seed: borrowing DeviceSeed?) throws -> [UInt8]? {
    switch seed {
    case .some(let seed): try seed.pair().publicHalf
    case .none: nil
    }
  }

  private func found(_ vault: borrowing UnlockedVault, _ device: DeviceID) throws -> [UInt8]? {
    try key(of: vault.seed(of: device))
  }

  @Test func `a seed is kept for the copy that it is of`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    #expect(try found(vault, device) == nil)
    let seed = try DeviceSeed.random(vault: vault.id, device: device)
    let half = try seed.pair().publicHalf
    try vault.store(seed)
    #expect(try found(vault, device) == half)
    #expect(try found(vault, Shared.mark(4)) == nil)
    let path = file.stateDirectory + "/device/" + vault.id.hexadecimal + ".sync"
    let facts = try FileManager.default.attributesOfItem(atPath: path)
    #expect(facts[.posixPermissions] as? Int == 0o600 && facts[.size] as? Int == 144)
    let names = try FileManager.default.contentsOfDirectory(atPath: file.stateDirectory + "/device")
    #expect(Set(names) == [vault.id.hexadecimal + ".sync", "CACHEDIR.TAG"])
    // Another one takes its place.
    let next = try DeviceSeed.random(vault: vault.id, device: Shared.mark(4))
    try vault.store(next)
    #expect(try found(vault, device) == nil)
    #expect(try found(vault, Shared.mark(4)) == next.pair().publicHalf)
    try vault.store(seed)
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.dropLast().write(to: URL(filePath: path))
    #expect(try found(vault, device) == nil)
    try (whole + [0]).write(to: URL(filePath: path))
    #expect(try found(vault, device) == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    #expect(throws: VaultError.stateFile(0, path: path)) { _ = try found(vault, device) }
    vault.fold()
  }

  @Test func `a seed goes over to another vault key, and through a kill`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    try file.fill { vault throws in try vault.share() }
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    let half = try #require(try found(vault, device))
    let path = file.stateDirectory + "/device/" + vault.id.hexadecimal + ".sync"
    let before = try Data(contentsOf: URL(filePath: path))
    _ = try vault.rekey(file.key())
    #expect(try found(vault, device) == half)
    #expect(try Data(contentsOf: URL(filePath: path)) != before)
    // As if it had been killed right behind the commit.
    try FileManager.default.moveItem(atPath: path, toPath: path + ".new")
    try before.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try found(vault, device) == half)
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    #expect(try found(vault, device) == half)
    vault.fold()
  }
}
