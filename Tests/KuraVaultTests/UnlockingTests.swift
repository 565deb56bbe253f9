// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Creating` {
  @Test func `makes one file that only its owner can read`() throws {
    let file = try TestVault()
    #expect(file.files == ["test.kura"])
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let vault = try file.unlock()
    #expect(vault.summary.epoch == 1 + TestVault.begun)
    #expect(vault.summary.itemCount == 0)
    #expect(vault.summary.weaknesses == [.weakKDF, .noRecoveryKey])
  }

  @Test func `happens only with the commit`() throws {
    let file = try TestVault(creating: false)
    let draft = try file.draft()
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(file.files.count == 1)
    try draft.commit()
    #expect(file.files == ["test.kura"])
  }

  @Test func `that is not committed leaves nothing`() throws {
    let file = try TestVault(creating: false)
    do { _ = try file.draft() }
    #expect(file.files == [])
  }

  @Test func `never overwrites`() throws {
    let file = try TestVault()
    let before = try file.content()
    #expect(throws: VaultError.pathTaken) { _ = try file.draft() }
    let other = try TestVault(creating: false)
    #expect(throws: VaultError.pathTaken) {
      let draft = try other.draft()
      try FileManager.default.copyItem(atPath: file.path, toPath: other.path)
      try draft.commit()
    }
    #expect(try other.content() == before)
    #expect(other.files == ["test.kura"])
  }

  @Test func `keeps away from another vault's journal`() throws {
    let file = try TestVault(creating: false)
    try FileManager.default.createDirectory(
      atPath: file.directory + "/vault", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data([1]).write(to: URL(filePath: file.path + "-wal"))
    #expect(throws: VaultError.walLeftBehind) { _ = try file.draft() }
  }

  @Test(arguments: ["-wal", "-shm", "-journal"])
  func `stops before a journal that appears ahead of the commit`(suffix: String) throws {
    let file = try TestVault(creating: false)
    #expect(throws: VaultError.walLeftBehind) {
      let draft = try file.draft()
      try Data([1]).write(to: URL(filePath: file.path + suffix))
      try draft.commit()
    }
    #expect(file.files == ["test.kura" + suffix])
    #expect(try file.content(of: "test.kura" + suffix) == Data([1]))
  }

  @Test func `below the floor has to be asked for`() throws {
    let file = try TestVault(creating: false)
    #expect(throws: VaultError.kdfTooWeak) {
      _ = try VaultDraft.make(
        at: file.path, options: file.options, passcode: secret("x"), kdf: TestVault.kdf,
        wantsRecoveryKey: false)
    }
    #expect(file.files == [])
  }

  @Test(arguments: ["", "a\nb"])
  func `takes a passcode that follows the rules`(passcode: String) throws {
    let file = try TestVault(creating: false)
    do throws(VaultError) {
      _ = try VaultDraft.make(
        at: file.path, options: file.options, passcode: secret(passcode), kdf: TestVault.kdf,
        allowsWeak: true, wantsRecoveryKey: false)
      Issue.record("made")
    } catch {
      if case .passcodeInvalid = error { return }
      Issue.record("\(error)")
    }
  }
}

@Suite struct `Unlocking` {
  @Test func `takes the passcode`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    #expect(file.refusal() == nil)
    #expect(file.refusal("Correct horse") == .wrongPasscode)
    #expect(file.refusal("a\nb") == .passcodeInvalid(.controlCharacter))
    let vault = try file.unlock()
    #expect(vault.unlockSlot == 0)
    #expect(vault.summary.weaknesses == [.weakKDF])
  }

  @Test func `takes any spelling of the passcode`() throws {
    let file = try TestVault(creating: false)
    try VaultDraft.make(
      at: file.path, options: file.options, passcode: secret("caf\u{E9}"), kdf: TestVault.kdf,
      allowsWeak: true, wantsRecoveryKey: false
    ).commit()
    #expect(file.refusal("cafe\u{301}") == nil)
  }

  @Test func `takes the recovery key`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    let text = String(decoding: file.recoveryKey, as: UTF8.self)
    #expect(text.count == 44)
    #expect(file.refusal(text.lowercased(), .recoveryKey) == nil)
    let other = try TestVault(wantsRecoveryKey: true)
    let wrong = String(decoding: other.recoveryKey, as: UTF8.self)
    #expect(file.refusal(wrong, .recoveryKey) == .wrongPasscode)
    var typo = Array(text)
    typo[6] = typo[6] == "0" ? "1" : "0"
    #expect(file.refusal(String(typo), .recoveryKey) == .recoveryKeyTypo(.group(2)))
  }

  @Test func `with what no slot takes says so`() throws {
    let file = try TestVault()
    #expect(file.refusal("x", .recoveryKey) == .noSuchSlot(.recoveryKey))
    #expect(file.refusal("x", .keyFile) == .noSuchSlot(.keyFile))
  }

  @Test func `with a key of another vault is refused`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    #expect(throws: VaultError.credentialStale) {
      let key = try other.key()
      _ = try file.open().unlock(with: key)
    }
  }

  @Test func `refuses a hostile header before it allocates anything`() throws {
    let file = try TestVault()
    // Memory is the little-endian number at offset 8 of the header, passes the one at 4.
    file.attack(
      """
      UPDATE slot SET header = CAST(substr(header, 1, 8) || x'0000000000040000'
      || substr(header, 17) AS BLOB)
      """)
    #expect(file.refusal() == .kdfRefused(.memory(4 << 40)))
    file.attack(
      """
      UPDATE slot SET header = CAST(substr(header, 1, 4) || x'FFFFFFFF'
      || substr(header, 9) AS BLOB)
      """)
    #expect(file.refusal() == .kdfRefused(.passes(.max)))
  }

  @Test func `goes back to locked and on again`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    var locked = vault.lock()
    #expect(locked.slots.map(\.kind) == [.passcode])
    let key = try locked.attempt().open(.passcode, secret: secret(TestVault.passcode))
    vault = try locked.unlock(with: key)
    #expect(try vault.getText("a") == "1")
    vault.lock().close()
    #expect(file.files == ["test.kura"])
  }

  @Test func `knows the file whatever path leads to it`() throws {
    let file = try TestVault()
    let link = file.directory + "/link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: file.directory + "/vault")
    let locked = try LockedVault(at: link + "/test.kura", options: file.options)
    #expect(locked.path == file.path)
    #expect(try locked.fileID == FileID.of(path: file.path))
    #expect(throws: VaultError.noVault) { try FileID.of(path: file.path + "x") }
  }
}

@Suite struct `A file` {
  @Test func `that is not there is no vault`() throws {
    let file = try TestVault(creating: false)
    #expect(file.refusal() == .noVault)
    try file.create()
    #expect(throws: VaultError.noVault) {
      _ = try LockedVault(at: file.path + "x", options: file.options)
    }
    #expect(throws: VaultError.noVault) {
      _ = try LockedVault(at: "relative", options: file.options)
    }
  }

  @Test func `of something else is not a vault`() throws {
    let file = try TestVault()
    try file.restore(Data("hello".utf8))
    #expect(file.refusal() == .notAVault)
    try file.restore(Data())
    #expect(file.refusal() == .notAVault)
  }

  @Test func `of a later format is left alone`() throws {
    let file = try TestVault()
    file.attack("PRAGMA user_version=7")
    let before = try file.content()
    #expect(file.refusal() == .newerFormat(7))
    #expect(try file.content() == before)
    #expect(file.files == ["test.kura"])
    let own = TestVault.isOfSecondFormat ? 2 : 1
    file.attack(
      "PRAGMA user_version=\(own)", "UPDATE part SET data = x'4B55524202000000' WHERE id = 0")
    #expect(file.refusal() == .notAVault)
    file.attack(
      "UPDATE part SET data = CAST(x'4B5552410300' || zeroblob(18) AS BLOB) WHERE id = 0")
    #expect(file.refusal() == .newerFormat(3))
    // The header and the tables have one format.
    file.attack(
      "UPDATE part SET data = CAST(x'4B5552410\(3 - own)00' || zeroblob(18) AS BLOB) WHERE id = 0")
    #expect(file.refusal() == .damaged(.header))
  }

  @Test func `in a directory that others may write in is refused, but not one that they may enter`()
    throws
  {
    let file = try TestVault()
    let directory = file.directory + "/vault"
    for mode in [0o770, 0o702, 0o1777] as [mode_t] {
      chmod(directory, mode)
      #expect(file.refusal() == .directoryUnsafe(.mode(UInt16(mode))))
      #expect(throws: VaultError.directoryUnsafe(.mode(UInt16(mode)))) { _ = try file.draft() }
    }
    chmod(directory, 0o755)
    #expect(file.refusal() == nil)
    chmod(file.path, 0o640)
    #expect(file.refusal() == .fileUnsafe(.mode(0o640)))
    chmod(file.path, 0o600)
    #expect(file.refusal() == nil)
  }

  @Test(arguments: ["", "/device"])
  func `with state that others may write is refused, and says which`(_ name: String) throws {
    let file = try TestVault()
    let directory = file.stateDirectory + name
    mkdir(directory, 0o700)
    chmod(directory, 0o755)
    #expect(file.refusal() == nil)
    for mode in [0o777, 0o1777, 0o770] as [mode_t] {
      chmod(directory, mode)
      let unsafe = VaultError.stateDirectoryUnsafe(.mode(UInt16(mode)), path: directory)
      #expect(file.refusal() == unsafe)
      let second = try TestVault(creating: false)
      mkdir(second.stateDirectory, 0o700)
      mkdir(second.stateDirectory + name, 0o700)
      chmod(second.stateDirectory + name, mode)
      #expect(throws: VaultError.self) { _ = try second.draft() }
      #expect(second.files.isEmpty)
    }
  }

  @Test func `that is a symbolic link is refused`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: other.path)
    #expect(file.refusal() == .fileUnsafe(.kind))
  }

  @Test func `that was replaced is noticed before anything is lost`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".old")
    #expect(throws: VaultError.replaced) { try vault.put("a", "2") }
    #expect(throws: VaultError.replaced) { try vault.get("a") }
    #expect(throws: VaultError.replaced) { try vault.checkInPlace() }
  }

  @Test func `in use by another engine is busy, and nothing is lost`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let blocker = try Blocker(file)
    #expect(throws: VaultError.busy) { try vault.put("a", "2") }
    #expect(try vault.getText("a") == "1")
    blocker.release()
    try vault.put("a", "2")
    #expect(try vault.getText("a") == "2")
  }

  @Test func `on a full disk keeps its state`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let file = try TestVault()
      var vault = try file.unlock()
      try vault.put("a", "1")
      try vault.flushSeen()
      var limit = rlimit(rlim_cur: 300_000, rlim_max: .max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(throws: VaultError.diskFull) {
        for number in 0..<20 { try vault.put("b\(number)", pattern(65_536)) }
      }
      #expect(throws: VaultError.diskFull) { try vault.upload("c", pattern(3_000_000)) }
      #expect(try vault.getText("a") == "1")
      limit.rlim_cur = .max
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(try vault.findings() == [])
      try vault.put("a", "2")
      #expect(try vault.getText("a") == "2")
    }
  }
}
