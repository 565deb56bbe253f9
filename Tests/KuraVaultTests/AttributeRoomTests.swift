// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// What machines added to an item apart may be more than one item has: what finds no room is listed, and is lost to nobody.
@Suite struct `Attributes that find no room beside each other` {
  private static let long = String(repeating: "x", count: 40_000)

  /// Has two of three machines change an item apart, and all meet; the last key finds no room.
  private func check(
    _ lost: String, isProtected: Bool = false, _ prepare: (inout UnlockedVault) throws -> Void,
    _ change: (inout UnlockedVault, _ machine: Int) throws -> Void
  ) throws {
    let machines = try Machines(3) { vault throws in
      try vault.put("x", "1")
      try prepare(&vault)
    }
    for number in 0..<2 {
      try machines.all[number].fill { vault throws in try change(&vault, number) }
    }
    let told = try machines.settle()
    #expect(told.contains { $0.taken.conflicting == 1 })
    for machine in machines.all {
      try machine.fill { vault throws in
        #expect(try vault.findings() == [])
        let conflicts = try vault.conflicts()
        #expect(conflicts.count == 1)
        #expect(conflicts.allSatisfy { $0.hasPrefix("x attribute ") && $0.hasSuffix(" \(lost)") })
        #expect(try !vault.hasAttribute(lost))
        if !isProtected { #expect(try vault.getText("x") == "1") }
      }
    }
    #expect(try machines.agree())
    // Who wants it finds it in the revision that is named.
    try machines.all[2].fill { vault throws in
      let line = try #require(try vault.conflicts().first)
      let revision = try #require(line.split(separator: " ").compactMap { UInt64($0) }.first)
      if isProtected {
        try vault.settle("x")
      } else {
        _ = try vault.restore(Array("x".utf8).span, revision: revision)
        #expect(try vault.hasAttribute(lost))
      }
      #expect(try vault.conflicts() == [])
    }
    try machines.settle()
    #expect(try machines.agree())
    for machine in machines.all {
      try machine.fill { vault throws in
        #expect(try vault.findings() == [] && vault.conflicts() == [])
        #expect(try vault.hasAttribute(lost) == !isProtected)
      }
    }
  }

  @Test(arguments: [false, true])
  func `are secret ones that are too long together`(_ isProtected: Bool) throws {
    try check("s1", isProtected: isProtected) { vault throws in
      if isProtected { _ = try vault.protect(Array("x".utf8).span) }
    } _: { vault, machine throws in
      try vault.setSecret("s\(machine)", Self.long, of: "x")
    }
  }

  @Test func `are public ones that are too long together`() throws {
    try check("p1") { _ in
    } _: { vault, machine throws in
      let edits = try edits(["p\(machine)": Self.long])
      try vault.setAttributes(Array("x".utf8).span, edits)
    }
  }

  @Test func `are more than an item has, public and secret ones together`() throws {
    try check("s") { vault throws in
      let keys = (100..<355).map { ("k\($0)", "1") }
      let edits = try edits(Dictionary(uniqueKeysWithValues: keys))
      try vault.setAttributes(Array("x".utf8).span, edits)
    } _: { vault, machine throws in
      if machine == 0 {
        try vault.setSecret("s", "4711", of: "x")
      } else {
        try vault.setAttributes(Array("x".utf8).span, try edits(["l": "1"]))
      }
    }
  }

  @Test func `are forgotten where they are deleted, the oldest of too many`() throws {
    let machines = try Machines(2) { vault throws in
      try vault.put("x", "1")
      for start in [0, 200] {
        let keys = (start..<min(start + 200, 257)).map { "k\($0)" }
        let set = Dictionary(uniqueKeysWithValues: keys.map { ($0, "1") })
        try vault.setAttributes(Array("x".utf8).span, try edits(set))
        let gone = start == 0 ? keys : Array(keys.dropLast())
        try vault.setAttributes(Array("x".utf8).span, try edits(delete: gone))
      }
    }
    try machines.all[0].fill { try $0.put("x", "2") }
    try machines.all[1].fill { vault throws in
      try vault.setAttributes(Array("x".utf8).span, try edits(delete: ["k256"]))
    }
    try machines.settle()
    #expect(try machines.agree())
    for machine in machines.all {
      try machine.fill { vault throws in
        #expect(try vault.findings() == [] && vault.conflicts() == [])
        #expect(try vault.attributes(of: "x") == [:] && vault.getText("x") == "2")
      }
    }
  }

  @Test func `are refused as what they are on one machine`() throws {
    let machines = try Machines(1) { try $0.put("x", "1") }
    try machines.all[0].fill { vault throws in
      let keys = (0..<256).map { ("k\($0)", "1") }
      let edits = try edits(Dictionary(uniqueKeysWithValues: keys))
      try vault.setAttributes(Array("x".utf8).span, edits)
      #expect(throws: VaultError.attributeInvalid(.tooMany)) {
        try vault.setSecret("s", "4711", of: "x")
      }
      try vault.put("y", "1")
      try vault.setSecret("s0", Self.long, of: "y")
      #expect(throws: VaultError.attributeInvalid(.secretsTooLarge)) {
        try vault.setSecret("s1", Self.long, of: "y")
      }
      #expect(try vault.findings() == [])
    }
  }
}

extension UnlockedVault {
  /// Whether the item of these tests has an attribute, public or secret.
  fileprivate mutating func hasAttribute(_ key: String) throws(VaultError) -> Bool {
    let item = try item("x")
    let key = Array(key.utf8)
    return item.hasSecret(key.span) || item.attributes.value(of: key.span) != nil
  }
}
