// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// Two machines that have one id, since all of a disk was copied or put back: the one that finds out goes on under another,
/// and nothing of either is lost.
@Suite struct `Two machines with one id` {
  let machines: Machines
  let twin: TestVault
  var first: TestVault { machines.all[0] }
  var other: TestVault { machines.all[1] }

  init() throws {
    machines = try Machines(2) { vault throws in
      for name in ["a", "b", "c", "d", "kept", "sealed", "gone"] { try vault.put(name, "1") }
      _ = try vault.protect(Array("sealed".utf8).span)
    }
    twin = try machines.all[0].copiedDisk()
  }

  /// - Parameter ghost: An id that nobody has any more, of which something is awaited.
  private func settle(_ all: [TestVault], but ghost: DeviceID? = nil) throws {
    for _ in 0..<6 { for machine in all { try machine.meet(machines.store) } }
    let states = try all.map { try Copies.state($0, opening: false) }
    #expect(states.allSatisfy { $0 == states[0] }, "\(states)")
    for machine in all {
      #expect(try machine.unlockedFindings() == [])
      let told = try machine.meet(machines.store).findings
      #expect(told.allSatisfy { $0.device == ghost && $0.kind == .late }, "\(told)")
    }
  }

  /// Whether each change counts for the same one everywhere.
  private func checkAlike() throws {
    var known: [String: String] = [:]
    for machine in [first, twin, other] {
      for (id, entry) in try machine.settledRows() {
        #expect(known[id] ?? entry == entry)
        known[id] = entry
      }
    }
  }

  private func change(_ file: TestVault, _ text: String) throws {
    try file.fill { vault throws in
      try vault.put("a", "of \(text)")
      try vault.put("only \(text)", text)
      try vault.put("sealed", text)
      try vault.setAttributes(Array("kept".utf8).span, try edits(["x": text]))
      try vault.setPolicy(.idleTimeout, to: text == "one" ? 120_000 : 60_000)
    }
  }

  /// As where a folder brings a file back that was gone.
  @Test func `are two also where a head comes back of the one that gave the id up`() throws {
    let (id, before) = (try first.settledDevice(), machines.store.files)
    try change(twin, "two")
    try twin.meet(machines.store)
    let former = machines.store.files[.head(id)]
    machines.store.files = before
    try change(first, "one")
    try first.meet(machines.store)
    #expect(try twin.meet(machines.store).findings.map(\.kind) == [.twin])
    try settle([first, twin, other])
    let turned = try twin.settledDevice()
    machines.store.files[.head(id)] = former
    let told = try first.meet(machines.store).findings
    #expect(told == [SyncReport.Finding(kind: .ownHeadBack, device: id)])
    #expect(try first.settledDevice() == id && twin.settledDevice() == turned && turned != id)
    #expect(machines.store.files[.head(id)] != former)
    try settle([first, twin, other])
    try checkAlike()
  }

  @Test func `go on as two, and each is told once`() throws {
    let id = try first.settledDevice()
    try change(first, "one")
    try first.meet(machines.store)
    try change(twin, "two")
    try twin.fill { vault throws in _ = try vault.purge(Array("gone".utf8).span, .item) }
    let told = try twin.meet(machines.store)
    #expect(told.findings == [SyncReport.Finding(kind: .twin, device: id)])
    #expect(try twin.settledDevice() != id)
    #expect(try first.settledDevice() == id)
    #expect(try twin.meet(machines.store).findings == [])
    try settle([first, twin, other])
    for machine in [first, twin, other] {
      try machine.fill { vault throws in
        #expect(try vault.values(of: "a").isSuperset(of: ["of one", "of two"]))
        #expect(try vault.getText("only one") == "one" && vault.getText("only two") == "two")
        #expect(throws: VaultError.notFound) { try vault.getText("gone") }
        #expect(vault.policy[.idleTimeout] == 60_000)
      }
    }
    try checkAlike()
  }

  /// Who had taken what the other one wrote under the id that it gave up takes it for that one's from then on.
  @Test func `are told apart by who had taken the other one's`() throws {
    let store = machines.store
    let before = store.files
    try change(twin, "two")
    try twin.meet(store)
    try other.meet(store)
    try other.fill { try $0.put("a", "of the other") }
    let parted = store.files
    // Where the first one meets it, the store has nothing of that.
    store.files = before
    try change(first, "one")
    try first.meet(store)
    let id = try first.settledDevice()
    for (path, bytes) in parted where store.files[path] == nil { store.files[path] = bytes }
    #expect(try other.meet(store).findings.contains { $0.kind == .twin })
    #expect(try twin.meet(store).findings.contains { $0.kind == .twin })
    #expect(try twin.settledDevice() != id)
    try settle([other, twin, first])
    try first.fill { vault throws in
      #expect(try vault.getText("only two") == "two" && vault.getText("only one") == "one")
      #expect(try vault.values(of: "a").isSuperset(of: ["of one", "of the other"]))
    }
    try checkAlike()
  }

  /// What one of them keeps no more others have still, under the id that it gave up.
  @Test func `are told apart by who had taken what the other one has no more`() throws {
    let store = machines.store
    let before = store.files
    for text in ["two", "two, later"] { try twin.fill { try $0.put("a", text) } }
    try twin.meet(store)
    try other.meet(store)
    try twin.fill { vault throws in
      try vault.setPolicy(.historyDepth, to: 0)
      try vault.put("a", "two, at last")
    }
    let parted = store.files
    store.files = before
    try first.fill { try $0.put("only one", "one") }
    try first.meet(store)
    for (path, bytes) in parted where store.files[path] == nil { store.files[path] = bytes }
    for machine in [other, twin, other] { try machine.meet(store) }
    try settle([other, twin, first])
    #expect(try Copies.state(other, opening: false).contains("a live standard two, at last"))
    #expect(try !Copies.state(other, opening: false).contains("a value"))
    try checkAlike()
  }

  /// The store shows one of them the other one's head, and its own heads are the ones that nobody finds any more.
  @Test func `are found out by evidence that a third one keeps`() throws {
    let store = machines.store
    let before = store.files
    try change(twin, "two")
    try twin.meet(store)
    try other.meet(store)
    let parted = store.files
    store.files = before
    try change(first, "one")
    try first.meet(store)
    let device = try first.settledDevice()
    let head = try #require(store.files[.head(device)])
    for (path, bytes) in parted where path != .head(device) { store.files[path] = bytes }
    // The third one keeps the head that it believed, and the first one finds that as evidence.
    #expect(try other.meet(store).findings.contains { $0.kind == .twin })
    #expect(store.files[.head(device)] == head)
    #expect(try first.meet(store).findings.contains { $0.kind == .twin })
    #expect(try first.settledDevice() != device)
    try settle([other, first, twin], but: device)
    #expect(try first.settledDevice() != twin.settledDevice())
  }

  @Test func `are the present one and the one before, where a whole machine was put back`() throws {
    try change(first, "one")
    try first.meet(machines.store)
    try other.meet(machines.store)
    // The machine is gone; its backup is behind the store.
    let id = try twin.settledDevice()
    #expect(try twin.meet(machines.store).findings.map(\.kind) == [.twin])
    #expect(try twin.settledDevice() != id)
    try change(twin, "two")
    try settle([twin, other])
    try twin.fill { vault throws in
      #expect(try vault.getText("only one") == "one" && vault.getText("a") == "of two")
    }
  }

  /// Who knows what one of them made by a file alone, and the one itself, have two names for it then.
  @Test func `are told apart in what came by a file`() throws {
    let store = machines.store
    try twin.fill { vault throws in
      try vault.put("a", "of two")
      try vault.put("only two", "two")
    }
    _ = try Copies.merge(twin, into: other)
    try other.fill { vault throws in
      _ = try vault.setAttributes(Array("a".utf8).span, try edits(["x": "of the other"]))
    }
    try twin.fill { vault throws in
      _ = try vault.setAttributes(Array("a".utf8).span, try edits(["y": "of two"]))
    }
    try first.fill { try $0.put("only one", "one") }
    try first.meet(store)
    #expect(try twin.meet(store).findings.contains { $0.kind == .twin })
    _ = try Copies.merge(other, into: twin)
    #expect(try twin.unlockedFindings() == [])
    try settle([twin, other, first])
    try checkAlike()
    try first.fill { vault throws in
      #expect(try vault.getText("a") == "of two")
      #expect(try vault.getText("only one") == "one" && vault.getText("only two") == "two")
    }
  }

  /// Each has by a file what the other one made while both had one id, and for each that id is the other one's by then.
  @Test func `are told apart in what came by files to both where both gave the id up`() throws {
    let (store, names) = (machines.store, ["a", "b", "c", "d", "kept", "gone"])
    let third = try TestVault.machine(7)
    try Copies.copy(other, to: third)
    let before = store.files
    for (one, text, reader) in [(twin, "two", other), (first, "one", third)] {
      try one.fill { vault throws in for name in names { try vault.put(name, "of \(text)") } }
      _ = try Copies.merge(one, into: reader)
    }
    try twin.meet(store)
    try other.meet(store)
    let parted = store.files
    store.files = before
    try first.meet(store)
    let device = try first.settledDevice()
    let head = store.files
    for (path, bytes) in parted where path != .head(device) { store.files[path] = bytes }
    #expect(try other.meet(store).findings.contains { $0.kind == .twin })
    #expect(try first.meet(store).findings.contains { $0.kind == .twin })
    store.files = head
    #expect(try twin.meet(store).findings.contains { $0.kind == .twin })
    #expect(try Set([device, first.settledDevice(), twin.settledDevice()]).count == 3)
    _ = try Copies.merge(other, into: first)
    _ = try Copies.merge(third, into: twin)
    _ = try Copies.merge(twin, into: first)
    _ = try Copies.merge(first, into: twin)
    #expect(try first.unlockedFindings() == [] && twin.unlockedFindings() == [])
    let rows = try (first.settledRows(), twin.settledRows())
    #expect(rows.0 == rows.1)
    #expect(Set(rows.0.values).count == rows.0.count, "no two changes count for one")
    for machine in [first, twin] {
      try machine.fill { vault throws in
        for name in names {
          #expect(try vault.values(of: name).isSuperset(of: ["of one", "of two"]))
        }
      }
    }
  }

  /// A file brings what one of them changed to who had taken heads of the other one, which had changed nothing.
  @Test func `are told apart where only one of them made what came by a file`() throws {
    let (store, before) = (machines.store, machines.store.files)
    let device = try first.settledDevice()
    let third = try TestVault.machine(7)
    try Copies.copy(other, to: third)
    for name in ["b", "c"] { try twin.fill { try $0.put(name, "of two") } }
    try twin.meet(store)
    try third.meet(store)
    let parted = store.files
    store.files = before
    try first.meet(store, compacts: true)
    try other.meet(store)
    _ = try Copies.merge(third, into: other)
    try other.meet(store)
    try first.meet(store)
    for (path, bytes) in parted where store.files[path] == nil { store.files[path] = bytes }
    for _ in 0..<3 { for machine in [third, first, other] { try machine.meet(store) } }
    #expect(try first.settledDevice() != device)
    try first.fill { try $0.put("c", "of one") }
    try settle([first, third, other, twin])
    for machine in [first, third, other, twin] {
      let rows = try machine.settledRows()
      #expect(Set(rows.values).count == rows.count, "no two changes count for one")
      try machine.fill { vault throws in
        #expect(try vault.getText("b") == "of two" && vault.getText("c") == "of one")
      }
    }
  }

  /// The same where both changed that item, and who had the file went on with what both had made of it.
  @Test func `are told apart where a third one went on with what both made`() throws {
    let (store, before) = (machines.store, machines.store.files)
    let device = try first.settledDevice()
    let third = try TestVault.machine(7)
    try Copies.copy(other, to: third)
    for text in ["of two, before", "of two"] { try twin.fill { try $0.put("b", text) } }
    try twin.meet(store)
    try third.meet(store)
    let parted = store.files
    store.files = before
    try first.fill { try $0.put("b", "of one") }
    try first.meet(store)
    try other.meet(store)
    func edit(_ key: String) throws {
      try other.fill { vault throws in
        _ = try vault.setAttributes(Array("b".utf8).span, try edits([key: "of the other"]))
      }
    }
    try edit("x")
    _ = try Copies.merge(third, into: other)
    try edit("y")
    for (path, bytes) in parted where store.files[path] == nil { store.files[path] = bytes }
    for _ in 0..<3 { for machine in [third, first, other] { try machine.meet(store) } }
    #expect(try first.settledDevice() != device)
    try settle([first, third, other, twin])
    for machine in [first, third, other, twin] {
      try machine.fill { vault throws in
        #expect(try vault.values(of: "b").isSuperset(of: ["of one", "of two"]))
      }
    }
  }

  /// The disk was copied of a machine that had an id by then, and had not met the store under it.
  @Test func `are found out where neither had met the store`() throws {
    let third = try TestVault.machine(7)
    try Copies.copy(other, to: third)
    try third.fill { try $0.put("third", "1") }
    let fourth = try third.copiedDisk()
    try third.fill { try $0.put("a", "of one") }
    try fourth.fill { try $0.put("a", "of two") }
    try third.meet(machines.store)
    #expect(try fourth.meet(machines.store).findings.map(\.kind) == [.twin])
    try settle([third, fourth, first, other])
    try other.fill { vault throws in
      #expect(try vault.values(of: "a").isSuperset(of: ["of one", "of two"]))
      #expect(try vault.getText("third") == "1")
    }
  }

  @Test func `are found out by a push that was killed at any moment`() throws {
    try change(first, "one")
    try first.meet(machines.store)
    try change(twin, "two")
    for steps in 0..<14 { try twin.meet(machines.store, killedAfter: steps) }
    try settle([first, twin, other])
    try other.fill { vault throws in
      #expect(try vault.values(of: "a").isSuperset(of: ["of one", "of two"]))
    }
  }

  @Test func `keep to what they are while it cannot be told where they parted`() throws {
    let device = try first.settledDevice()
    try change(first, "one")
    for _ in 0..<3 { try first.meet(machines.store) }
    try change(twin, "two")
    // Other words than a machine with this id would say to itself.
    let head = try #require(machines.store.files[.head(device)])
    var changed = try RemoteHead(decoding: head.span)
    changed.own = [UInt8](repeating: 7, count: changed.own.count)
    let bytes = try twin.signed(changed)
    machines.store.files[.head(device)] = bytes
    machines.store.forgetWrites()
    let told = try twin.meet(machines.store)
    #expect(told.findings.map(\.kind).contains(.twin) && told.findings.map(\.kind).contains(.late))
    #expect(machines.store.written == [])
    #expect(try twin.settledDevice() == device)
  }
}

extension TestVault {
  /// Another machine with all that this one's disk has: vault, state, and the machine's name.
  func copiedDisk() throws -> TestVault {
    let twin = try TestVault(creating: false)
    twin.machine = machine
    try Copies.copy(self, to: twin)
    try? FileManager.default.removeItem(atPath: twin.stateDirectory)
    try FileManager.default.copyItem(atPath: stateDirectory, toPath: twin.stateDirectory)
    return twin
  }

  /// A head with the signature of the device that this copy is.
  fileprivate func signed(_ head: RemoteHead) throws -> [UInt8] {
    var vault = try unlock()
    let seed = try vault.settledSeed()
    var head = head
    let bytes = head.signed(with: try seed.pair())
    vault.fold()
    return bytes
  }

  /// The changes that items have, and as whose they count.
  fileprivate func settledRows() throws -> [String: String] {
    var vault = try unlock()
    var rows: [String: String] = [:]
    for name in try vault.names(includingDeleted: true) {
      for stamp in try vault.heldItem(name)?.revisions ?? [] {
        rows[stamp.id.hexadecimal] = "\(stamp.entry.device.hexadecimal) \(stamp.entry.counter)"
      }
    }
    vault.fold()
    return rows
  }
}
