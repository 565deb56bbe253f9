// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `The access log` {
  @Test func `gives back what was noted, sealed in its file`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["com.example.juice/one", "com.example.juice/two"])
    let read = try vault.readWhole()
    #expect(read.names == ["", "com.example.juice/one", "com.example.juice/two"])
    #expect(read.flaws.isEmpty)
    #expect(read.remarks == [.begun])
    let bytes = try file.logBytes(of: vault)
    #expect(bytes.range(of: Data("juice".utf8)) == nil)
    #expect(bytes.range(of: Data("/bin/sh".utf8)) == nil)
  }

  @Test func `goes on after a lock, with what waited then`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["first"])
    vault.noteForTest("last")
    vault.fold()
    var again = try file.unlock()
    try again.log(["next"])
    let read = try again.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["first", "last", "next"])
    #expect(read.flaws.isEmpty)
  }

  @Test func `of two engines is one log, whoever locks first`() throws {
    let file = try TestVault()
    var one = try file.unlock()
    var other = try file.unlock()
    try one.log(["a"])
    try other.log(["b"])
    one.noteForTest("c")
    try other.log(["d"])
    // It was sealed for the place where the other one wrote meanwhile.
    one.fold()
    try other.log(["e"])
    let read = try other.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b", "d", "c", "e"])
    #expect(read.flaws.isEmpty)
  }

  @Test func `takes entries while the vault is locked, and binds them at the next unlock`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let id = vault.id
    vault.fold()
    try file.noteGuess(at: id)
    let before = try file.logBytes(id)
    #expect(before.range(of: Data("guesser".utf8)) == nil)
    var again = try file.unlock()
    try again.log(["b"])
    let read = try again.readWhole()
    #expect(read.flaws.isEmpty)
    #expect(read.locked == ["/usr/bin/guesser"])
    // Taken out now, it is missed.
    let place = try #require(try file.frames(of: again).first { $0.kind == .locked }).range
    try file.changeLog(of: again) { $0.removeSubrange(place) }
    let read0 = try again.readWhole()
    #expect(read0.flaws == [.missing])
    #expect(read0.locked == [])
  }

  @Test func `keeps nothing of an entry for which the room did not do`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let file = try TestVault()
      var vault = try file.unlock()
      try vault.log(["a"])
      let before = try file.logBytes(of: vault)
      var limit = rlimit(rlim_cur: rlim_t(before.count + 40), rlim_max: .max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(throws: VaultError.self) { try vault.log(["b"]) }
      let after = try file.logBytes(of: vault)
      #expect(after == before)
      limit.rlim_cur = .max
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      try vault.flushLog(sync: false)
      let read = try vault.readWhole()
      #expect(read.names.suffix(2) == ["a", "b"])
      #expect(read.flaws.isEmpty && read.remarks == [.begun])
    }
  }

  @Test func `is not begun by who has no key`() throws {
    let file = try TestVault()
    let id = try file.open().id
    #expect(throws: VaultError.noVault) {
      try LockedLog.note(LogFacts(time: 1, verb: 3), of: id, in: file.stateDirectory)
    }
  }

  @Test func `drops the oldest entries and says how many`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.logEntries, to: 100)
    for number in 0..<400 {
      vault.noteForTest("n\(number)")
      if number % 7 == 0 { try vault.flushLog(sync: false) }
    }
    let read = try vault.readWhole()
    #expect(read.flaws.isEmpty)
    #expect(read.dropped > 0)
    #expect(read.names.count <= 100 + 128 + 64)
    #expect(read.names.count >= 100)
    #expect(read.dropped + UInt64(read.names.count) == 401)
    #expect(read.names.last == "n399")
    vault.fold()
    var again = try file.unlock()
    try again.log(["after"])
    let read1 = try again.readWhole()
    #expect(read1.flaws.isEmpty)
  }

  @Test func `goes when its owner wants none`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    try vault.setPolicy(.logEntries, to: 0)
    try vault.flushLog(sync: false)
    vault.noteForTest("b")
    try vault.flushLog(sync: false)
    #expect(try file.stateFiles.allSatisfy { !$0.hasSuffix(".log") })
    try vault.setPolicy(.logEntries, to: 10_000)
    try vault.log(["c"])
    let read = try vault.readWhole()
    #expect(read.names == ["", "c"])
    // That there was one is not forgotten.
    #expect(read.remarks == [.switchedOff])
    #expect(read.flaws.isEmpty)
  }

  @Test func `is on the disk with what tells of a change when the newest state is noted`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    try vault.put("b", "1")
    vault.noteForTest("b")
    try vault.flushSeen()
    #expect(vault.waitingLogEntries == 0)
    let (isDirty, isNoted) = (vault.log.isDirty, vault.log.unnoted == nil)
    #expect(!isDirty && isNoted)
  }

  @Test func `says that there was no room for more wrong credentials`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let id = vault.id
    vault.fold()
    let facts = LogFacts(time: 1, verb: 3, code: 32, detail: 1)
    for _ in 0..<LockedLog.mostEntries {
      try LockedLog.note(facts, of: id, in: file.stateDirectory)
    }
    #expect(throws: VaultError.diskFull) {
      try LockedLog.note(facts, of: id, in: file.stateDirectory)
    }
    var again = try file.unlock()
    guard var reader = try again.readLog() else { throw VaultError.noVault }
    var details: [UInt64] = []
    while let item = try reader.next(in: again) {
      guard case .page(var page) = consume item, page.wasLocked else { continue }
      while let entry = try page.entries.next() { details.append(entry.facts.detail) }
    }
    #expect(details.count == LockedLog.mostEntries)
    #expect(details.last == 0x101 && details.dropLast().allSatisfy { $0 == 1 })
  }

  @Test func `goes over to a new vault key, and no further back`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a", "b"])
    let old = try file.logBytes(of: vault)
    let slots = try RekeySlots.cheap()
    var rekey = try vault.beginRekey(authorizedBy: file.key(), slots)
    while try rekey.step() {}
    try vault.finish(rekey)
    try vault.log(["c"])
    let read = try vault.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b", "c"])
    #expect(read.remarks == [.begun, .rekeyed])
    #expect(read.flaws.isEmpty)
    // The one under the old key is no log of this vault any more.
    try file.changeLog(of: vault) { $0 = old }
    try vault.logUntilDone(["d"])
    let read2 = try vault.readWhole()
    #expect(read2.remarks.contains(.unreadable))
  }

  @Test func `is found beside the old one when a rekey was killed behind its commit`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let old = try file.logBytes(of: vault)
    let slots = try RekeySlots.cheap()
    var rekey = try vault.beginRekey(authorizedBy: file.key(), slots)
    while try rekey.step() {}
    try vault.finish(rekey)
    let id = vault.id
    vault.fold()
    let path = file.stateDirectory + "/\(id.hexadecimal).log"
    try FileManager.default.moveItem(atPath: path, toPath: path + ".new")
    #expect(FileManager.default.createFile(atPath: path, contents: old))
    var again = try file.unlock()
    try again.logUntilDone(["b"])
    let read = try again.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "b"])
    #expect(read.flaws.isEmpty && !read.remarks.contains(.unreadable))
  }
}
