// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import KuraStorage
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A vault that is shared` {
  private let other: DeviceID = Shared.mark(7)

  @Test func `remembers its store from one unlock to the next`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    #expect(vault.keys.ring.ledger?.epoch == Shared.epoch)
    let memory = try #require(try vault.remoteMemory())
    #expect(memory.device == device && memory.record == Array("record".utf8))
    #expect(memory.mustWalk && memory.mustRewrite)
    let note = try #require(try vault.deviceTable()?[device])
    #expect(note.label == Array("desk".utf8) && note.key?.count == 32)
    try vault.remember { memory, devices throws(VaultError) in
      memory.mustWalk = false
      memory.covered.include(RevisionEntry(device: device, counter: 4))
      memory.standing.vouched.insert(RevisionEntry(device: Shared.mark(7), counter: 2))
      return []
    }
    let written = try vault.remoteMemory()
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.remoteMemory() == written)
    #expect(try vault.remoteMemory()?.mustWalk == false)
    #expect(try vault.findings() == [])
    // What one throws undoes all of it.
    #expect(throws: VaultError.notFound) {
      try vault.remember { memory, _ throws(VaultError) in
        memory.mustWalk = true
        throw .notFound
      }
    }
    #expect(try vault.remoteMemory() == written)
    vault.fold()
  }

  @Test func `is shared once, and is of format 2`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    #expect(throws: VaultError.busy) { try vault.beginStore() }
    vault.fold()
    let old = try TestVault(creating: false)
    try old.createOfFirstFormat()
    var first = try old.unlock()
    #expect(throws: VaultError.takesNewFormat) { try first.beginStore() }
    #expect(try first.remoteMemory() == nil && first.deviceTable() == nil)
    #expect(throws: VaultError.noVault) { try first.remember { _, _ throws(VaultError) in [] } }
    first.fold()
  }

  @Test func `is called as its machine where nobody said otherwise`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    #expect(throws: VaultError.labelInvalid(.controlCharacter)) {
      try vault.beginSharing(record: [], in: Shared.epoch, key: [], label: [7])
    }
    let key = [UInt8](repeating: 5, count: 32)
    try vault.beginSharing(record: [], in: Shared.epoch, key: key)
    let label = try #require(try vault.deviceTable()?[device]?.label)
    #expect(label == (try? SlotLabel.prepare(Machine.hostName().span)) ?? [])
    vault.fold()
  }

  @Test func `keeps heads byte for byte`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    let own = try vault.ownDevice()
    let (theirs, first) = (try Shared.head(4, "theirs"), try Shared.head(1, "first"))
    try vault.keep(theirs, of: other)
    try vault.remember { memory, _ throws(VaultError) in
      memory.pending = RemoteMemory.Standing()
      memory.pending?.place = first.place
      return [KeptHead(device: .zero, bytes: first.bytes)]
    }
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.keptHead(of: other) == theirs.bytes)
    #expect(try vault.keptHead(of: .zero) == first.bytes)
    #expect(try vault.keptHead(of: own) == nil)
    #expect(try vault.findings() == [])
    // It has arrived.
    try vault.remember { memory, _ throws(VaultError) in
      if let pending = memory.pending.take() { memory.standing = pending }
      return [KeptHead(device: own, bytes: first.bytes)]
    }
    #expect(try vault.keptHead(of: .zero) == nil && vault.keptHead(of: own) == first.bytes)
    #expect(try vault.deviceTable()?[own]?.kept == first.place.id)
    try vault.remember { _, _ throws(VaultError) in [KeptHead(device: own, bytes: nil)] }
    #expect(try vault.keptHead(of: own) == nil)
    #expect(try vault.findings() == [])
    vault.fold()
    #expect(file.attack("SELECT count(*) FROM head") == ["1"])
  }

  @Test(arguments: [
    "UPDATE head SET data = x'00'", "DELETE FROM head", "UPDATE head SET device = zeroblob(16)",
  ])
  func `takes no other head for one that it kept`(_ attack: String) throws {
    let file = try Shared.file()
    try file.fill { vault throws in try vault.keep(Shared.head(4, "theirs"), of: other) }
    file.attack(attack)
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.header)) { _ = try vault.keptHead(of: other) }
    #expect(try !vault.findings().isEmpty)
    vault.fold()
  }

  @Test func `has no head that nobody kept`() throws {
    let file = try Shared.file()
    file.attack("INSERT INTO head VALUES (zeroblob(16), x'00')")
    var vault = try file.unlock()
    #expect(try vault.keptHead(of: .zero) == nil)
    #expect(try vault.findings() == ["header: head of a device that has none"])
    vault.fold()
  }

  @Test(arguments: [
    "DELETE FROM part WHERE id = 4", "DELETE FROM part WHERE id = 3",
    "UPDATE part SET data = zeroblob(328) WHERE id = 4",
    "UPDATE part SET data = (SELECT data FROM part WHERE id = 3) WHERE id = 4",
  ])
  func `is not opened when what it remembers was changed`(_ attack: String) throws {
    let file = try Shared.file()
    try file.fill { vault throws in try vault.put("a", "1") }
    file.attack(attack)
    #expect(file.refusal() == .damaged(.header))
  }

  @Test func `has the tables for it`() throws {
    let file = try Shared.file()
    file.attack("DROP TABLE head", "DROP TABLE place")
    #expect(file.refusal() == .damaged(.schema))
  }

  @Test func `goes back with what it remembers, or not at all`() throws {
    let file = try Shared.file()
    let before = file.attack("SELECT hex(data) FROM part WHERE id = 4")[0]
    try file.fill { vault throws in
      try vault.remember { memory, _ throws(VaultError) in
        memory.mustWalk = false
        return []
      }
    }
    file.attack("UPDATE part SET data = x'\(before)' WHERE id = 4")
    #expect(file.refusal() == .damaged(.header))
  }

  @Test func `is followed by an engine that had it unlocked before`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    var vault = try file.unlock()
    var second = try file.unlock()
    try second.put("a", "1")
    try vault.beginStore()
    try vault.keep(Shared.head(4, "theirs"), of: other)
    #expect(try second.getText("a") == "1")
    #expect(try second.keptHead(of: other) == Shared.head(4, "theirs").bytes)
    try second.put("a", "2")
    try second.setPolicy(.historyDepth, to: 20)
    #expect(try vault.getText("a") == "2")
    #expect(try vault.remoteMemory() != nil && vault.findings() == [])
    vault.fold()
    second.fold()
  }

  @Test func `notes what came otherwise than by the store`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.beginStore()
    }
    try pair.part()
    try pair.here { vault throws in try vault.walked() }
    try pair.there { vault throws in try vault.put("b", "1") }
    let cargo = try Cargo(of: pair.second)
    #expect(try cargo.unload(into: pair.first).added == 1)
    #expect(try pair.mustWalk() == false)
    try pair.there { vault throws in try vault.put("c", "1") }
    #expect(try pair.trial().added == 1)
    #expect(try pair.mustWalk() == false)
    #expect(try pair.merge().added == 1)
    #expect(try pair.mustWalk() == true)
    try pair.here { vault throws in #expect(try vault.findings() == []) }
  }

  @Test func `remembers whose it was when it becomes another copy`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.beginStore()
      try vault.walked()
    }
    try pair.part()
    try pair.there { vault throws in
      let before = try #require(try vault.remoteMemory())
      let device = try vault.ownDevice()
      let memory = try #require(try vault.remoteMemory())
      #expect(!before.mustWalk && memory.mustWalk)
      #expect(memory.device == before.device && memory.device != device)
      #expect(try vault.findings() == [])
      #expect(try vault.ownDevice() == device)
    }
  }

  @Test func `remembers under another vault key whom it knows, and not what it wrote`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    try file.fill { vault throws in try vault.share() }
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.upload("long", pattern(200_000))
    try vault.keep(Shared.head(4, "theirs"), of: other)
    let (before, devices) = (try #require(try vault.remoteMemory()), try vault.deviceTable())
    let value = try #require(try vault.longValues().first)
    try vault.setPlace(try Shared.place(value, of: other))
    _ = try vault.rekey(file.key())
    let memory = try #require(try vault.remoteMemory())
    #expect(try vault.deviceTable() == devices && vault.keptHead(of: other) != nil)
    #expect(memory.device == before.device && memory.record != before.record)
    #expect(memory.covered == RevisionVector() && memory.mustWalk)
    #expect(try vault.place(of: value) == nil && vault.findings() == [])
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.remoteMemory() == memory && vault.findings() == [])
    vault.fold()
  }

  @Test func `is in one file on a machine, where another would take its name`() throws {
    let machines = try Machines(2)
    let (first, copy) = (machines.all[0], try TestVault(creating: false))
    (copy.machine, copy.sharedState) = (first.machine, first.stateDirectory)
    try Copies.copy(first, to: copy)
    var one = try first.unlock()
    var other = try copy.unlock()
    // One that is only looked into takes nothing from the other.
    #expect(try one.otherFile() == nil)
    #expect(try other.otherFile() == nil)
    // As where the one has found out that the other has met the store under their name.
    try one.store(DeviceSeed.random(vault: one.id, device: DeviceID.fresh()))
    #expect(try one.otherFile() == Array(copy.path.utf8))
    #expect(try other.otherFile() == Array(first.path.utf8))
    try FileManager.default.removeItem(atPath: copy.path)
    #expect(try one.otherFile() == nil)
    one.fold()
    other.fold()
  }

  @Test func `has clones that are not`() throws {
    let file = try Shared.file()
    let clone = try TestVault(creating: false)
    try FileManager.default.createDirectory(
      atPath: clone.directory + "/vault", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    clone.sharedState = file.stateDirectory
    var vault = try file.unlock()
    try vault.keep(Shared.head(4, "theirs"), of: other)
    try vault.setPlace(try Shared.place(Shared.mark(8), of: other))
    let backup = Backup(of: try file.open(), toClone: clone.path)
    backup.copy()
    _ = try #require(backup.copied).get()
    var cloning = try vault.beginClone(of: backup, authorizedBy: file.key(), .cheap())
    while try cloning.step() {}
    backup.publish()
    vault.fold()
    var opened = try clone.unlock()
    #expect(try opened.remoteMemory() == nil && opened.deviceTable() == nil)
    #expect(opened.keys.ring.ledger?.epoch == .zero)
    #expect(try opened.findings() == [])
    opened.fold()
    #expect(clone.attack("SELECT count(*) FROM head") == ["0"])
    #expect(clone.attack("SELECT count(*) FROM place") == ["0"])
  }
}

extension UnlockedVault {
  /// All rows were looked at.
  fileprivate mutating func walked() throws(VaultError) {
    try remember { memory, _ throws(VaultError) in
      memory.mustWalk = false
      return []
    }
  }
}

extension Copies {
  fileprivate func mustWalk() throws -> Bool? {
    var vault = try first.unlock()
    let memory = try vault.remoteMemory()
    vault.fold()
    return memory?.mustWalk
  }
}
