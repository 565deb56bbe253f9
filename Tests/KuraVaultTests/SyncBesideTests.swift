// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Machines that give the vault a key each before they met are brought together by a third key, of whoever gets the passcode
/// first.
@Suite struct `Two keys that machines gave a vault at once` {
  let machines: Machines
  var store: TestStore { machines.store }
  var desk: TestVault { machines.all[0] }
  var phone: TestVault { machines.all[1] }
  var tower: TestVault { machines.all[2] }

  init() throws {
    machines = try Machines(3) { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      _ = try vault.protect(Array("b".utf8).span)
      try vault.upload("long", letters(70_000))
    }
  }

  private func part(removing removed: [Int: Set<DeviceID>] = [:]) throws {
    try machines.part(0, 1, removing: removed) { number in
      try machines.all[number].fill { vault throws in
        try vault.put("a", "of \(number)")
        try vault.put("only \(number)", "x")
        try vault.put("b", "of \(number)")
      }
    }
  }

  private func epoch(of file: TestVault) throws -> DeviceTable.Epoch {
    let vault = try file.unlock()
    let epoch = try vault.epoch()
    vault.fold()
    return epoch
  }

  private func check(_ all: [TestVault]) throws {
    for _ in 0..<5 { for machine in all { try machine.meet(store) } }
    let states = try all.map { try Copies.state($0, opening: false) }
    #expect(states.allSatisfy { $0 == states[0] }, "\(states)")
    let first = try epoch(of: all[0])
    for machine in all {
      #expect(try epoch(of: machine) == first)
      try machine.fill { vault throws in
        #expect(try vault.values(of: "a").isSuperset(of: ["of 0", "of 1"]))
        #expect(try vault.getText("only 0") == "x" && vault.getText("only 1") == "x")
        #expect(try vault.get("long") == letters(70_000))
        #expect(try vault.findings() == [])
      }
      #expect(try machine.meet(store).findings == [])
    }
  }

  @Test func `come together in a third`() throws {
    try part()
    let before = [try epoch(of: desk), try epoch(of: phone)].sorted()
    store.forgetWrites()
    #expect(try Set(tower.meet(store).findings.map(\.kind)) == [.passcodeWanted])
    #expect(try desk.meet(store).findings.map(\.kind) == [.passcodeWanted])
    #expect(store.written == [])
    try tower.enter(store)
    #expect(try epoch(of: tower) == before[0])
    // Nothing goes out before there is the third.
    try tower.meet(store)
    try tower.enter(store)
    #expect(try epoch(of: tower) == before[1])
    #expect(try tower.meet(store).findings.map(\.kind) == [.passcodeWanted])
    #expect(store.written == [])
    try tower.enterAll(store)
    var vault = try tower.unlock()
    #expect(try vault.epochRecord().parents == before)
    vault.fold()
    for machine in [desk, phone] { try machine.enterAll(store) }
    try check(machines.all)
  }

  @Test func `are one where both machines bring them together`() throws {
    try part()
    let before = store.files
    try desk.enterAll(store)
    let first = store.files
    store.files = before
    try phone.enterAll(store)
    let device = try desk.settledDevice()
    for (path, bytes) in first where store.files[path] == nil || path == .head(device) {
      store.files[path] = bytes
    }
    let lower = try min(epoch(of: desk), epoch(of: phone))
    for machine in [desk, phone, tower] { try machine.enterAll(store) }
    #expect(try epoch(of: tower) == lower)
    try check(machines.all)
  }

  /// - Parameters:
  ///   - isLower: Whether its epoch comes before the other one.
  ///   - isHeard: Whether somebody else enters it before he meets the other one; else all others are in that by then.
  @Test(arguments: [true, false], [true, false])
  func `are one where a machine of which nobody has heard brings them together as well`(
    _ isLower: Bool, _ isHeard: Bool
  ) throws {
    try part()
    let (before, begun) = (store.files, try TestVault.machine(7))
    try Copies.copy(desk, to: begun)
    try begun.fill { try $0.put("of laptop", "x") }
    for machine in isHeard ? [phone] : [phone, desk, tower] { try machine.enterAll(store) }
    let parted = store.files
    var laptop: TestVault
    repeat {
      store.files = before
      laptop = try begun.copiedDisk()
      try laptop.enterAll(store)
    } while try (epoch(of: laptop) < epoch(of: phone)) != isLower
    if isHeard { try tower.enterAll(store) }
    let tip = try RemotePath.head(tower.settledDevice())
    for (path, bytes) in parted where !isHeard || path != tip { store.files[path] = bytes }
    let machines = [laptop, desk, phone, tower]
    for _ in 0..<2 { for machine in machines { try machine.enterAll(store) } }
    try check(machines)
    for machine in machines {
      try machine.fill { vault throws in #expect(try vault.getText("of laptop") == "x") }
    }
  }

  /// - Parameter isBeside: Whether another machine, which all know, gave the vault one meanwhile.
  @Test(arguments: [true, false])
  func `are entered also where nobody has heard of who gave one`(_ isBeside: Bool) throws {
    let laptop = try TestVault.machine(7)
    try Copies.copy(desk, to: laptop)
    try laptop.fill { try $0.put("of laptop", "x") }
    try laptop.giveKey()
    if isBeside {
      try phone.giveKey()
      for machine in [phone, desk, tower] { try machine.enterAll(store) }
    }
    let machines = [laptop, desk, phone, tower]
    for _ in 0..<2 { for machine in machines { try machine.enterAll(store) } }
    for machine in machines { try machine.meet(store) }
    for machine in machines {
      #expect(try epoch(of: machine) == epoch(of: laptop))
      #expect(try machine.meet(store).findings == [] && machine.unlockedFindings() == [])
      try machine.fill { vault throws in #expect(try vault.getText("of laptop") == "x") }
    }
  }

  /// Who follows one of those two meets the other one while somebody is still in what it follows.
  @Test func `come together once where a key follows one of two that did`() throws {
    try part()
    let before = store.files
    try desk.enterAll(store)
    let first = store.files
    store.files = before
    try phone.enterAll(store)
    let isFirst = try epoch(of: desk) < epoch(of: phone)
    let (lower, higher) = isFirst ? (first, store.files) : (store.files, first)
    store.files = lower
    try tower.enterAll(store)
    // Nothing of this is in the store yet.
    try tower.giveKey()
    let device = try (isFirst ? phone : desk).settledDevice()
    for (path, bytes) in higher where store.files[path] == nil || path == .head(device) {
      store.files[path] = bytes
    }
    let own = try epoch(of: tower)
    try tower.enter(store)
    let other = try epoch(of: tower)
    try tower.enter(store)
    var vault = try tower.unlock()
    #expect(try vault.epochRecord().parents == [own, other].sorted())
    vault.fold()
    #expect(try tower.meet(store).findings.map(\.kind).allSatisfy { !$0.wantsPasscode })
    for machine in [desk, phone] { try machine.enterAll(store) }
    try check(machines.all)
  }

  /// One of the two takes a machine out of which the other one goes on to take something.
  @Test func `leave out what one of them took out`() throws {
    let removed = try tower.settledDevice()
    let before = store.files
    try desk.giveKey(removing: [removed])
    try desk.fill { vault throws in
      try vault.put("a", "of 0")
      try vault.put("only 0", "x")
    }
    try desk.meet(store)
    let first = store.files
    store.files = before
    try phone.giveKey()
    try phone.meet(store)
    try tower.enterAll(store)
    try tower.fill { vault throws in
      try vault.put("of tower", "late")
      try vault.put("long", "late")
      try vault.put("a", "late")
    }
    try tower.meet(store)
    // What phone writes of this has both contents.
    try phone.fill { vault throws in
      try vault.put("a", "of 1")
      try vault.put("only 1", "x")
    }
    try phone.meet(store)
    let device = try desk.settledDevice()
    for (path, bytes) in first where store.files[path] == nil || path == .head(device) {
      store.files[path] = bytes
    }
    // Who has it by the key that did not take the machine out takes nothing of that.
    try desk.enterAll(store)
    try phone.enterAll(store)
    try check([desk, phone])
    try desk.fill { vault throws in
      #expect(throws: VaultError.notFound) { try vault.getText("of tower") }
      #expect(try !vault.values(of: "a").contains("late"))
    }
    #expect(throws: VaultError.deviceRemoved) { try tower.enterAll(store) }
  }

  @Test func `are none where each took out who made the other`() throws {
    let devices = try machines.all.map { try $0.settledDevice() }
    try part(removing: [0: [devices[1]], 1: [devices[0]]])
    let before = try epoch(of: tower)
    store.forgetWrites()
    let told = try tower.meet(store).findings
    #expect(Set(told.map(\.device)) == Set(devices[0...1]))
    #expect(told.allSatisfy { $0.kind == .passcodeWanted })
    #expect(throws: VaultError.eachRemoved) { try tower.enter(store) }
    #expect(try epoch(of: tower) == before)
    #expect(store.written == [])
  }

  /// Whom each of them took out it neither hears nor deletes, until somebody says which of them goes on.
  @Test func `are told of by each of two machines that took the other one out`() throws {
    let devices = try [desk, phone].map { try $0.settledDevice() }
    try part(removing: [0: [devices[1]], 1: [devices[0]]])
    for _ in 0..<2 {
      for (machine, other) in [(desk, devices[1]), (phone, devices[0])] {
        try machine.fill { try $0.put("later", "x") }
        let report = try machine.meet(store)
        #expect(report.findings == [SyncReport.Finding(kind: .removedOwner, device: other)])
        #expect(report.sentCount == 1)
      }
    }
    #expect(Set(store.heads).isSuperset(of: devices))
    // The third one can enter what is left, and is told as the other one is where that comes again.
    let kept = store.files
    #expect(throws: VaultError.eachRemoved) { try tower.enterAll(store) }
    #expect(try desk.meet(store, compacts: true).findings == [])
    #expect(!store.heads.contains(devices[1]) && !store.objects(of: devices[1]).isEmpty)
    try tower.enterAll(store)
    try desk.meet(store)
    #expect(store.objects(of: devices[1]).isEmpty)
    for (path, bytes) in kept where path == .head(devices[1]) || store.files[path] == nil {
      store.files[path] = bytes
    }
    let told = [SyncReport.Finding(kind: .removedOwner, device: devices[1])]
    #expect(try tower.meet(store).findings == told)
    #expect(try desk.meet(store).findings == told && store.heads.contains(devices[1]))
    #expect(try tower.meet(store, compacts: true).findings == [])
    #expect(!store.heads.contains(devices[1]) && store.objects(of: devices[1]).isEmpty)
    for machine in [desk, tower, desk, tower] { try machine.meet(store) }
    #expect(try desk.meet(store).findings == [])
    #expect(try Copies.state(desk, opening: false) == Copies.state(tower, opening: false))
  }

  /// Who has no key of a machine that was taken out can make nobody believe that it goes on.
  @Test func `are not believed of a head that a removed machine did not sign`() throws {
    let devices = try [desk, phone].map { try $0.settledDevice() }
    try part(removing: [0: [devices[1]], 1: [devices[0]]])
    let path = RemotePath.head(devices[1])
    let whole = try #require(store.files[path])
    for offset in stride(from: 0, to: whole.count, by: 37) {
      store.files[path]?[offset] ^= 1
      #expect(try desk.meet(store).findings == [], "\(offset)")
      store.files[path] = whole
    }
    var forged = try RemoteHead(decoding: whole.span)
    let mine = try DeviceSeed.random(vault: forged.vault, device: devices[1])
    store.files[path] = try forged.signed(with: mine.pair())
    #expect(try desk.meet(store).findings == [])
    store.files[path] = whole
    #expect(try desk.meet(store).findings.map(\.kind) == [.removedOwner])
  }

  /// It gave the vault a key under an id that nobody has heard of, as after a restored backup; so did the other one.
  @Test func `are told of where neither machine has heard of the other one`() throws {
    let strangers = try (7...8).map { try TestVault.machine($0) }
    for (number, stranger) in strangers.enumerated() {
      try Copies.copy(machines.all[number], to: stranger)
      try stranger.fill { try $0.put("of \(number)", "x") }
      try stranger.giveKey()
    }
    let before = store.files
    try strangers[0].meet(store)
    let first = store.files
    store.files = before
    try strangers[1].meet(store)
    store.files.merge(first) { mine, _ in mine }
    let devices = try strangers.map { try $0.settledDevice() }
    for (machine, other) in zip(strangers, devices.reversed()) {
      let told = try machine.meet(store).findings.filter { $0.device == other }
      #expect(told.map(\.kind) == [.stranger])
    }
    // Who knows neither enters both, and brings them together.
    try tower.enterAll(store)
    for _ in 0..<2 { for machine in machines.all + strangers { try machine.enterAll(store) } }
    for machine in machines.all + strangers { try machine.meet(store) }
    for machine in machines.all + strangers {
      #expect(try machine.meet(store).findings == [])
      try machine.fill { vault throws in
        #expect(try vault.getText("of 0") == "x" && vault.getText("of 1") == "x")
      }
    }
  }

  /// One that does not take out who made the other is entered first, and the third takes out whom one of them did.
  @Test func `come together where one of them took out who made the other`() throws {
    let removed = try phone.settledDevice()
    try part(removing: [0: [removed]])
    try tower.enterAll(store)
    try desk.enterAll(store)
    for _ in 0..<4 { for machine in [desk, tower] { try machine.meet(store) } }
    #expect(try epoch(of: desk) == epoch(of: tower))
    #expect(try Copies.state(desk, opening: false) == Copies.state(tower, opening: false))
    #expect(throws: VaultError.deviceRemoved) { try phone.enterAll(store) }
    for machine in [desk, tower] { #expect(try machine.meet(store).findings == []) }
  }

  /// As of a machine that was lost before all of its key was carried: its slots are nowhere.
  @Test func `that cannot be entered is in nobody's way who took out who made it`() throws {
    let removed = try phone.settledDevice()
    try part(removing: [0: [removed]])
    let bytes = try #require(store.files[.head(removed)])
    let head = try RemoteHead(decoding: bytes.span)
    store.files[.object(removed, hash: head.header)] = nil
    try tower.enterAll(store)
    try desk.enterAll(store)
    for _ in 0..<4 { for machine in [desk, tower] { try machine.enterAll(store) } }
    #expect(try epoch(of: desk) == epoch(of: tower))
    #expect(try Copies.state(desk, opening: false) == Copies.state(tower, opening: false))
    try tower.fill { vault throws in #expect(try vault.getText("only 0") == "x") }
  }

  /// Amid that the owner takes a lost machine out on the one, and the other one brings the same keys together under a lower
  /// id, which counts.
  @Test func `take out whom one took out whose key does not count`() throws {
    var isUndone = false
    for _ in 0..<40 where !isUndone {
      let machines = try Machines(4)
      let (desk, tower) = (machines.all[0], machines.all[2])
      let lost = try machines.all[3].settledDevice()
      try machines.part(0, 1)
      for _ in 0..<2 { try tower.enter(machines.store) }
      try tower.giveKey(removing: [lost])
      try desk.enterAll(machines.store)
      isUndone = try epoch(of: desk) < epoch(of: tower)
      guard isUndone else { continue }
      try machines.all[3].fill { try $0.put("of the lost one", "x") }
      try machines.all[3].enterAll(machines.store)
      try machines.all[3].meet(machines.store)
      try machines.all[1].enterAll(machines.store)
      try machines.all[1].meet(machines.store)
      try tower.enterAll(machines.store)
      try tower.meet(machines.store)
      for machine in machines.all[0..<3] {
        try machine.enterAll(machines.store)
        try machine.meet(machines.store)
        #expect(try machine.sharing()?[lost]?.removedAt != nil)
        #expect(try machine.meet(machines.store).findings == [])
        try machine.fill { vault throws in
          #expect(throws: VaultError.notFound) { try vault.getText("of the lost one") }
        }
      }
      #expect(throws: VaultError.deviceRemoved) { try machines.all[3].enterAll(machines.store) }
    }
    #expect(isUndone)
  }
}
