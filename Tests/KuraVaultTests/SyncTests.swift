// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// Machines that share a vault come to the same through a store that has no key.
@Suite struct `Machines that meet at a store` {
  @Test func `bring each other what they have not`() throws {
    let machines = try Machines(2) { vault throws in
      try vault.put("a", Array("1".utf8), .create, ["k": "1"])
      try vault.put("b", "1")
    }
    let (first, second) = (machines.all[0], machines.all[1])
    try first.fill { try $0.put("a", "2") }
    try second.fill { vault throws in
      try vault.put("new", "x")
      try vault.remove("b")
    }
    let sent = try first.meet(machines.store)
    #expect(sent.sentCount == 1 && sent.taken == MergeReport())
    let taken = try second.meet(machines.store)
    #expect(taken.taken.changed == 1 && taken.headCount == 1 && taken.findings == [])
    _ = try first.meet(machines.store)
    #expect(try machines.agree())
    try first.fill { vault throws in
      #expect(try vault.getText("a") == "2")
      #expect(try vault.getText("new") == "x")
      #expect(try vault.names() == ["a", "new"])
      #expect(try vault.findings() == [])
    }
    // Nobody has anything to say now.
    try machines.settle()
    machines.store.forgetWrites()
    let quiet = try machines.settle()
    #expect(quiet.allSatisfy { $0 == SyncReport() })
    #expect(machines.store.written == [])
  }

  @Test func `are heard in one step where none of them says anything new`() throws {
    let machines = try Machines(4) { vault throws in try vault.put("a", "1") }
    let first = machines.all[0]
    let now: UInt64 = 2_000_000_000_000
    first.setClock(to: now)
    var (before, after): (UInt64, UInt64) = (0, 0)
    try first.fill { before = $0.trust.root.epoch }
    try first.meet(machines.store)
    try first.fill { vault throws in
      after = vault.trust.root.epoch
      let state = try vault.sharingState()
      let others = try #require(state?.devices).filter { !$0.isThis }
      #expect(others.count == 3 && others.allSatisfy { $0.heardTime > now })
    }
    #expect(after == before + 1)
  }

  @Test func `write nothing that a store could read`() throws {
    let machines = try Machines(2) { vault throws in
      try vault.put("secretname", "secretvalue")
    }
    for file in machines.store.files.values {
      let text = String(decoding: file, as: UTF8.self)
      #expect(!text.contains("secret"))
    }
    #expect(machines.store.files.count > 4)
  }

  @Test func `show a conflict on each of them`() throws {
    let machines = try Machines(3) { try $0.put("a", "1") }
    for (number, machine) in machines.all.enumerated() {
      try machine.fill { try $0.put("a", "of \(number)") }
    }
    try machines.settle()
    #expect(try machines.agree())
    for machine in machines.all {
      try machine.fill { vault throws in
        let conflicts = try vault.conflicts()
        #expect(conflicts.count == 2)
      }
    }
  }

  @Test func `carry settings, slots and what is protected`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, second) = (machines.all[0], machines.all[1])
    try first.fill { vault throws in
      try vault.setPolicy(.idleTimeout, to: 60_000)
      _ = try vault.protect(Array("a".utf8).span)
      try vault.setSecret("pin", "4711", of: "a")
    }
    try machines.settle()
    try second.fill { vault throws in
      #expect(vault.policy[.idleTimeout] == 60_000)
      #expect(try vault.openedText("a") == "1")
    }
    #expect(try machines.agree())
  }

  @Test func `purge what one of them purges`() throws {
    let machines = try Machines(3) { vault throws in
      try vault.put("a", "1")
      try vault.put("a", "2")
      try vault.put("b", "1")
    }
    try machines.all[1].fill { _ = try $0.purge(Array("a".utf8).span, .item) }
    try machines.settle()
    for machine in machines.all {
      #expect(try machine.allValues() == ["1"])
      try machine.fill { vault throws in
        #expect(try vault.names(includingDeleted: true) == ["b"])
      }
    }
  }

  @Test func `carry long values in pieces, and each piece once`() throws {
    let machines = try Machines(2)
    let (first, second) = (machines.all[0], machines.all[1])
    try first.fill { try $0.upload("long", letters(2_500_000)) }
    // Killed amid the pieces, it goes on with those that are missing.
    try first.meet(machines.store, killedAfter: 8)
    try first.meet(machines.store)
    try second.meet(machines.store, killedAfter: 7)
    try second.meet(machines.store)
    try second.fill { vault throws in
      #expect(try vault.get("long") == letters(2_500_000))
      try vault.sweepAll()
      #expect(try vault.findings() == [])
    }
    try first.fill { vault throws in
      try vault.remove("long")
      _ = try vault.purge(Array("long".utf8).span, .item)
    }
    try machines.settle()
    let left = machines.store.files.values.map(\.count).max() ?? 0
    #expect(left < 400_000)
    #expect(try machines.agree())
  }

  @Test func `seal all anew after many packs, and delete what nobody needs`() throws {
    let machines = try Machines(2)
    let (first, second) = (machines.all[0], machines.all[1])
    for number in 0..<(SyncPush.mostPacksMore + 3) {
      try first.fill { try $0.put("a", "\(number)") }
      try first.meet(machines.store)
    }
    let device = try first.settledDevice()
    let before = machines.store.objects(of: device).count
    try machines.settle()
    #expect(machines.store.objects(of: device).count < before / 4)
    let third = try TestVault.machine(7)
    try Copies.copy(second, to: third)
    try third.meet(machines.store)
    try third.fill { vault throws in
      #expect(try vault.getText("a") == "\(SyncPush.mostPacksMore + 2)")
    }
  }

  @Test(arguments: [false, true])
  func `open the earlier values of what one of them unprotected`(andMoved isMoved: Bool) throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, second) = (machines.all[0], machines.all[1])
    let name = Array("a".utf8)
    try second.fill { vault throws in
      try vault.put("a", "2")
      _ = try vault.protect(name.span)
      try vault.put("a", "3")
    }
    // The first one takes it as it is protected.
    try second.meet(machines.store)
    try first.meet(machines.store)
    try second.fill { vault throws in
      _ = try vault.unprotect(name.span, by: try vault.owner())
      if isMoved {
        _ = try vault.move(name.span, to: Array("b".utf8).span)
      } else {
        try vault.put("a", "4")
      }
    }
    try machines.settle()
    try first.fill { vault throws in
      #expect(try vault.findings() == [])
      let now = isMoved ? "b" : "a"
      let earlier = try vault.revisions(now).map { try vault.getText(now, revision: $0) }
      #expect(Set(earlier).isSuperset(of: ["2", isMoved ? "1" : "3"]), "\(earlier)")
    }
  }
}

/// What a store loses, and what machines do that are killed or copied.
@Suite struct `A store that loses something` {
  @Test func `gets it again from whoever wrote it`() throws {
    let machines = try Machines(2) { vault throws in
      try vault.put("a", "1")
      try vault.upload("long", letters(1_300_000))
    }
    let first = machines.all[0]
    let device = try first.settledDevice()
    for path in machines.store.objects(of: device) {
      machines.store.files[path] = nil
      let isNeeded = try needed(by: first).contains(path)
      let report = try first.meet(machines.store)
      #expect(report.findings.map(\.kind) == (isNeeded ? [.ownFilesGone] : []), "\(path)")
      try machines.settle()
      let there = machines.store.objects(of: device)
      #expect(try needed(by: first).isSubset(of: there), "\(path)")
    }
    let third = try TestVault.machine(7)
    try Copies.copy(machines.all[1], to: third)
    try FileManager.default.removeItem(atPath: machines.all[1].stateDirectory)
    let report = try third.meet(machines.store)
    #expect(report.findings == [])
    #expect(try Copies.state(third) == Copies.state(first))
  }

  @Test func `has nothing of rows whose long value it lost a piece of`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, second) = (machines.all[0], machines.all[1])
    try first.fill { vault throws in
      try vault.upload("long", letters(1_300_000))
      try vault.put("a", "2")
    }
    try first.meet(machines.store)
    let honest = machines.store.files
    let (piece, _) = try #require(honest.max { $0.value.count < $1.value.count })
    machines.store.files[piece] = nil
    let report = try second.meet(machines.store)
    #expect(report.findings.map(\.kind) == [.late] && report.headCount == 0)
    try second.fill { vault throws in
      #expect(try vault.names() == ["a"])
      #expect(try vault.getText("a") == "2")
      #expect(try vault.findings() == [])
    }
    machines.store.files = honest
    try machines.settle()
    #expect(try machines.agree())
  }

  @Test func `keeps nothing of pushes that were killed`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, device) = (machines.all[0], try machines.all[0].settledDevice())
    let before = machines.store.objects(of: device).count
    for step in 0..<12 {
      try first.fill { try $0.put("a", "\(step) of many") }
      machines.store.forgetWrites()
      let sent = try first.meet(machines.store, killedAfter: 5 + step % 3).sentCount
      #expect(sent == 0 || machines.store.written.contains(.head(device)))
    }
    // Killed or not, a head that is there is the own one.
    let report = try first.meet(machines.store)
    #expect(report.findings == [])
    try machines.settle()
    try machines.all[1].fill { vault throws in #expect(try vault.getText("a") == "11 of many") }
    #expect(machines.store.objects(of: device).count <= before + 13)
    let condemned = try told(by: first).report?.condemned ?? []
    let named = condemned.map { RemotePath.object(device, hash: $0.hash) }
    let kept = try needed(by: first).union(named)
    #expect(Set(machines.store.objects(of: device)).subtracting(kept).count == 1)
  }

  /// Whatever it was killed at, right before it heard what had come of that.
  @Test func `has the head of a push that was killed before it heard so`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, device) = (machines.all[0], try machines.all[0].settledDevice())
    var heads = 0
    for step in 0..<10 {
      try first.fill { try $0.put("a", "\(step) of many") }
      machines.store.forgetWrites()
      try first.meet(machines.store, killedAfter: step, unheard: true)
      if machines.store.written.last == .head(device) { heads += 1 }
      #expect(try first.meet(machines.store).findings == [], "\(step)")
    }
    #expect(heads > 0)
    try machines.settle()
    #expect(try machines.agree())
  }

  private func told(by file: TestVault) throws -> SyncTold {
    var vault = try file.unlock()
    let told = try #require(try vault.toldReport(by: vault.ownDevice()))
    vault.fold()
    return told
  }

  /// All that the own head of a machine names, but for the record of the epoch, which is written again unasked.
  private func needed(by file: TestVault) throws -> Set<RemotePath> {
    var vault = try file.unlock()
    let device = try vault.ownDevice()
    let values = try vault.places().filter { $0.place.value.device == device }
    vault.fold()
    let told = try told(by: file)
    let hashes =
      (told.report?.packs ?? []).map(\.hash) + told.front.head.journals + [told.front.head.header]
      + values.flatMap { $0.place.value.pieces.map(\.hash) }
    return Set(hashes.map { .object(device, hash: $0) })
  }

  @Test func `is no reason to fetch what nothing here would take`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let (first, third) = (machines.all[0], try TestVault.machine(7))
    try Copies.copy(machines.all[1], to: third)
    try first.fill { try $0.upload("long", letters(1_300_000)) }
    try first.meet(machines.store)
    try first.fill { vault throws in
      try vault.put("long", "short")
      _ = try vault.purge(Array("long".utf8).span, .history)
    }
    // Its pieces go, and the first pack still names them.
    for _ in 0..<3 { for machine in machines.all { try machine.meet(machines.store) } }
    #expect((machines.store.files.values.map(\.count).max() ?? 0) < 400_000)
    for _ in 0..<2 { try third.meet(machines.store) }
    #expect(try third.meet(machines.store).findings == [])
    try third.fill { vault throws in #expect(try vault.getText("long") == "short") }
  }
}

/// What is done in a vault while it waits for a store.
@Suite struct `A meeting that others do not wait for` {
  /// Has a machine change something at each wish of a meeting, one meeting for each.
  private func change(
    at place: (SyncWish) -> Bool, _ file: TestVault, _ store: TestStore,
    _ body: (inout UnlockedVault) throws -> Void
  ) throws -> SyncReport {
    var vault = try file.unlock()
    var run = try SyncRun(&vault)
    var (answer, isChanged): (SyncAnswer?, Bool) = (nil, false)
    while let wish = try run.next(answer, in: &vault) {
      if !isChanged, place(wish) {
        isChanged = true
        try body(&vault)
      }
      answer = store.answer(wish)
    }
    #expect(isChanged)
    let report = run.report
    _ = consume run
    vault.fold()
    return report
  }

  private func isWrite(_ wish: SyncWish) -> Bool { if case .write = wish { true } else { false } }

  @Test(arguments: [false, true])
  func `carries items that exchange their names under it`(andPurged isPurged: Bool) throws {
    let machines = try Machines(2)
    let (first, second) = (machines.all[0], machines.all[1])
    // Whichever goes first, its pieces are written before it is packed.
    try first.fill { vault throws in
      try vault.upload("a", letters(1_300_000))
      try vault.upload("b", letters(1_300_000, seed: 5))
    }
    _ = try change(at: isWrite, first, machines.store) { vault throws in
      _ = try vault.move(Array("a".utf8).span, to: Array("c".utf8).span)
      _ = try vault.move(Array("b".utf8).span, to: Array("a".utf8).span)
      guard isPurged else { return }
      try vault.remove("a")
      _ = try vault.purge(Array("a".utf8).span, .item)
    }
    #expect(try second.meet(machines.store).findings == [])
    try machines.settle()
    #expect(try machines.agree())
    try second.fill { vault throws in
      #expect(try vault.get("c") == letters(1_300_000))
      #expect(try vault.names() == (isPurged ? ["c"] : ["a", "c"]))
    }
  }

  @Test func `ends when the vault gets another key`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let first = machines.all[0]
    try first.fill { try $0.put("a", "2") }
    #expect(throws: VaultError.busy) {
      _ = try change(at: isWrite, first, machines.store) { vault throws in
        try vault.complete(try vault.beginRekey(authorizedBy: first.key(), try .cheap()))
      }
    }
    #expect(try first.meet(machines.store).findings == [])
  }

  @Test func `writes no head that another one's takes the place of`() throws {
    let machines = try Machines(2) { try $0.put("a", "1") }
    let first = machines.all[0]
    let device = try first.settledDevice()
    try first.fill { try $0.put("a", "2") }
    #expect(throws: VaultError.busy) {
      _ = try change(at: isWrite, first, machines.store) { vault in
        // What is noted is the other engine's proof that it is the same copy.
        try vault.flushSeen()
        machines.store.forgetWrites()
        try first.meet(machines.store)
      }
    }
    #expect(machines.store.written.filter { $0 == .head(device) }.count == 1)
    #expect(try first.meet(machines.store).findings == [])
  }
}
