// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `Two copies of a vault` {
  @Test func `bring each other what the other one has not`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      try vault.upload("long", pattern(200_000))
    }
    try pair.part()
    try pair.here { vault throws in
      try vault.put("a", "2")
      try vault.put("new/here", "x")
    }
    try pair.there { vault throws in
      try vault.put("b", "2")
      try vault.upload("longer", pattern(300_000, seed: 3))
      try vault.remove("long")
    }
    #expect(try pair.trial() == pair.report(added: 1, changed: 2))
    #expect(try pair.merge() == pair.report(added: 1, changed: 2))
    try pair.here { vault throws in
      #expect(try vault.getText("a") == "2")
      #expect(try vault.getText("b") == "2")
      #expect(try vault.getText("b", revision: 1) == "1")
      #expect(try vault.get("longer") == pattern(300_000, seed: 3))
      #expect(try vault.names() == ["a", "b", "longer", "new/here"])
      #expect(try vault.conflicts() == [])
      #expect(try vault.findings() == [])
    }
    #expect(try pair.merge() == MergeReport())
    #expect(try pair.mergeBack() == pair.report(added: 1, changed: 1))
    #expect(try pair.mergeBack() == MergeReport())
    #expect(try pair.merge() == MergeReport())
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test func `keep both values where both changed one, until somebody chooses`() throws {
    let pair = try Copies()
    try pair.here { try $0.put("a", "1") }
    try pair.part()
    try pair.here { try $0.put("a", "here") }
    try pair.there { try $0.put("a", "there") }
    #expect(try pair.merge() == pair.report(changed: 1, conflicting: 1))
    var shown = ""
    try pair.here { vault throws in
      shown = try vault.getText("a")
      let conflicts = try vault.conflicts()
      #expect(conflicts.count == 1)
      #expect(conflicts.first?.hasPrefix("a value ") == true)
      let revision = UInt64(conflicts[0].dropFirst(8)) ?? 0
      let other = try vault.getText("a", revision: revision)
      #expect(Set([shown, other]) == ["here", "there"])
      #expect(try vault.findings() == [])
    }
    #expect(try pair.mergeBack() == pair.report(changed: 1, conflicting: 1))
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    // A change that is none of the value leaves the choice open; a settled one travels.
    try pair.here { vault throws in
      try vault.setAttributes(Array("a".utf8).span, try edits(["k": "v"]))
      #expect(try vault.conflicts().count == 1)
      for number in 0..<30 {
        try vault.setAttributes(Array("a".utf8).span, try edits(["k": "\(number)"]))
      }
      #expect(try vault.conflicts().count == 1)
      let other = try #require(try vault.conflicts().first)
      let text = try vault.getText("a", revision: UInt64(other.dropFirst(8)) ?? 0)
      #expect(text == (shown == "here" ? "there" : "here"))
      try vault.settle("a")
      #expect(try vault.conflicts() == [])
      #expect(try vault.getText("a") == shown)
      #expect(try vault.findings() == [])
    }
    #expect(try pair.mergeBack() == pair.report(changed: 1))
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test func `join what was changed in different places`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", Array("1".utf8), .create, ["k": "1", "gone": "x"])
    }
    try pair.part()
    try pair.here { vault throws in try vault.put("a", "2") }
    try pair.there { vault throws in
      let name = Array("a".utf8)
      try vault.setAttributes(name.span, try edits(["k": "2"], delete: ["gone"]))
      _ = try vault.move(name.span, to: Array("b".utf8).span)
      try vault.setSecret("pin", "4711", of: "b")
    }
    #expect(try pair.merge() == pair.report(changed: 1))
    #expect(try pair.mergeBack() == pair.report(changed: 1))
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.names() == ["b"])
        #expect(try vault.getText("b") == "2")
        #expect(try vault.attributes(of: "b") == ["k": "2"])
        #expect(try vault.secretText("b", "pin") == "4711")
        #expect(try vault.conflicts() == [])
        #expect(try vault.findings() == [])
        try vault.put("b", "3")
        #expect(try vault.secretText("b", "pin") == "4711")
      }
    }
    // The same in both is no conflict.
    #expect(try pair.merge().conflicting == 0)
  }

  @Test func `give an item another name where both made one, the same in both`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.here { try $0.put("a", "here") }
    try pair.there { try $0.put("a", "there") }
    #expect(try pair.merge().renamed == 1)
    #expect(try pair.mergeBack().renamed == 1)
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    var away = ""
    try pair.here { vault throws in
      let names = try vault.names()
      #expect(names.count == 2)
      away = try #require(names.first { $0 != "a" })
      #expect(away.wholeMatch(of: /a \([0-9a-f]{8}\)/) != nil)
      #expect(try vault.conflicts() == ["\(away) place 0 a"])
      #expect(Set([try vault.getText("a"), try vault.getText(away)]) == ["here", "there"])
      #expect(try vault.findings() == [])
      // Once the name is free, both copies give it back.
      _ = try vault.move(Array("a".utf8).span, to: Array("b".utf8).span)
    }
    _ = try pair.mergeBack()
    _ = try pair.merge()
    try pair.there { vault throws in #expect(try vault.names() == ["a", "b"]) }
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test func `leave an item that gave way the name that it was changed under`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.here { try $0.put("a", "here") }
    try pair.there { try $0.put("a", "there") }
    _ = try pair.merge()
    _ = try pair.mergeBack()
    var away = ""
    try pair.here { vault throws in
      away = try #require(try vault.names().first { $0 != "a" })
      try vault.put(away, "changed")
      #expect(try vault.conflicts() == [])
      _ = try vault.move(Array("a".utf8).span, to: Array("b".utf8).span)
    }
    _ = try pair.mergeBack()
    _ = try pair.merge()
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.names() == [away, "b"])
        #expect(try vault.getText(away) == "changed")
        #expect(try vault.conflicts() == [])
      }
    }
  }

  @Test func `protect what either protects, without a passcode`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
    }
    try pair.part()
    try pair.here { vault throws in
      _ = try vault.protect(Array("a".utf8).span)
      try vault.put("b", "here")
    }
    try pair.there { vault throws in
      try vault.put("a", "2")
      _ = try vault.protect(Array("b".utf8).span)
    }
    _ = try pair.merge()
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.item("a").isProtected)
        #expect(try vault.item("b").isProtected)
        #expect(try vault.conflicts() == [])
        #expect(try vault.openedText("a") == "2")
        #expect(try vault.openedText("b") == "here")
        #expect(try vault.findings() == [])
      }
    }
  }

  @Test func `bring back what one deleted and the other changed, and say so`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
    }
    try pair.part()
    try pair.here { vault throws in
      try vault.remove("a")
      try vault.remove("b")
    }
    try pair.there { try $0.put("a", "2") }
    _ = try pair.merge()
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    try pair.there { vault throws in
      #expect(try vault.names() == ["a"])
      #expect(try vault.getText("a") == "2")
      #expect(try vault.conflicts() == ["a deletion 0"])
      #expect(vault.summary.itemCount == 1)
      #expect(vault.summary.deletedCount == 1)
      try vault.put("a", "3")
      #expect(try vault.conflicts() == [])
    }
  }

  @Test func `forget what either purged, for good`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      try vault.upload("long", pattern(200_000))
    }
    try pair.part()
    try pair.here { vault throws in
      for name in ["a", "b", "long"] { _ = try vault.purge(Array(name.utf8).span, .item) }
      #expect(try vault.names(includingDeleted: true) == [])
      #expect(try vault.findings() == [])
    }
    try pair.there { vault throws in
      try vault.put("b", "2")
      try vault.put("c", "1")
    }
    #expect(try pair.merge() == pair.report(added: 2, conflicting: 1))
    let report = try pair.mergeBack()
    #expect(report.purged == 2 && report.changed == 1 && report.conflicting == 1)
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    #expect(try pair.merge() == MergeReport())
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.names(includingDeleted: true) == ["b", "c"])
        #expect(try vault.conflicts() == ["b purge 0"])
        #expect(try vault.getText("b") == "2")
        // What was purged is gone from the history, too.
        #expect(try vault.revisions("b").count == 1)
        #expect(try vault.findings() == [])
        try vault.sweepAll()
        #expect(try vault.findings() == [])
      }
    }
    try pair.there { vault throws in
      try vault.put("b", "3")
      #expect(try vault.conflicts() == [])
      _ = try vault.purge(Array("b".utf8).span, .item)
    }
    #expect(try pair.merge().purged == 1)
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test(arguments: 0..<Copies.runs, [false, true])
  func `agree in the end, whatever was done in which order, and lose nothing`(
    _ run: Int, isRekeyed: Bool
  ) throws {
    let seed = Copies.seed()
    var dice = SystemDice(seed: seed)
    let copies = try (0..<3).map { number in try TestVault.machine(number) }
    try copies[0].createOfFirstFormat()
    try copies[0].takeOver()
    try copies[0].fill { vault throws in
      try vault.setPolicy(.historyDepth, to: 1_000)
      for name in ["a", "b", "c"] { try vault.put(name, "\(name) 0") }
    }
    for other in copies.dropFirst() { try Copies.copy(copies[0], to: other) }
    var purged: Set<String> = []
    var log = ["seed \(seed)"]
    for step in 0..<40 {
      let place = dice.below(3)
      if isRekeyed, step % 10 == 0 {
        log.append("\(place) gets another key")
        try Copies.rekey(copies[place])
      }
      if dice.below(4) == 0 {
        let other = copies[(place + 1 + dice.below(2)) % 3]
        log.append("\(place) merges \(copies.firstIndex { $0 === other } ?? 9)")
        let before = try copies[place].allValues()
        do { _ = try Copies.merge(other, into: copies[place]) } catch {
          Issue.record("\(error) \(log)")
          return
        }
        let lost = before.subtracting(try copies[place].allValues()).subtracting(purged)
        #expect(lost == [], "\(log)")
      } else {
        try copies[place].fill { vault throws in
          log.append("\(place): " + (try vault.change(step, &dice, &purged)))
        }
      }
      let findings = try copies[place].unlockedFindings()
      try #require(findings == [], "\(log)")
    }
    for _ in 0..<3 {
      for place in 0..<3 {
        for other in 1...2 {
          _ = try Copies.merge(copies[(place + other) % 3], into: copies[place])
        }
      }
    }
    let states = try copies.map { try Copies.state($0, opening: false) }
    #expect(states[0] == states[1], "\(log)")
    #expect(states[0] == states[2], "\(log)")
    for copy in copies { #expect(try copy.unlockedFindings() == []) }
    let again = try Copies.merge(copies[0], into: copies[1])
    #expect(again == MergeReport(), "\(log)")
  }

  @Test func `of format 1 lose nothing, though they counted alike`() throws {
    let pair = try Copies(ofFirstFormat: true)
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      try vault.put("c", "1")
    }
    try pair.part()
    try pair.here { vault throws in
      try vault.put("a", "here")
      try vault.put("b", "2")
      try vault.put("b", "3")
    }
    try pair.there { vault throws in
      try vault.put("a", "there")
      try vault.put("c", "2")
    }
    #expect(throws: VaultError.takesNewFormat) { try pair.merge() }
    try pair.here { _ = try $0.takeOver() }
    #expect(try pair.merge() == pair.report(changed: 2, conflicting: 1))
    try pair.here { vault throws in
      #expect(try vault.conflicts().count == 1)
      #expect(try vault.getText("b") == "3")
      #expect(try vault.getText("c") == "2")
      try vault.settle("a")
      #expect(try vault.findings() == [])
    }
    #expect(try pair.merge() == MergeReport())
    try pair.there { _ = try $0.takeOver() }
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    try pair.there { vault throws in #expect(try vault.conflicts() == []) }
  }

  @Test func `that are none of each other are told apart`() throws {
    let pair = try Copies()
    try pair.part()
    let stranger = try TestVault()
    try pair.here { vault throws in
      #expect(throws: VaultError.copyRefused(.otherVault)) { _ = try vault.opens(stranger.path) }
      #expect(throws: VaultError.copyRefused(.vaultItself)) { _ = try vault.opens(pair.first.path) }
      #expect(throws: VaultError.copyRefused(.missing)) {
        _ = try vault.opens(pair.first.path + "x")
      }
    }
    var other = try pair.second.unlock()
    try other.put("a", "1")
    try pair.here { vault throws in
      #expect(throws: VaultError.copyRefused(.inUse)) { _ = try vault.opens(pair.second.path) }
    }
    other.fold()
  }

  @Test func `are not taken for each other when one is damaged`() throws {
    let pair = try Copies()
    try pair.here { try $0.put("a", "1") }
    try pair.part()
    try pair.there { try $0.put("a", "2") }
    pair.second.attack("UPDATE item SET body = zeroblob(length(body))")
    #expect(throws: VaultError.copyDamaged) { try pair.merge() }
    pair.second.attack("UPDATE part SET data = zeroblob(length(data))")
    #expect(throws: VaultError.self) { try pair.merge() }
    try pair.here { vault throws in
      #expect(try vault.getText("a") == "1")
      #expect(try vault.findings() == [])
    }
  }
}
