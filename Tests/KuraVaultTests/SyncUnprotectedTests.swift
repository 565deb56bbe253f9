// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Items that machines have different rows of, since each keeps its own history, and that one of them unprotects.
@Suite struct `What was unprotected elsewhere` {
  /// Which row is kept of several that have a content is by chance: of as many items some differ.
  private static let names = (0..<16).map { "item \($0)" }

  private func each(
    on file: TestVault, _ body: (inout UnlockedVault, String) throws -> Void
  ) throws {
    try file.fill { vault throws in
      for name in Self.names { try body(&vault, name) }
    }
  }

  /// Of three attributes two contents stand: one of each is in earlier rows alone, of which one has `x`, one `x` and `y`, and
  /// one `y` and `z`.
  private func machines() throws -> Machines {
    let machines = try Machines(4) { vault throws in
      try vault.setPolicy(.historyDepth, to: 1)
      for name in Self.names { try vault.put(name, "value") }
    }
    // The deeper content is the later one.
    for (machine, (key, count)) in zip(machines.all[1...], [("z", 2), ("y", 2), ("x", 8)]) {
      try each(on: machine) { vault, name throws in
        for number in 0..<count { try vault.set(name, [key: "later \(number)"]) }
      }
    }
    let values = [nil, letters(65_537), letters(3)]
    for (machine, (keys, value)) in zip(
      machines.all, zip([["y", "z"], ["x"], ["other"]], values))
    {
      try machine.meet(machines.store)
      let first = Dictionary(uniqueKeysWithValues: keys.map { ($0, "first") })
      try each(on: machine) { vault, name throws in
        if let value { try vault.upload(name, value) }
        try vault.set(name, first)
      }
      try machine.meet(machines.store)
    }
    try machines.settle()
    // None of these rows is among the latest any more.
    for number in 0..<2 {
      try each(on: machines.all[0]) { vault, name throws in
        try vault.put(name, "short \(number)")
        try vault.set(name, ["other": "\(number)"])
      }
      try machines.settle()
    }
    for machine in machines.all { try machine.fill { try $0.sweepAll() } }
    return machines
  }

  @Test func `has no row left that is protected`() throws {
    let machines = try machines()
    try each(on: machines.all[3]) { _ = try $0.protect(Array($1.utf8).span) }
    try machines.settle()
    try each(on: machines.all[2]) { vault, name throws in
      _ = try vault.unprotect(Array(name.utf8).span, by: try vault.owner())
    }
    try machines.settle()
    for machine in machines.all {
      try machine.fill { vault throws in
        #expect(try vault.findings() == [])
        #expect(try vault.conflicts().count == 3 * Self.names.count)
      }
      try each(on: machine) { vault, name throws in
        #expect(try !vault.item(name).isProtected)
        #expect(try vault.attributes(of: name)["x"] == "later 7")
      }
    }
    // Conflicts are listed by their revisions' numbers.
    let states = try machines.all.map { try Copies.state($0, opening: false).sorted() }
    #expect(states.allSatisfy { $0 == states[0] })
  }

  /// What unprotected it has all rows, which go along; should one be missing all the same, nothing is lost by it.
  @Test(arguments: [false, true])
  func `stays protected where a content that stands was not opened`(isMissing: Bool) throws {
    let machines = try Machines(2) { vault throws in
      try vault.put("e", "value")
      _ = try vault.protect(Array("e".utf8).span)
    }
    let (desk, phone) = (machines.all[0], machines.all[1])
    try desk.fill { vault throws in try vault.set("e", ["x": "desk"]) }
    try phone.fill { vault throws in
      for number in 0..<2 { try vault.set("e", ["x": "phone \(number)"]) }
    }
    try machines.settle()
    var theirs = ItemCopy()
    try phone.fill { vault throws in
      _ = try vault.unprotect(Array("e".utf8).span, by: try vault.owner())
      theirs = try vault.rows(of: "e")
    }
    if isMissing { theirs.rows.removeFirst(theirs.rows.count - 1) }
    try desk.fill { vault throws in
      let mine = try vault.rows(of: "e")
      let item = try #require(mine.current).facts.id
      let merge = try ItemMerge.make(item, mine, theirs, depth: 50)
      let right: ProtectionClass = isMissing ? .protected : .standard
      #expect(merge.standing.protection == right)
      #expect(merge.standing.hasConflicts)
      let rows = try merge.sealed(0, by: vault.keys)
      #expect(rows.current?.facts.protection == right)
      #expect(rows.history.count > 1 && rows.history.allSatisfy { $0.facts.protection == right })
    }
  }
}

extension UnlockedVault {
  fileprivate mutating func rows(of name: String) throws -> ItemCopy {
    let tag = try tag(of: Array(name.utf8).span)
    return try reading { vault throws(VaultError) in
      guard let id = try vault.currentItem(tag)?.facts.id,
        let copy = try vault.item(id, tag, CopyDifference(of: [], at: []))
      else { throw .notFound }
      return copy
    }
  }

  fileprivate mutating func set(_ name: String, _ attributes: [String: String]) throws {
    _ = try setAttributes(Array(name.utf8).span, try edits(attributes))
  }
}
