// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraFormat
import Testing

@testable import KuraVault

/// The access log where something stands in its way: other engines, other keys, other files.
@Suite struct `An access log that others are at` {
  private func path(_ file: TestVault, _ id: VaultID, _ suffix: String = "") -> String {
    file.stateDirectory + "/\(id.hexadecimal).log" + suffix
  }

  private func rekey(_ vault: inout UnlockedVault, _ file: TestVault) throws {
    var rekey = try vault.beginRekey(authorizedBy: file.key(), try RekeySlots.cheap())
    while try rekey.step() {}
    try vault.finish(rekey)
  }

  @Test func `stands, when an engine with the keys from before a rekey comes to it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    var other = try file.unlock()
    try other.log(["a"])
    try vault.log(["b"])
    try rekey(&vault, file)
    try vault.log(["c"])
    other.noteForTest("d")
    var refusal: VaultError?
    do throws(VaultError) { try other.flushLog(sync: false) } catch { refusal = error }
    #expect(refusal == .replaced)
    let notes = other.lockNotes
    other.lock().close()
    #expect(notes.write() == 1)
    let read = try vault.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b", "c"])
    #expect(read.flaws.isEmpty)
    #expect(try file.stateFiles.allSatisfy { !$0.hasSuffix(".old") })
  }

  @Test func `is not left behind by a rekey while somebody holds it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let held = open(path(file, vault.id), O_RDWR | O_CLOEXEC)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    var refusal: VaultError?
    do { try rekey(&vault, file) } catch { refusal = error as? VaultError }
    #expect(refusal == .busy)
    #expect(flock(held, LOCK_UN) == 0)
    try rekey(&vault, file)
    let read = try vault.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a"])
    #expect(read.remarks == [.begun, .rekeyed])
  }

  @Test func `keeps entries of a locked vault as such through a rekey`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let id = vault.id
    vault.fold()
    try file.noteGuess(at: id)
    var again = try file.unlock()
    try again.log(["b"])
    try rekey(&again, file)
    let read = try again.readWhole()
    #expect(read.locked == ["/usr/bin/guesser"])
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b"])
    #expect(read.flaws.isEmpty)
  }

  @Test func `tells that it was removed, before its end was noted once`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    try FileManager.default.removeItem(atPath: path(file, vault.id))
    try vault.log(["b"])
    let read = try vault.readWhole()
    #expect(read.remarks == [.cut])
  }

  @Test func `tells at the next unlock how much could not be written at a lock`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    vault.noteForTest("b")
    vault.noteForTest("c")
    let held = open(path(file, vault.id), O_RDWR | O_CLOEXEC)
    #expect(flock(held, LOCK_EX) == 0)
    let notes = vault.lockNotes
    vault.lock().close()
    let lost = notes.write()
    #expect(lost == 2)
    #expect(flock(held, LOCK_UN) == 0)
    close(held)
    var again = try file.unlock()
    again.noteLostEntries(lost)
    try again.log(["d"])
    let read = try again.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "d"])
    #expect(read.remarks == [.begun, .lost])
  }

  @Test func `goes on behind a write that was cut off while another engine locks`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    vault.noteForTest("b")
    let notes = vault.lockNotes
    try file.changeLog(of: vault) { $0 += [1, 2, 3, 4, 5] }
    vault.lock().close()
    #expect(notes.write() == 0)
    var again = try file.unlock()
    let read = try again.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b"])
    #expect(read.flaws.isEmpty)
  }

  @Test func `is moved aside when nobody can read it, and over no other`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<3 {
      try vault.log(["a"])
      try file.changeLog(of: vault) { $0[60] ^= 1 }
      try vault.logUntilDone(["b"])
      let olds = try file.stateFiles.count { $0.contains(".log.old") }
      #expect(olds == number + 1)
    }
  }

  @Test func `takes no draft for what a rekey left that has another end`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    _ = try vault.readWhole()
    let early = try file.logBytes(of: vault)
    try vault.log(["b"])
    _ = try vault.readWhole()
    let draft = path(file, vault.id, ".new")
    #expect(FileManager.default.createFile(atPath: draft, contents: early))
    try file.changeLog(of: vault) { $0[60] ^= 1 }
    try vault.logUntilDone(["c"])
    let read = try vault.readWhole()
    #expect(read.remarks.contains(.unreadable))
    #expect(!read.names.contains("a"))
    // Beside a log that can be read it is nothing at all.
    #expect(FileManager.default.createFile(atPath: draft, contents: early))
    vault.fold()
    var again = try file.unlock()
    try again.log(["d"])
    #expect(try file.stateFiles.allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `is found behind junk`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    try vault.log(["b"])
    _ = try vault.readWhole()
    let second = try file.frames(of: vault)[1].range.lowerBound
    try file.changeLog(of: vault) { bytes in
      bytes.insert(contentsOf: Data(repeating: 7, count: 200_000), at: second)
    }
    let read = try vault.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b"])
    #expect(read.flaws == [.damaged])
  }
}

// MARK: - What anybody can seal

extension `An access log that others are at` {
  @Test func `takes nothing from who has no key but a refusal at a locked vault`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    _ = try vault.readWhole()
    let whole = try file.logBytes(of: vault)
    let half = try LogStart.publicHalf(in: [UInt8](whole).span, vault: vault.id)
    let forged = [
      LogFacts(time: 1, verb: 5), LogFacts(time: 1, verb: 0, detail: 3),
      LogFacts(time: 1, verb: 0, code: 32),
    ]
    for facts in forged {
      let frame = try LogBlock.lockedFrame(facts, to: half, vault: vault.id)
      try file.changeLog(of: vault) { $0 = whole + frame }
      let read = try vault.readWhole()
      #expect(read.flaws == [.damaged])
      #expect(read.locked.isEmpty)
      #expect(read.names.filter { !$0.isEmpty } == ["a"])
    }
  }
}
