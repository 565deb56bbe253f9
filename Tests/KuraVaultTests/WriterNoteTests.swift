// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// A machine that is cut off right after a change, before it has noted that state, is who it was.
@Suite struct `A machine that is cut off` {
  let file: TestVault
  let device: DeviceID

  init() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    file = machines.all[0]
    device = try file.settledDevice()
  }

  private func files(in directory: String) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      if let data = FileManager.default.contents(atPath: directory + "/" + name) {
        found[name] = data
      }
    }
    return found
  }

  private func put(_ files: [String: Data], in directory: String) throws {
    for (name, data) in files {
      let path = directory + "/" + name
      try data.write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
  }

  @Test func `goes on under its id`() throws {
    let noted = try files(in: file.stateDirectory)
    try file.fill { vault throws in
      try vault.put("a", "2")
      try vault.put("b", "1")
    }
    try #require(files(in: file.stateDirectory) != noted)
    try put(noted, in: file.stateDirectory)
    #expect(try file.settledDevice() == device)
    try file.fill { vault throws in
      #expect(try vault.getText("a") == "2" && vault.findings() == [])
    }
  }

  @Test func `is another one where a file was put back that it had seen at a later state`() throws {
    let directory = (file.path as NSString).deletingLastPathComponent
    var vault = try file.unlock()
    try vault.put("a", "2")
    let before = try files(in: directory)
    try vault.put("a", "3")
    vault.fold()
    let all = try FileManager.default.contentsOfDirectory(atPath: directory)
    for name in all where name.hasPrefix("test.kura") {
      try FileManager.default.removeItem(atPath: directory + "/" + name)
    }
    let names = ["test.kura", "test.kura-wal"]
    try put(before.filter { names.contains($0.key) }, in: directory)
    #expect(throws: VaultError.self) { _ = try file.unlock() }
    var older = try file.unlock(accepting: true)
    #expect(try older.getText("a") == "2")
    #expect(try older.ownDevice() != device)
    older.fold()
  }

  @Test func `is another one where somebody else wrote the file`() throws {
    let noted = try files(in: file.stateDirectory)
    let other = try TestVault.machine(7)
    try Copies.copy(file, to: other)
    try other.fill { try $0.put("a", "2") }
    try Copies.copy(other, to: file)
    try put(noted, in: file.stateDirectory)
    #expect(try file.settledDevice() != device)
  }
}
