// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// Copies that went back to the same revision of a protected item agree, though nobody could look into it: also where all
/// was sealed anew since.
@Suite struct `A protected revision that both copies went back to` {
  let pair: Copies

  init() throws {
    pair = try Copies()
    try pair.here { vault throws in
      try vault.put("a", "1")
      try vault.setSecret("pin", "4711", of: "a")
      _ = try vault.protect(Array("a".utf8).span)
      try vault.put("a", "2")
      try vault.setSecret("pin", "0815", of: "a")
    }
    try pair.part()
    for file in [pair.first, pair.second] {
      try file.fill { vault throws in _ = try vault.restore(Array("a".utf8).span, revision: 2) }
    }
  }

  private func check(_ file: TestVault) throws {
    try file.fill { vault throws in
      #expect(try vault.conflicts() == [])
      #expect(try vault.openedText("a") == "1")
      #expect(try vault.openedSecret("a", "pin") == "4711")
      #expect(try vault.findings() == [])
    }
  }

  @Test func `is in no conflict after a rekey`() throws {
    _ = try pair.merge()
    try check(pair.first)
    try Copies.rekey(pair.first)
    try check(pair.first)
  }

  @Test func `is in none with a copy under another key`() throws {
    try Copies.rekey(pair.second)
    _ = try pair.merge()
    try check(pair.first)
  }

  @Test func `is in conflict with another one that is set`() throws {
    try pair.there { vault throws in
      try vault.setSecret("pin", "4711", of: "a")
      try vault.put("a", "1")
    }
    _ = try pair.merge()
    try pair.here { vault throws in #expect(try vault.conflicts().count == 2) }
  }
}
