// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Many items that want names which others have, had, or give up in the same merge.
@Suite struct `Names of merged items` {
  private static let count = Copies.isNightly ? 150 : 70

  private func move(
    _ name: String, to new: String, in vault: inout UnlockedVault
  ) throws(VaultError) {
    let (name, new) = (Array(name.utf8), Array(new.utf8))
    _ = try vault.move(name.span, to: new.span)
  }

  /// Both ways, until nobody has anything new, and both are the same.
  private func expectSame(_ pair: Copies) throws {
    _ = try pair.mergeBack()
    for _ in 0..<2 where try pair.merge() != MergeReport() { _ = try pair.mergeBack() }
    #expect(try pair.merge() == MergeReport())
    #expect(try pair.mergeBack() == MergeReport())
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    #expect(try pair.first.unlockedFindings() == [])
    #expect(try pair.second.unlockedFindings() == [])
  }

  @Test func `go round, each to the next item, whatever is written first`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      for number in 0..<Self.count { try vault.put("item/\(number)", "\(number)") }
    }
    try pair.part()
    try pair.there { vault throws in
      try move("item/0", to: "away", in: &vault)
      for number in (1..<Self.count).reversed() {
        try move("item/\(number)", to: "next/\(number)", in: &vault)
      }
      for number in 1..<Self.count {
        try move("next/\(number)", to: "item/\((number + 1) % Self.count)", in: &vault)
      }
      try move("away", to: "item/1", in: &vault)
    }
    #expect(try pair.merge() == pair.report(changed: UInt64(Self.count)))
    try pair.here { vault throws in
      for number in 0..<Self.count {
        #expect(try vault.getText("item/\((number + 1) % Self.count)") == "\(number)")
      }
      #expect(try vault.conflicts() == [])
    }
    try expectSame(pair)
  }

  @Test func `are all found where both copies made all of them`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.here { vault throws in
      for number in 0..<Self.count { try vault.put("item/\(number)", "here \(number)") }
    }
    try pair.there { vault throws in
      for number in 0..<Self.count { try vault.put("item/\(number)", "there \(number)") }
    }
    let report = try pair.merge()
    #expect(report.added == UInt64(Self.count) && report.renamed == UInt64(Self.count))
    try pair.here { vault throws in
      let names = try vault.names()
      #expect(names.count == 2 * Self.count)
      let values = try Set(names.map { try vault.getText($0) })
      #expect(values.count == 2 * Self.count)
      #expect(try vault.conflicts().count == Self.count)
    }
    try expectSame(pair)
    // A name that becomes free is taken by the one that wants it.
    try pair.here { vault throws in
      for number in 0..<Self.count where number.isMultiple(of: 3) {
        _ = try vault.purge(Array("item/\(number)".utf8).span, .item)
      }
    }
    try expectSame(pair)
    try pair.there { vault throws in
      for number in 0..<Self.count where number.isMultiple(of: 3) {
        _ = try vault.getText("item/\(number)")
      }
    }
  }

  /// Where the one that gave way has the lower id, which is half of them, it comes back to its name.
  @Test func `come back to who gave way to a protected item, once that is none any more`() throws {
    let names = (0..<16).map { "item/\($0)" }
    let machines = try Machines(3)
    let (desk, phone) = (machines.all[0], machines.all[1])
    try desk.fill { vault throws in for name in names { try vault.put(name, "desk") } }
    try phone.fill { vault throws in
      for name in names {
        try vault.put(name, "phone")
        _ = try vault.protect(Array(name.utf8).span)
      }
    }
    try machines.settle()
    try phone.fill { vault throws in
      for name in names { _ = try vault.unprotect(Array(name.utf8).span, by: try vault.owner()) }
    }
    try machines.settle()
    for machine in machines.all {
      try machine.fill { vault throws in
        for name in names {
          let first = try vault.heldItem(name)
          let beside = try vault.names().first { $0.hasPrefix(name + " (") }
          let second = try vault.heldItem(try #require(beside))
          #expect(try #require(first).id < #require(second).id)
        }
      }
    }
  }

  /// Also on the machine that does it, which hears nothing new of it.
  @Test(arguments: Freeing.allCases)
  func `come back on each machine alike to who gave way to an item that was`(
    _ change: Freeing
  ) throws {
    let names = (0..<8).map { "item/\($0)" }
    let machines = try Machines(3)
    let (desk, phone) = (machines.all[0], machines.all[1])
    try desk.fill { vault throws in for name in names { try vault.put(name, "desk") } }
    try phone.fill { vault throws in
      for name in names {
        try vault.put(name, "phone")
        if change == .unprotected { _ = try vault.protect(Array(name.utf8).span) }
      }
    }
    try machines.settle()
    try phone.fill { vault throws in for name in names { try change.make(name, &vault) } }
    try machines.settle()
    let found = try machines.all.map { machine in
      var found: [String: ItemID] = [:]
      try machine.fill { vault throws in
        for name in try vault.names(includingDeleted: true) {
          found[name] = try vault.heldItem(name)?.id
        }
      }
      return found
    }
    for name in names { #expect(found[1][name] != nil) }
    #expect(found[0] == found[1])
    #expect(found[2] == found[1])
  }

  @Test func `come back where they were left before the vault was shared`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.here { vault throws in try vault.put("a", "here") }
    try pair.there { vault throws in try vault.put("a", "there") }
    _ = try pair.merge()
    try pair.here { vault throws in _ = try vault.purge(Array("a".utf8).span, .item) }
    try pair.first.share()
    try pair.first.meet(TestStore())
    try pair.here { vault throws in
      #expect(try vault.names() == ["a"])
      #expect(try !vault.memoryOfShared().mustPlaceNames)
    }
  }

  enum Freeing: CaseIterable {
    case purged, renamed, deleted, unprotected
    case deletedByImport

    func make(_ name: String, _ vault: inout UnlockedVault) throws {
      let bytes = Array(name.utf8)
      switch self {
      case .purged: _ = try vault.purge(bytes.span, .item)
      case .renamed: _ = try vault.move(bytes.span, to: Array("else/\(name)".utf8).span)
      case .deleted: try vault.remove(bytes.span)
      case .deletedByImport:
        let given = Given(name, "", at: 1, as: .deleted)
        #expect(try vault.store([given], replacing: true).error == nil)
      case .unprotected: _ = try vault.unprotect(bytes.span, by: try vault.owner())
      }
    }
  }

  @Test func `are settled alike, whatever was deleted, purged or renamed under them`() throws {
    let pair = try Copies()
    try pair.here { vault throws in
      for number in 0..<60 { try vault.put("a/\(number)", "\(number)") }
    }
    try pair.part()
    try pair.here { vault throws in
      for number in 0..<60 {
        switch number % 4 {
        case 0: try move("a/\(number)", to: "b/\(number)", in: &vault)
        case 1: try vault.remove("a/\(number)")
        case 2: _ = try vault.purge(Array("a/\(number)".utf8).span, .item)
        default: _ = try vault.protect(Array("a/\(number)".utf8).span)
        }
        try vault.put("a/\(number + 60)", "here")
      }
    }
    try pair.there { vault throws in
      for number in 0..<60 {
        switch number / 4 % 4 {
        case 0: try move("a/\(number)", to: "a/\(number + 60)", in: &vault)
        case 1: try move("a/\(number)", to: "b/\((number + 4) % 60)", in: &vault)
        case 2: try vault.remove("a/\(number)")
        default: try vault.put("a/\(number)", "there")
        }
      }
    }
    let kept = try pair.first.allValues().union(pair.second.allValues())
    _ = try pair.merge()
    try expectSame(pair)
    // What either purged, and the other had not changed, is gone; all else is there.
    let purged = Set((0..<60).filter { $0 % 4 == 2 }.map { "\($0)" })
    #expect(try kept.subtracting(purged).isSubset(of: pair.first.allValues()))
  }
}
