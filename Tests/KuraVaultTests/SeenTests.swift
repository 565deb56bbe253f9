// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `The seen file` {
  @Test func `is begun when the vault is made`() throws {
    let file = try TestVault()
    let first = try file.unlock()
    #expect(!first.notices.contains(.firstSeen))
    #expect(first.needsFlush == false)
    let state = try FileManager.default.contentsOfDirectory(atPath: file.stateDirectory)
    #expect(state.sorted() == ["\(first.id.hexadecimal).seen", "places"])
    let seen = try Data(contentsOf: URL(filePath: file.stateDirectory + "/" + state.sorted()[0]))
    #expect(seen.count == 1_024)
  }

  @Test func `is begun at the first unlock on another machine`() throws {
    let file = try TestVault()
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    let first = try file.unlock()
    #expect(first.notices.contains(.firstSeen))
    let second = try file.unlock()
    #expect(!second.notices.contains(.firstSeen))
  }

  @Test func `that is gone is not taken for a first time`() throws {
    let file = try TestVault()
    let vault = try file.unlock()
    try FileManager.default.removeItem(at: seenURL(file, vault))
    let second = try file.unlock()
    #expect(second.notices.contains(.seenGone))
    #expect(!second.notices.contains(.firstSeen))
    #expect(try !file.unlock().notices.contains(.seenGone))
  }

  @Test func `is written when the epoch moved`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    #expect(vault.needsFlush == true)
    try vault.flushSeen()
    #expect(vault.needsFlush == false)
    #expect(seenEpoch(file, vault) == 2 + TestVault.begun)
  }

  @Test func `survives a torn write`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 1...3 {
      try vault.put("a", "\(number)")
      try vault.flushSeen()
    }
    let url = seenURL(file, vault)
    let whole = try Data(contentsOf: url)
    // The record that was written last is torn: the one before counts, and is no higher than the vault.
    for half in [0, 512] {
      var torn = whole
      torn.replaceSubrange((half + 100)..<(half + 512), with: Data(count: 412))
      try torn.write(to: url)
      #expect(file.refusal() == nil)
    }
  }

  @Test func `that cannot be kept does not keep anybody from the vault`() throws {
    let file = try TestVault()
    // A file in the directory's place: nothing can be made below it, not even by root.
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    try Data().write(to: URL(filePath: file.stateDirectory))
    var vault = try file.unlock()
    #expect(vault.notices.contains(.seenNotKept))
    try vault.put("a", "1")
    try vault.flushSeen()
    #expect(vault.needsFlush == false)
    try vault.upload("b", pattern(3_000_000))
    #expect(try vault.get("b") == pattern(3_000_000))
    try vault.sweepAll()
  }

  @Test func `that cannot be read is begun anew, and that is told`() throws {
    let file = try TestVault()
    let vault = try file.unlock()
    try Data(count: 1_024).write(to: seenURL(file, vault))
    let second = try file.unlock()
    #expect(second.notices.contains(.seenDamaged))
    #expect(seenEpoch(file, second) == 1 + TestVault.begun)
  }

  @Test func `where something else stands stops the unlock, and is told by its own path`() throws {
    let file = try TestVault()
    let vault = try file.unlock()
    let path = seenURL(file, vault).path
    let unusable = VaultError.stateFile(0, path: path)
    try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
    symlink(path + "-away", path)
    #expect(file.refusal() == unusable)
    unlink(path)
    mkfifo(path, 0o600)
    #expect(file.refusal() == unusable)
    unlink(path)
    mkdir(path, 0o700)
    #expect(file.refusal() == unusable)
    rmdir(path)
    try FileManager.default.moveItem(atPath: path + "-away", toPath: path)
    chmod(path, 0o620)
    #expect(file.refusal() == unusable)
    chmod(path, 0o600)
    #expect(file.refusal() == nil)
  }

  @Test func `never goes backward`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    var second = try file.unlock()
    try first.put("a", "1")
    try second.put("a", "2")
    try second.put("a", "3")
    try second.flushSeen()
    #expect(seenEpoch(file, second) == 4 + TestVault.begun)
    try first.flushSeen()
    #expect(seenEpoch(file, second) == 4 + TestVault.begun)
  }

  private func seenURL(_ file: TestVault, _ vault: borrowing UnlockedVault) -> URL {
    URL(filePath: "\(file.stateDirectory)/\(vault.id.hexadecimal).seen")
  }

  private func seenEpoch(_ file: TestVault, _ vault: borrowing UnlockedVault) -> UInt64? {
    guard let bytes = try? Array(Data(contentsOf: seenURL(file, vault))) else { return nil }
    return try? SeenRecord.latest(in: bytes.span, key: vault.keys.seen, vault: vault.id).epoch
  }
}

@Suite struct `An older copy of the vault` {
  @Test func `is refused, and says where the newer one was`() throws {
    let file = try TestVault()
    try file.fill { try $0.put("a", "1") }
    let old = try file.content()
    try file.fill { try $0.put("a", "2") }
    try file.restore(old)
    switch file.refusal() {
    case .rolledBack(let copy, epoch: 2 + TestVault.begun):
      #expect(copy.epoch == 3 + TestVault.begun)
      #expect(copy.path == Array(file.path.utf8))
      #expect(copy.time > 1_700_000_000_000)
    case let other: Issue.record("\(String(describing: other))")
    }
    // The check is what refuses it.
    #expect(file.refusal(without: .seen) == nil)
  }

  @Test func `can be accepted`() throws {
    let file = try TestVault()
    let old = try file.content()
    try file.fill { try $0.put("a", "1") }
    try file.restore(old)
    #expect(file.refusal() != nil)
    let vault = try file.unlock(accepting: true)
    #expect(vault.notices.contains(.rollbackAccepted))
    #expect(vault.summary.epoch == 1 + TestVault.begun)
    let again = try file.unlock()
    #expect(!again.notices.contains(.rollbackAccepted))
  }

  @Test func `that went another way is refused`() throws {
    let file = try TestVault()
    let old = try file.content()
    try file.fill { try $0.put("a", "1") }
    try file.restore(old)
    // Another machine's engine knows nothing of the first way.
    let state = file.stateDirectory
    try FileManager.default.moveItem(atPath: state, toPath: state + ".kept")
    try file.fill { try $0.put("a", "2") }
    try FileManager.default.removeItem(atPath: state)
    try FileManager.default.moveItem(atPath: state + ".kept", toPath: state)
    switch file.refusal() {
    case .forked(let copy, epoch: 2 + TestVault.begun):
      #expect(copy.epoch == 2 + TestVault.begun)
    case let other: Issue.record("\(String(describing: other))")
    }
    #expect(file.refusal(without: .seen) == nil)
  }

  @Test func `put in place under an unlocked vault is refused`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    file.attack("PRAGMA wal_checkpoint(TRUNCATE)")
    let old = file.attack("SELECT hex(data) FROM part WHERE id = 2")[0]
    try vault.put("a", "2")
    file.attack("UPDATE part SET data = x'\(old)' WHERE id = 2")
    switch caught({ _ = try vault.get("a") }) {
    case .rolledBack(_, epoch: 2 + TestVault.begun): break
    case let other: Issue.record("\(String(describing: other))")
    }
  }
}

/// What a call throws.
func caught(_ body: () throws -> Void) -> VaultError? {
  do {
    try body()
    return nil
  } catch { return error as? VaultError }
}
