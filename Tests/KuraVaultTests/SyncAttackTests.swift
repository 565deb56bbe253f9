// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// A store can keep, withhold, move, cut and change files, and put old ones back: each is named at the next meeting, of
/// none is anything taken, and with an honest store all is well again.
@Suite struct `What a store does to machines` {
  let machines: Machines
  let store: TestStore
  let desk: DeviceID
  let phone: DeviceID
  let tower: DeviceID
  /// What the store had before the last changes.
  let first: [RemotePath: [UInt8]]

  init() throws {
    machines = try Machines(3) { vault throws in
      for name in ["a", "b", "c"] { try vault.put(name, "1") }
    }
    store = machines.store
    desk = try machines.all[0].settledDevice()
    phone = try machines.all[1].settledDevice()
    tower = try machines.all[2].settledDevice()
    first = store.files
    try change(1, "phone's news")
  }

  private func change(_ place: Int, _ value: String) throws {
    try machines.all[place].fill { try $0.put("b", value) }
    try machines.all[place].meet(store)
  }

  /// What desk names at its next meeting, and that it takes nothing.
  private func named() throws -> [SyncReport.Finding] {
    let before = try Copies.state(machines.all[0])
    let report = try machines.all[0].meet(store)
    #expect(try Copies.state(machines.all[0]) == before)
    return report.findings
  }

  private func recover(_ honest: [RemotePath: [UInt8]], except path: RemotePath? = nil) throws {
    for (path, bytes) in honest {
      if case .head(desk) = path { continue }
      store.files[path] = bytes
    }
    try machines.settle()
    #expect(try machines.agree())
    try machines.all[0].fill { vault throws in #expect(try vault.getText("b") != "1") }
  }

  private func finding(_ kind: SyncNotice, _ device: DeviceID) -> SyncReport.Finding {
    SyncReport.Finding(kind: kind, device: device)
  }

  private func newestPack(of device: DeviceID) throws -> RemotePath {
    let vault = try machines.all[0].unlock()
    let front = try SyncFront(kept: try #require(store.files[.head(device)]))
    let report = try vault.report(in: front)
    vault.fold()
    return .object(device, hash: try #require(report?.packs.last).hash)
  }

  /// The attacks of the model, each with the fact by which it is tried here, and in SyncEpochTests.
  private static let tried = [
    "head_put_back": "put an older head of another one back",
    "own_head_put_back": "put an older head of one's own back",
    "head_changed": "change a head",
    "head_moved": "put a head in another one's place",
    "head_of_another_key": "have a head that another key signed",
    "object_changed": "change an object, or exchange it for another one",
    "object_exchanged": "change an object, or exchange it for another one",
    "object_withheld": "withhold an object, or a part of it",
    "head_withheld": "withhold a head that another one has seen",
    "other_vault": "have a head of another vault",
    "false_epoch": "is not asked for by who had not the key before",
    "back_before_the_key": "go back to before the key was changed",
  ]

  @Test func `are all that the model knows`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let model = try String(
      contentsOf: tests.appending(path: "../reference/sync_attacks.py"), encoding: .utf8)
    let lists = model.matches(of: /\n(?:TEN|HELPED) = \[([^\]]*)\]/)
    let names = lists.flatMap { $0.1.split { !$0.isLetter && $0 != "_" }.map(String.init) }
    #expect(lists.count == 2 && names.count == 12 && Set(names) == Set(Self.tried.keys))
    let facts = try ["SyncAttackTests", "SyncEpochTests"].map { file in
      try String(contentsOf: tests.appending(path: file + ".swift"), encoding: .utf8)
    }.joined()
    for fact in Self.tried.values { #expect(facts.contains("@Test func `\(fact)`"), "\(fact)") }
  }

  @Test func `go back to before the key was changed`() throws {
    let tower = tower
    try machines.all[0].meet(store)
    try machines.all[0].fill { vault throws in
      let slots = try RekeySlots.cheap()
      try vault.complete(
        try vault.beginRekey(authorizedBy: machines.all[0].key(), slots, removing: [tower]))
    }
    try machines.all[0].meet(store)
    let honest = store.files
    // What the machine that was taken out writes there is as good as ever, to who does not know.
    store.files = first
    try change(2, "tower's")
    let before = try Copies.state(machines.all[0])
    let report = try machines.all[0].meet(store)
    #expect(report.findings.contains(finding(.ownHeadBack, desk)))
    #expect(try Copies.state(machines.all[0]) == before)
    store.files = honest
    try machines.all[0].meet(store)
    try machines.all[0].fill { vault throws in #expect(try vault.getText("b") == "phone's news") }
  }

  @Test func `put an older head of another one back`() throws {
    try machines.all[0].meet(store)
    let honest = store.files
    store.files[.head(phone)] = first[.head(phone)]
    #expect(try named() == [finding(.back, phone)])
    try recover(honest)
  }

  @Test func `put an older head of one's own back`() throws {
    try change(0, "desk's")
    let honest = store.files
    store.files[.head(desk)] = first[.head(desk)]
    store.files[.head(phone)] = first[.head(phone)]
    let report = try machines.all[0].meet(store)
    #expect(report.findings.contains(finding(.ownHeadBack, desk)))
    // It is written again.
    #expect(store.files[.head(desk)] != first[.head(desk)])
    try recover(honest)
  }

  @Test func `lose one's own head`() throws {
    store.files[.head(desk)] = nil
    store.files[.head(phone)] = first[.head(phone)]
    #expect(try machines.all[0].meet(store).findings.contains(finding(.ownHeadGone, desk)))
    #expect(store.files[.head(desk)] != nil)
    try machines.settle()
  }

  @Test func `change a head`() throws {
    let honest = store.files
    for offset in [12, 60, 130, 200, -1] {
      var bytes = try #require(honest[.head(phone)])
      bytes[offset < 0 ? bytes.count + offset : offset] ^= 4
      store.files[.head(phone)] = bytes
      let names = try named().map(\.kind)
      #expect(names == [.forged] || names == [.late], "\(offset)")
      #expect(names == [.forged] || offset == 130, "\(offset)")
    }
    try recover(honest)
  }

  @Test func `have a head that says to be of a later release`() throws {
    let honest = store.files
    var bytes = try #require(honest[.head(phone)])
    bytes[8] = 2
    store.files[.head(phone)] = bytes
    #expect(try named() == [finding(.newer, phone)])
    store.files[.head(phone)] = Array(bytes.prefix(12))
    #expect(try named() == [finding(.newer, phone)])
    bytes[8] = 0
    store.files[.head(phone)] = bytes
    #expect(try named() == [finding(.forged, phone)])
    try recover(honest)
  }

  @Test func `cut a head`() throws {
    let honest = store.files
    let bytes = try #require(honest[.head(phone)])
    for count in [0, 5, 30, 100, bytes.count - 1] {
      store.files[.head(phone)] = Array(bytes.prefix(count))
      #expect(try named() == [finding(.late, phone)], "\(count)")
    }
    try recover(honest)
  }

  @Test func `put a head in another one's place`() throws {
    let honest = store.files
    store.files[.head(phone)] = store.files[.head(tower)]
    #expect(try named().contains(finding(.swapped, phone)))
    try recover(honest)
  }

  @Test func `have a head that another key signed`() throws {
    let honest = store.files
    var head = try SyncFront(kept: try #require(honest[.head(phone)])).head
    head.former.append(try HeadID.random())
    head.number += 1
    let mine = try DeviceSeed.random(vault: head.vault, device: phone)
    store.files[.head(phone)] = head.signed(with: try mine.pair())
    #expect(try named() == [finding(.otherKey, phone)])
    try recover(honest)
  }

  @Test func `have a head of another vault`() throws {
    let honest = store.files
    var head = try SyncFront(kept: try #require(honest[.head(phone)])).head
    head.vault = try VaultID.random()
    let mine = try DeviceSeed.random(vault: head.vault, device: phone)
    store.files[.head(phone)] = head.signed(with: try mine.pair())
    #expect(try named() == [finding(.otherVault, phone)])
    try recover(honest)
  }

  @Test func `change an object, or exchange it for another one`() throws {
    let honest = store.files
    let path = try newestPack(of: phone)
    var bytes = try #require(honest[path])
    bytes[bytes.count / 2] ^= 1
    store.files[path] = bytes
    #expect(try named() == [finding(.changed, phone)])
    store.files[path] = honest[try newestPack(of: tower)].map { Array($0.prefix(bytes.count)) }
    #expect(try named().map(\.kind).allSatisfy { $0 == .changed || $0 == .cut })
    try recover(honest)
  }

  @Test func `have a damaged file anew, once who wrote it seals all anew`() throws {
    for isCut in [false, true] {
      let path = try newestPack(of: phone)
      if isCut { store.files[path]?.removeLast(9) } else { store.files[path]?[20] ^= 1 }
      try machines.all[1].meet(store)
      #expect(try named() == [finding(isCut ? .cut : .changed, phone)])
      try machines.all[1].meet(store, compacts: true)
      #expect(try machines.all[0].meet(store).findings == [])
      try machines.all[0].fill { vault throws in #expect(try vault.getText("b") == "phone's news") }
      try change(1, "phone's news")
    }
  }

  @Test func `withhold an object, or a part of it`() throws {
    let honest = store.files
    let path = try newestPack(of: phone)
    store.files[path] = nil
    #expect(try named() == [finding(.late, phone)])
    store.files[path] = honest[path].map { Array($0.dropLast(9)) }
    #expect(try named() == [finding(.cut, phone)])
    try recover(honest)
  }

  @Test func `withhold a head that another one has seen`() throws {
    try change(2, "tower's")
    let honest = store.files
    store.files[.head(phone)] = first[.head(phone)]
    #expect(try named().contains(finding(.late, tower)))
    try recover(honest)
  }

  @Test func `show two machines two heads of one device`() throws {
    // What phone wrote once its disk was put back: the store keeps both lines apart, and tower knows the other one.
    try machines.all[2].meet(store)
    try change(2, "tower's")
    store.files[.head(phone)] = try forked(try #require(first[.head(phone)]))
    let kinds = try machines.all[0].meet(store).findings.map(\.kind)
    #expect(kinds.contains(.twin))
  }

  @Test func `go on with another head of one device than the one that was taken`() throws {
    try machines.all[0].meet(store)
    let honest = store.files
    let other = try forked(try #require(first[.head(phone)]))
    for head in [other, try forked(other)] {
      store.files[.head(phone)] = head
      #expect(try named() == [finding(.twin, phone)])
    }
    try recover(honest)
  }

  /// Another head behind an earlier one of phone's, which phone itself signs: as of a copied disk.
  private func forked(_ earlier: [UInt8]) throws -> [UInt8] {
    let vault = try machines.all[1].unlock()
    guard let seed = try vault.seed(of: phone) else { throw VaultError.notShared }
    let before = try SyncFront(kept: earlier)
    var report = try #require(try vault.report(in: before))
    report.time += 1
    var head = before.head
    head.former.append(before.place.id)
    head.number += 1
    let place = AssociatedData.remote(nil, vault: vault.id, device: phone, epoch: head.epoch)
    head.sealed = try place.sealPadded(report.encoded.span, under: vault.keys.remote, .header)
    vault.fold()
    return head.signed(with: try seed.pair())
  }
}

/// Machines that have taken the same from each other have the same, or it is told.
@Suite struct `What all items come to` {
  private func changed(_ machines: Machines) throws {
    try machines.all[0].fill { vault throws in
      try vault.put("a", "2")
      try vault.put("c", "1")
      _ = try vault.purge(Array("b".utf8).span, .item)
    }
    try machines.all[0].meet(machines.store)
  }

  private func machines() throws -> Machines {
    let machines = try Machines(2) { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
    }
    // Both contents stand, and a name that gave way.
    for (number, machine) in machines.all.enumerated() {
      try machine.fill { vault throws in
        try vault.put("a", "of \(number)")
        try vault.put("same", "of \(number)")
      }
    }
    try machines.settle()
    return machines
  }

  private func fingerprint(by file: TestVault, at store: TestStore) throws -> [UInt8] {
    var vault = try file.unlock()
    let front = try SyncFront(kept: try #require(store.files[.head(vault.ownDevice())]))
    let report = try #require(try vault.report(in: front))
    vault.fold()
    return report.fingerprint
  }

  @Test func `is the same on machines that have the same`() throws {
    let machines = try machines()
    let (one, other) = (machines.all[0], machines.all[1])
    try changed(machines)
    #expect(try other.meet(machines.store).findings == [])
    try machines.settle()
    let fingerprint = try fingerprint(by: one, at: machines.store)
    #expect(fingerprint.contains { $0 != 0 })
    for machine in [one, other] {
      try machine.fill { vault throws in
        #expect(try vault.fingerprintOfItems() == fingerprint)
        try vault.put("d", "1")
        #expect(try vault.fingerprintOfItems() != fingerprint)
      }
    }
  }

  /// What all items come to by then is not what the head says that was changed.
  @Test(arguments: [false, true])
  func `is left out where something is changed while a head is made`(compacts: Bool) throws {
    let machines = try machines()
    let one = machines.all[0]
    try one.fill { try $0.put("e", "1") }
    var vault = try one.unlock()
    var run = try SyncRun(&vault, compacts: compacts)
    var (answer, isChanged): (SyncAnswer?, Bool) = (nil, false)
    while let wish = try run.next(answer, in: &vault) {
      if case .write = wish, !isChanged {
        try vault.put("f", "1")
        isChanged = true
      }
      answer = machines.store.answer(wish)
    }
    _ = consume run
    vault.fold()
    #expect(isChanged)
    #expect(try fingerprint(by: one, at: machines.store).allSatisfy { $0 == 0 })
    try one.meet(machines.store)
    #expect(try fingerprint(by: one, at: machines.store).contains { $0 != 0 })
  }

  /// The merge of one of them has lost an item, and nobody noticed.
  @Test func `is another one where a merge lost something`() throws {
    let machines = try machines()
    let other = machines.all[1]
    try other.fill { vault throws in
      let tag = try vault.tag(of: Array("same".utf8).span)
      try vault.writing { vault, draft throws(VaultError) in
        try vault.takeAway(tag, &draft)
        draft.root.itemCount -= 1
      }
    }
    try changed(machines)
    let device = try machines.all[0].settledDevice()
    #expect(
      try other.meet(machines.store).findings
        == [SyncReport.Finding(kind: .differs, device: device)])
  }

  @Test func `is not compared where one of them has more`() throws {
    let machines = try machines()
    let other = machines.all[1]
    try other.fill { try $0.put("mine", "1") }
    try changed(machines)
    #expect(try other.meet(machines.store).findings == [])
    try machines.settle()
  }
}
