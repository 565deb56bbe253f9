// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A merge keeps what it changes of the tree in memory, and writes it whenever that is as much as it may be.
@Suite struct `A merge of more than memory has room for` {
  private func move(_ name: String, _ new: String, _ vault: inout UnlockedVault) throws {
    _ = try vault.move(Array(name.utf8).span, to: Array(new.utf8).span)
  }

  @Test(arguments: [1, 300, 5_000])
  func `comes to the same`(most: Int) throws {
    let pair = try Copies()
    pair.first.mostHeld = most
    let names = (0..<120).map { "item \($0)" }
    try pair.here { vault throws in for name in names { try vault.put(name, "1") } }
    try pair.part()
    try pair.there { vault throws in
      for name in names.prefix(40) { try vault.put(name, "2") }
      for name in names.suffix(20) { _ = try vault.purge(Array(name.utf8).span, .item) }
      for name in names { try vault.put("new " + name, "3") }
      // Each waits for the other's place.
      try move("item 50", "between", &vault)
      try move("item 51", "item 50", &vault)
      try move("between", "item 51", &vault)
    }
    _ = try pair.merge()
    try pair.here { vault throws in
      #expect(try vault.names().count == 220)
      #expect(try vault.getText("item 7") == "2" && vault.getText("item 70") == "1")
      #expect(throws: VaultError.notFound) { try vault.getText("item 119") }
      #expect(try vault.findings() == [])
    }
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }
}
