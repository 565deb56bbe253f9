// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// Tables of slots where one copy keeps passcodes out of the store, and another one has nothing else.
@Suite struct StoreSlotsTableTests: SparingSuite {
  let store: TestStore
  let desk: TestVault
  let seen: SeenSlots

  init() throws { (store, desk, seen) = try Self.begun() }

  /// A copy from before that has no recovery key, with a table of its own or without one, comes over.
  @Test(arguments: [false, true])
  func `takes a copy that has no recovery key`(hasTable: Bool) throws {
    let (first, phone) = (try TestVault.machine(1), try TestVault.machine(2))
    try first.createOfFirstFormat()
    try first.takeOver()
    try Copies.copy(first, to: phone)
    let slot = try PreparedSlot.recoveryKey()
    first.recoveryKey = bytes(of: slot.recoveryKeyText)
    try first.fill { vault throws in
      try vault.addSlot(slot, authorizedBy: first.key())
      try vault.share(label: Array("desk".utf8), sparing: true)
    }
    if hasTable { try setPasscode("of phone", phone) }
    try phone.fill { try $0.share(label: Array("phone".utf8)) }
    try first.meet(store)
    _ = try meetAll(phone, first)
    #expect(try isSparing(phone) && epoch(phone) == epoch(first))
    #expect(try kinds(phone) == [.passcode, .recoveryKey])
    #expect(phone.refusal(text(first), .recoveryKey) == nil)
    try expectNothing(of: first, phone)
    #expect(phone.refusal() == nil && first.refusal() == nil)
  }

  /// A copy that nobody shares keeps what opens it.
  @Test(arguments: [false, true], [false, true])
  func `ends no passcode of a copy by its file`(hasTable: Bool, isChanged: Bool) throws {
    if hasTable { try setPasscode("of all", desk) }
    let (laptop, old) = (try TestVault.machine(1), try TestVault.machine(2))
    for file in [laptop, old] {
      try Copies.copy(desk, to: file)
      file.opener = desk.opener
    }
    try share()
    if isChanged {
      let slot = try PreparedSlot.recoveryKey()
      desk.recoveryKey = bytes(of: slot.recoveryKeyText)
      try desk.fill { vault throws in
        try vault.addSlot(slot, authorizedBy: desk.key(), replacing: true)
      }
    }
    try setPasscode("of desk", desk)
    try desk.meet(store)
    _ = try Copies.merge(desk, into: laptop)
    #expect(laptop.refusal() == nil)
    #expect(laptop.refusal("of desk") == .wrongPasscode)
    try old.fill { vault throws in
      try vault.addSlot(PreparedSlot.keyFile(keyFile(7)), authorizedBy: old.key())
    }
    _ = try Copies.merge(old, into: laptop)
    #expect(laptop.refusal() == nil)
  }

  @Test func `takes a file that has no recovery key`() throws {
    let laptop = try TestVault.machine(1)
    try Copies.copy(desk, to: laptop)
    try laptop.fill { vault throws in
      let slots = try vault.slotReports()
      let slot = try #require(slots.first { $0.kind == .recoveryKey }?.number)
      try vault.removeSlot(slot, authorizedBy: laptop.key())
    }
    try share()
    _ = try Copies.merge(laptop, into: desk)
    #expect(try kinds(desk) == [.passcode, .recoveryKey])
    #expect(desk.refusal(text(desk), .recoveryKey) == nil && desk.refusal() == nil)
    try desk.meet(store)
    try expectNothing(of: desk)
  }

  /// The table comes before the columns of the key that it names.
  @Test func `gets a recovery key whose header is late`() throws {
    try share()
    let phone = try joined()
    try setPasscode("of phone", phone)
    _ = try meetAll(desk, phone)
    let old = text(desk)
    let slot = try PreparedSlot.recoveryKey()
    desk.recoveryKey = bytes(of: slot.recoveryKeyText)
    try desk.fill { vault throws in
      try vault.addSlot(slot, authorizedBy: desk.key(), replacing: true)
    }
    try desk.meet(store)
    let device = try desk.settledDevice()
    let head = try SyncFront(kept: try #require(store.files[.head(device)])).head
    let path = RemotePath.object(device, hash: head.header)
    let object = try #require(store.files[path])
    store.files[path] = nil
    try phone.meet(store)
    store.files[path] = object
    _ = try meetAll(phone, desk)
    #expect(phone.refusal(text(desk), .recoveryKey) == nil)
    #expect(phone.refusal(old, .recoveryKey) == .wrongPasscode)
    try expectNothing(of: desk, phone)
  }

  /// Of three copies from before two keep passcodes out of the store, whichever ids their epochs have.
  @Test(arguments: 0..<6)
  func `brings three copies together`(turn: Int) throws {
    let files = try (1...3).map { number in
      let file = try TestVault.machine(10 * (turn + 1) + number)
      try Copies.copy(desk, to: file)
      file.recoveryKey = desk.recoveryKey
      return file
    }
    for (number, file) in files.enumerated() {
      if number == 2 {
        try file.fill { try $0.addSlot(passcodeSlot("of it"), authorizedBy: file.key()) }
      }
      try file.fill { try $0.share(label: Array("m\(number)".utf8), sparing: number < 2) }
      try file.fill { try $0.put("item \(number)", "1") }
    }
    for number in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [0, 1, 2], [1, 0, 2]][turn] {
      try files[number].meet(store)
    }
    _ = try meetAll(files[0], files[1], files[2])
    for file in files {
      #expect(try isSparing(file) && epoch(file) == epoch(files[0]))
      #expect(file.refusal() == nil)
    }
    #expect(files[2].refusal("of it") == nil && files[0].refusal("of it") == .wrongPasscode)
    try expectNothing(of: files[0], files[1], files[2])
  }

  /// Nobody from before can read what is under another key, but who has the key before sees that it was given.
  @Test func `gets no slot of a copy from before the vault had another key`() throws {
    let phone = try TestVault.machine(1)
    try Copies.copy(desk, to: phone)
    try share()
    try rekey(desk)
    try desk.meet(store)
    try phone.fill { try $0.share(label: Array("phone".utf8)) }
    store.forgetWrites()
    #expect(try kinds(ofFindings: phone.meet(store)) == [.stranger])
    #expect(store.written.isEmpty)
    try expectNothing(of: desk, phone)
  }

  /// Who has no key makes no such record, and who has slots there already goes on.
  @Test func `keeps nobody waiting by a key of which nothing is proved`() throws {
    let (phone, other) = (try TestVault.machine(1), try TestVault.machine(2))
    try Copies.copy(desk, to: phone)
    try Copies.copy(desk, to: other)
    try phone.fill { try $0.share(label: Array("phone".utf8)) }
    let shared = try epoch(phone)
    try phone.meet(store)
    try other.fill { try $0.share(label: Array("other".utf8)) }
    try rekey(other)
    let apart = TestStore()
    try other.meet(apart)
    store.files.merge(apart.files) { now, _ in now }
    try phone.fill { try $0.put("a", "1") }
    #expect(try phone.meet(store).sentCount == 1)
    #expect(try epoch(phone) == shared)
  }
}
