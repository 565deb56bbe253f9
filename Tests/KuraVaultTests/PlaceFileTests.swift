// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// Two vaults of one owner, on one machine.
@Suite struct `A vault's place` {
  let first: TestVault
  let second: TestVault

  init() throws {
    first = try TestVault()
    second = try TestVault(creating: false)
    second.sharedState = first.stateDirectory
    try second.create()
    try first.fill { try $0.put("a", "first") }
    try second.fill { try $0.put("a", "second") }
  }

  private func exchange() throws {
    let content = try first.content()
    try first.restore(try second.content())
    try second.restore(content)
  }

  @Test func `is not another's: two that were exchanged are refused, and say where each was`()
    throws
  {
    #expect(first.refusal() == nil)
    #expect(second.refusal() == nil)
    try exchange()
    #expect(second.refusal() == .exchanged(lastPath: Array(first.path.utf8)))
    #expect(first.refusal() == .exchanged(lastPath: Array(second.path.utf8)))
    // The check is what refuses it.
    #expect(second.refusal(without: .place) == nil)
  }

  @Test func `is not one's that was copied over another`() throws {
    try second.restore(try first.content())
    #expect(second.refusal() == .exchanged(lastPath: Array(first.path.utf8)))
    #expect(first.refusal() == nil)
  }

  @Test func `is another's too when that was never seen on this machine`() throws {
    let foreign = try TestVault()
    try second.restore(try foreign.content())
    #expect(second.refusal() == .exchanged(lastPath: []))
  }

  @Test func `is the one's that its owner says, until another comes`() throws {
    try exchange()
    var vault = try second.unlock(acceptingExchange: true)
    #expect(vault.notices.contains(.exchangeAccepted))
    #expect(try vault.get("a") == Array("first".utf8))
    vault.lock().close()
    #expect(second.refusal() == nil)
    // Which says nothing of the other.
    guard case .exchanged = first.refusal() else {
      Issue.record("taken")
      return
    }
    // Nor does it stay so for who comes back.
    let content = try second.content()
    try first.fillAccepting()
    try second.restore(try first.content())
    try first.restore(content)
    guard case .exchanged = second.refusal() else {
      Issue.record("taken")
      return
    }
  }

  @Test func `that is new is told, once, where no other vault was`() throws {
    let path = first.directory + "/vault/elsewhere.kura"
    try FileManager.default.moveItem(atPath: first.path, toPath: path)
    #expect(try unlock(path).contains(.moved))
    #expect(try !unlock(path).contains(.moved))
  }

  @Test func `is the same by whatever path`() throws {
    let link = first.directory + "/link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: first.directory + "/vault")
    #expect(try unlock(link + "/../vault/./test.kura") == [])
    #expect(try unlock(link + "/test.kura") == [])
  }

  @Test func `is that of a vault made anew there, without a word`() throws {
    try FileManager.default.removeItem(atPath: second.path)
    try second.create()
    let vault = try second.unlock()
    #expect(vault.notices.isDisjoint(with: [.moved, .exchangeAccepted]))
    vault.lock().close()
    // The one that was there before does not come back unnoticed.
    try second.restore(try first.content())
    guard case .exchanged = second.refusal() else {
      Issue.record("taken")
      return
    }
  }

  @Test func `is that of a vault that was made beside it to take it`() throws {
    let draft = second.path + ".reset-20261122-131500"
    try FileManager.default.moveItem(atPath: second.path, toPath: second.path + ".old")
    let made = try VaultDraft.make(
      at: draft, options: second.options, passcode: secret(TestVault.passcode),
      kdf: TestVault.kdf, allowsWeak: true, wantsRecoveryKey: false)
    try made.commit()
    try FileManager.default.moveItem(atPath: draft, toPath: second.path)
    #expect(try unlock(second.path) == [])
    #expect(try unlock(second.path) == [])
    #expect(PlaceFile.isDraft(Array(draft.utf8), for: Array(second.path.utf8)))
    #expect(!PlaceFile.isDraft(Array(draft.utf8), for: Array(first.path.utf8)))
    let copy = second.path + ".older-20261122-131500"
    #expect(!PlaceFile.isDraft(Array(copy.utf8), for: Array(second.path.utf8)))
  }

  @Test func `is not taken under a name that only looks like that of a draft`() throws {
    let ends = ["20261122+131500", "2026112-2131500", "20261122-13150x", "...............", "1-1"]
    for end in ends {
      let path = Array((second.path + ".reset-" + end).utf8)
      #expect(!PlaceFile.isDraft(path, for: Array(second.path.utf8)))
    }
    // Nor by a vault that was elsewhere before.
    let draft = second.path + ".reset-20261122-131500"
    try FileManager.default.moveItem(atPath: first.path, toPath: draft)
    #expect(try unlock(draft) == .moved)
    try second.restore(try Data(contentsOf: URL(filePath: draft)))
    #expect(second.refusal() == .exchanged(lastPath: Array(draft.utf8)))
  }

  @Test func `is told by a file that is the user's alone, else nothing is unlocked`() throws {
    let path = first.stateDirectory + "/places"
    let unusable = VaultError.stateFile(0, path: path)
    chmod(path, 0o666)
    #expect(first.refusal() == unusable)
    chmod(path, 0o600)
    #expect(first.refusal() == nil)
    try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
    symlink(path + "-away", path)
    #expect(first.refusal() == unusable)
    unlink(path)
    mkdir(path, 0o700)
    #expect(first.refusal() == unusable)
  }

  @Test func `that cannot be read is learned anew`() throws {
    let file = URL(filePath: first.stateDirectory + "/places")
    var bytes = try Data(contentsOf: file)
    bytes[600] ^= 1
    bytes.append(7)
    try bytes.write(to: file)
    #expect(try unlock(first.path) == [])
    #expect(try unlock(second.path) == .seenDamaged)
    try exchange()
    #expect(first.refusal() != nil)
    #expect(second.refusal() != nil)
  }

  private func unlock(_ path: String) throws -> Notice {
    var locked = try LockedVault(at: path, options: first.options)
    let key = try locked.attempt().open(.passcode, secret: secret(TestVault.passcode))
    let vault = try locked.unlock(with: key)
    let notices = vault.notices.intersection([.moved, .exchangeAccepted, .seenDamaged])
    vault.lock().close()
    return notices
  }
}

extension TestVault {
  /// Unlocks what stands here as this place's vault, and locks it.
  fileprivate func fillAccepting() throws {
    let vault = try unlock(acceptingExchange: true)
    vault.lock().close()
  }
}

/// What an engine remembers of a vault that it has locked.
@Suite struct `An engine's memory` {
  @Test func `tells an older copy after a lock, when the seen file is gone or damaged`() throws {
    let file = try TestVault()
    file.memory = VaultMemory()
    try file.fill { try $0.put("a", "1") }
    let old = try file.content()
    try file.fill { try $0.put("a", "2") }
    try file.restore(old)
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    switch file.refusal() {
    case .rolledBack(let copy, epoch: 2 + TestVault.begun):
      #expect(copy.epoch == 3 + TestVault.begun)
      #expect(copy.path == Array(file.path.utf8))
    case let other: Issue.record("\(String(describing: other))")
    }
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    let accepted = try file.unlock(accepting: true)
    #expect(accepted.notices.contains(.rollbackAccepted))
    accepted.lock().close()
    #expect(file.refusal() == nil)
  }

  @Test func `tells a copy that went another way`() throws {
    let file = try TestVault()
    try file.fill { try $0.put("a", "1") }
    let old = try file.content()
    file.memory = VaultMemory()
    try file.fill { try $0.put("a", "2") }
    let memory = file.memory
    file.memory = nil
    try file.restore(old)
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    try file.fill { try $0.put("a", "other") }
    try FileManager.default.removeItem(atPath: file.stateDirectory)
    file.memory = memory
    guard case .forked = file.refusal() else {
      Issue.record("taken")
      return
    }
  }

  @Test func `is of the newest state at the lock, whatever was written of it`() throws {
    let file = try TestVault()
    file.memory = VaultMemory()
    let old = try file.content()
    var vault = try file.unlock()
    try vault.put("a", "1")
    vault.lock().close()
    try file.restore(old)
    guard case .rolledBack = file.refusal() else {
      Issue.record("taken")
      return
    }
  }
}
