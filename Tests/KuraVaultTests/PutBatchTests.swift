// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraStorage
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A batch of values` {
  @Test func `comes to what single puts come to`() throws {
    let (one, many) = (try TestVault(), try TestVault())
    var single = try one.unlock()
    var vault = try many.unlock()
    let before = (0..<300).map { Given("item/\($0 * 7 % 300)", "old \($0)", ["n": "\($0)"]) }
    let after = (0..<500).map { Given("item/\($0 * 3 % 500)", "new \($0)", ["m": "\($0)"]) }
    for items in [before, after] {
      for item in items { try single.put(item.name, Array(item.value.utf8), .replace, item.pairs) }
      try vault.store(items, replacing: true)
    }
    try single.remove("item/1")
    try vault.remove("item/1")
    try single.put("item/1", "back")
    try vault.store([Given("item/1", "back")], replacing: true)
    #expect(try vault.names() == single.names())
    for name in try single.names() {
      #expect(try vault.get(name) == single.get(name))
      #expect(try vault.revisions(name) == single.revisions(name))
      #expect(try vault.attributes(of: name) == single.attributes(of: name))
    }
    #expect(try vault.getText("item/0", revision: 1) == single.getText("item/0", revision: 1))
    #expect(vault.summary.itemCount == single.summary.itemCount)
    #expect(vault.summary.deletedCount == 0)
    #expect(try vault.findings() == [])
    vault.lock().close()
    var again = try many.unlock()
    #expect(try again.getText("item/499") == single.getText("item/499"))
  }

  @Test func `replaces what copies do not agree on, and follows all of it`() throws {
    let pair = try Copies()
    let names = (0..<200).map { "item/\($0)" }
    try pair.here { try $0.store(names.map { Given($0, "1") }) }
    try pair.part()
    try pair.here { try $0.store(names.map { Given($0, "here") }, replacing: true) }
    try pair.there { vault throws in
      for name in names[..<20] { _ = try vault.purge(Array(name.utf8).span, .item) }
      try vault.store(names[20...].map { Given($0, "there") }, replacing: true)
    }
    #expect(try pair.merge().conflicting == 200)
    try pair.here { vault throws in
      try vault.store(names.map { Given($0, "after") }, replacing: true)
      for name in names { #expect(try vault.getText(name) == "after") }
      // Only the value that was shown is replaced; who purged is followed.
      #expect(try vault.conflicts().count == 180)
      #expect(try vault.findings() == [])
    }
    _ = try pair.mergeBack()
    #expect(try pair.merge() == MergeReport())
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test func `is one commit`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let epoch = vault.summary.epoch
    try vault.store((0..<1_000).map { Given("\($0)", "\($0)") })
    #expect(vault.summary.epoch == epoch + 1)
    #expect(vault.summary.itemCount == 1_000)
    #expect(try vault.findings() == [])
  }

  @Test(arguments: [0, 100, 4_000]) func `makes the tree as deep as it has to be`(
    before: Int
  ) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store((0..<before).map { Given("before/\($0)", "") })
    try vault.store((0..<5_000).map { Given("item/\($0)", "\($0)") })
    #expect(vault.trust.root.depth == 2)
    #expect(try vault.getText("item/4999") == "4999")
    try vault.put("one more", "1")
    try vault.store((0..<50).map { Given("more/\($0)", "\($0)") })
    #expect(try vault.names().count == before + 5_051)
    #expect(try vault.findings() == [])
  }

  @Test func `ends before the first item that exists`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for name in ["item/700", "item/400", "item/900"] { try vault.put(name, "old") }
    let result = try vault.store((0..<1_000).map { Given("item/\($0)", "new") })
    #expect(result == .init(stored: 400, index: 400, error: .exists(revision: 1)))
    #expect(try vault.names().count == 403)
    #expect(try vault.getText("item/399") == "new")
    #expect(try vault.getText("item/400") == "old")
    #expect(throws: VaultError.notFound) { try vault.get("item/401") }
    #expect(try vault.findings() == [])
  }

  @Test func `ends before a name that breaks a rule`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let names = ["a", "b", "/c", "d"]
    let result = try vault.store(names.map { Given($0, $0) })
    #expect(result.stored == 2)
    #expect(result.index == 2)
    #expect(result.error == .nameInvalid(.emptyComponent))
    #expect(try vault.names() == ["a", "b"])
  }

  @Test func `stores nothing when its first item fails`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let epoch = vault.summary.epoch
    let result = try vault.store([Given("a", "2"), Given("b", "2")])
    #expect(result == .init(stored: 0, index: 0, error: .exists(revision: 1)))
    #expect(try vault.names() == ["a"])
    #expect(vault.summary.epoch == epoch)
    try vault.put("b", "1")
  }

  @Test func `has each name once, unless it replaces`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let items = ["a", "b", "caf\u{65}\u{301}", "caf\u{E9}", "d", "a"].enumerated().map {
      Given($1, "\($0)")
    }
    #expect(
      try vault.store(items) == .init(stored: 3, index: 3, error: .exists(revision: 1)))
    #expect(try vault.names() == ["a", "b", "caf\u{E9}"])
    #expect(try vault.store(items, replacing: true) == .init(stored: 6))
    #expect(try vault.getText("a") == "5")
    #expect(try vault.revisions("a") == [1, 2])
    #expect(try vault.getText("a", revision: 2) == "0")
    #expect(try vault.getText("caf\u{E9}") == "3")
    #expect(try vault.findings() == [])
  }

  @Test func `lets go of long values it replaces, even twice and without a history`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 0)
    try vault.upload("a", pattern(200_000))
    try vault.store([Given("a", "1"), Given("b", "2"), Given("a", "3")], replacing: true)
    try vault.sweepAll()
    #expect(try vault.getText("a") == "3")
    #expect(file.attack("SELECT count(*) FROM chunk") == ["0"])
    #expect(try vault.findings() == [])
  }

  @Test func `leaves nothing when it is dropped`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    do {
      var batch = try vault.beginBatch(replacing: true)
      for item in (0..<1_200).map({ Given("\($0)", "x") }) { try vault.add(item, to: &batch) }
      for _ in 0..<4 { #expect(try vault.advance(batch: &batch)) }
      // Everybody reads the state before meanwhile.
      #expect(try vault.names() == ["a"])
      var other = try file.unlock()
      #expect(try other.names() == ["a"])
      #expect(throws: VaultError.busy) { try other.put("b", "1") }
      #expect(throws: VaultError.busy) { try vault.put("b", "1") }
    }
    #expect(try vault.names() == ["a"])
    try vault.put("b", "1")
    #expect(try vault.findings() == [])
  }

  @Test func `is written a slice at a time, also where all of it goes into one bucket`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    var batch = try vault.beginBatch(replacing: true)
    for number in 0..<500 {
      try vault.add(Given("\(number)", "x"), to: &batch)
      try vault.add(Given("same", "\(number)"), to: &batch)
    }
    #expect(try vault.advance(batch: &batch))
    // New ones weigh 1, those that replace 4, and so do new ones behind the last that was sealed ahead:
    // how many these are depends on where the one name stands among the others.
    var slices = 0
    while batch.next < 1_000, slices < 20 {
      let before = batch.next
      #expect(try vault.advance(batch: &batch))
      let (written, next) = (batch.next - before, batch.next)
      #expect((64...256).contains(written) || next == 1_000, "\(written)")
      slices += 1
    }
    #expect((10...14).contains(slices))
    #expect(try !vault.advance(batch: &batch))
    #expect(try vault.names().count == 501)
    #expect(try vault.getText("same") == "499")
    #expect(try vault.getText("499") == "x")
    #expect(try vault.findings() == [])
  }

  @Test func `gives each seal bytes of its own`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store((0..<600).map { Given("item/\($0)", "x") })
    for column in ["id", "substr(meta, 1, 24)", "substr(body, 1, 24)"] {
      #expect(file.attack("SELECT count(DISTINCT \(column)) FROM item") == ["600"])
    }
    let nonces = ["meta", "body"].map { "SELECT substr(\($0), 1, 24) FROM item" }
    #expect(
      file.attack("SELECT count(*) FROM (\(nonces.joined(separator: " UNION ")))") == ["1200"])
    #expect(file.attack("SELECT count(*) FROM item WHERE id = zeroblob(16)") == ["0"])
  }

  @Test func `replaces a whole vault as well as it fills it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for round in 0..<3 {
      try vault.store(
        (0..<1_200).map { Given("item/\($0)", "\(round)", ["r\(round)": ""]) }, replacing: true)
    }
    #expect(vault.summary.itemCount == 1_200)
    #expect(try vault.getText("item/7") == "2")
    #expect(try vault.getText("item/1199", revision: 1) == "0")
    #expect(try vault.attributes(of: "item/600") == ["r0": "", "r1": "", "r2": ""])
    #expect(try vault.findings() == [])
  }

  @Test func `waits for whoever writes when it begins anew`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    var other = try file.unlock()
    try vault.put("item/150", "old")
    var batch = try vault.beginBatch(replacing: false)
    for number in 0..<300 { try vault.add(Given("item/\(number)", "new"), to: &batch) }
    repeat { #expect(try vault.advance(batch: &batch)) } while batch.draft != nil
    try other.put("item/100", "other's")
    let blocker = try Blocker(file)
    for _ in 0..<2 {
      do throws(VaultError) {
        _ = try vault.advance(batch: &batch)
        Issue.record("begun")
      } catch { #expect(error == .busy) }
    }
    blocker.release()
    while try vault.advance(batch: &batch) {}
    let (stored, index) = (batch.storedCount, batch.failure?.index)
    #expect(stored == 100)
    #expect(index == 100)
    #expect(try vault.names().count == 102)
    #expect(try vault.getText("item/100") == "other's")
    #expect(try vault.findings() == [])
  }

  @Test func `leaves nothing when the vault is locked under it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    var batch: PutBatch? = try vault.beginBatch(replacing: true)
    try vault.add(Given("b", "1"), to: &batch!)
    _ = try vault.advance(batch: &batch!)
    batch = nil
    vault.lock().close()
    #expect(file.files == ["test.kura"])
    var again = try file.unlock()
    #expect(try again.names() == ["a"])
  }

  @Test func `does not begin while somebody else writes`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let blocker = try Blocker(file)
    do throws(VaultError) {
      _ = try vault.beginBatch(replacing: true)
      Issue.record("begun")
    } catch { #expect(error == .busy) }
    blocker.release()
    #expect(try vault.store([Given("a", "1")]).stored == 1)
  }

  @Test func `goes on from what another engine wrote`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    var other = try file.unlock()
    try vault.store((0..<100).map { Given("a/\($0)", "1") })
    try other.store((0..<100).map { Given("b/\($0)", "1") })
    try vault.store((0..<100).map { Given("c/\($0)", "1") })
    #expect(try vault.names().count == 300)
    #expect(try other.names().count == 300)
    #expect(try vault.findings() == [])
  }

  @Test func `is verified on its way through the tree`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store((0..<2_000).map { Given("item/\($0)", "1") })
    let damaged = file.attack("SELECT number FROM bucket LIMIT 1")[0]
    file.attack("UPDATE bucket SET leaves = zeroblob(48) WHERE number = \(damaged)")
    #expect(throws: VaultError.damaged(.bucket)) {
      try vault.store((0..<2_000).map { Given("more/\($0)", "1") })
    }
    // One in 64 of them would stand in the damaged bucket.
    var failures: [VaultError] = []
    for number in 0..<200 {
      do throws(VaultError) { _ = try vault.get("more/\(number)") } catch { failures.append(error) }
    }
    #expect(failures.count == 200 && failures.contains(.notFound))
    #expect(failures.allSatisfy { $0 == .notFound || $0 == .damaged(.bucket) })
  }

  @Test func `protects what it is told to`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "old")
    var given = Given("a", "new")
    given.manner.isProtecting = true
    try vault.store([given, Given("b", "open")], replacing: true)
    #expect(throws: VaultError.protected) { try vault.get("a") }
    #expect(throws: VaultError.protected) { try vault.get("a", revision: 1) }
    #expect(try vault.getText("b") == "open")
    #expect(try vault.findings() == [])
  }
}
