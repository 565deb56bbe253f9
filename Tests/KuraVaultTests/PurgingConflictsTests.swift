// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What stands in a conflict is no earlier revision: a purge of earlier ones that would take it is refused.
@Suite struct `A purge of what was before, in a conflict` {
  /// Two machines that both changed an item, the first of which has heard it.
  private func machines(
    _ change: (inout UnlockedVault, _ machine: Int) throws -> Void
  ) throws -> Machines {
    let machines = try Machines(2) { vault throws in
      try vault.put("x", "old")
      try vault.put("x", "base")
    }
    for (number, machine) in machines.all.enumerated() {
      try machine.fill { vault throws in try change(&vault, number) }
    }
    try machines.settle()
    return machines
  }

  /// Holds what can be purged of a conflict against what cannot, and settles it.
  private func check(_ machines: Machines, name: String) throws {
    let machine = machines.all[0]
    let before = try Copies.state(machine, opening: false)
    try machine.fill { vault throws in
      let conflicts = try vault.conflicts()
      try #require(conflicts.count == 1, "\(conflicts)")
      #expect(throws: VaultError.revisionCurrent) { _ = try vault.purge(name, .history) }
      #expect(try vault.conflicts() == conflicts)
      let revisions = try vault.revisions(name)
      var kept: [UInt64] = []
      for revision in revisions.sorted() {
        do throws(VaultError) {
          _ = try vault.purge(name, .revision(revision))
        } catch {
          #expect(error == .revisionCurrent)
          kept.append(revision)
        }
        #expect(try vault.conflicts() == conflicts, "after \(revision)")
      }
      #expect(kept.count == 2 || kept.count == 3, "\(kept) of \(revisions)")
      #expect(kept.count < revisions.count, "earlier ones go: \(kept) of \(revisions)")
      #expect(try vault.findings() == [])
    }
    #expect(try Copies.state(machine, opening: false).count == before.count)
    try machines.settle()
    try machine.fill { vault throws in
      try vault.put(name, "settled")
      // A new value leaves what is beside it.
      if try vault.conflicts() != [] {
        #expect(throws: VaultError.revisionCurrent) { _ = try vault.purge(name, .history) }
        try vault.settle(name)
      }
      #expect(try vault.conflicts() == [])
      #expect(try vault.purge(name, .history).removedCount > 0)
    }
    try machines.settle()
    for machine in machines.all {
      try machine.fill { vault throws in #expect(try vault.getText(name) == "settled") }
    }
    #expect(try machines.agree())
  }

  @Test func `of values leaves both`() throws {
    let machines = try machines { vault, number throws in try vault.put("x", "of \(number)") }
    try check(machines, name: "x")
  }

  @Test func `of attributes leaves both`() throws {
    let machines = try machines { vault, number throws in
      _ = try vault.setAttributes(Array("x".utf8).span, try edits(["a": "\(number)"]))
    }
    try check(machines, name: "x")
  }

  @Test func `of names leaves both`() throws {
    let machines = try machines { vault, number throws in
      let (name, new) = (Array("x".utf8), Array("name/\(number)".utf8))
      _ = try vault.move(name.span, to: new.span)
    }
    var name = ""
    try machines.all[0].fill { vault throws in name = try #require(try vault.names().first) }
    try check(machines, name: name)
  }

  @Test func `of one that was deleted leaves both`() throws {
    let machines = try machines { vault, number throws in
      if number == 0 { try vault.remove("x") } else { try vault.put("x", "changed") }
    }
    try check(machines, name: "x")
  }
}

extension UnlockedVault {
  fileprivate mutating func purge(
    _ name: String, _ scope: PurgeScope
  ) throws(VaultError) -> Purge {
    try purge(Array(name.utf8).span, scope)
  }
}
