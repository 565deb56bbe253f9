// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A copy that was put under another vault key brings its items, and nothing else.
@Suite struct `A copy under another key` {
  let pair: Copies

  init() throws {
    pair = try Copies()
    try pair.here { vault throws in
      for number in 0..<50 { try vault.put("item/\(number)", "\(number)") }
      try vault.put("a", "1")
      try vault.put("deep", "hidden")
      try vault.setSecret("pin", "4711", of: "deep")
      _ = try vault.protect(Array("deep".utf8).span)
      try vault.upload("long", pattern(200_000))
    }
    try pair.part()
    try pair.there { vault throws in
      try vault.put("a", "2")
      try vault.put("deep", "hidden there")
      try vault.put("new", "deep, too")
      try vault.setSecret("pin", "0815", of: "new")
      _ = try vault.protect(Array("new".utf8).span)
      try vault.upload("longer", pattern(150_000, seed: 3))
      try vault.setPolicy(.idleTimeout, to: 60_000)
    }
    try Copies.rekey(pair.second)
  }

  @Test func `takes its passcode`() throws {
    let vault = try pair.first.unlock()
    #expect(throws: VaultError.copyRefused(.otherKey)) { _ = try vault.opens(pair.second.path) }
    #expect(throws: VaultError.wrongPasscode) {
      _ = try opensByPasscode(vault, "another")
    }
    #expect(try opensByPasscode(vault, TestVault.passcode))
    // That of a stranger's vault is not even tried.
    let stranger = try TestVault()
    #expect(throws: VaultError.copyRefused(.otherVault)) {
      _ = try vault.attempt(atCopy: stranger.path)
    }
    vault.lock().close()
  }

  private func opensByPasscode(
    _ vault: borrowing UnlockedVault, _ passcode: String
  ) throws(VaultError) -> Bool {
    _ = try Copies.opened(pair.second, by: vault, passcode)
    return true
  }

  @Test func `brings all its items, protected ones sealed to the pair of this one`() throws {
    let half = try pair.first.half()
    let report = try pair.merge()
    #expect(report == pair.report(added: 2, changed: 2))
    #expect(try pair.first.half() == half)
    try pair.here { vault throws in
      #expect(try vault.getText("a") == "2")
      #expect(try vault.get("longer") == pattern(150_000, seed: 3))
      #expect(try vault.openedText("deep") == "hidden there")
      #expect(try vault.openedText("new") == "deep, too")
      #expect(try vault.openedSecret("new", "pin") == "0815")
      #expect(try vault.openedSecret("deep", "pin") == "4711")
      #expect(try vault.getText("a", revision: 1) == "1")
      #expect(try vault.conflicts() == [])
      #expect(try vault.findings() == [])
      // Settings and slots do not come along.
      #expect(vault.policy[.idleTimeout] != 60_000)
    }
    #expect(pair.first.refusal() == nil && pair.second.refusal() == nil)
    #expect(try pair.merge() == MergeReport())
    // And back: both are the same then, each under its own key.
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
    #expect(try pair.mergeBack() == MergeReport())
  }

  @Test func `is not taken when it is damaged`() throws {
    var tag = ""
    try pair.there { vault throws in
      tag = try vault.keys.tag(of: .checked(Array("new".utf8).span)).hexadecimal
    }
    pair.second.attack("UPDATE item SET body = zeroblob(length(body)) WHERE tag = x'\(tag)'")
    let before = try pair.state(pair.first)
    #expect(throws: VaultError.copyDamaged) { try pair.merge() }
    #expect(try pair.state(pair.first) == before)
    #expect(try pair.first.unlockedFindings() == [])
  }

  @Test func `brings nothing when what was shown does not open its protected values`() throws {
    let file = pattern(64)
    try pair.there { vault throws in
      try vault.addSlot(try PreparedSlot.keyFile(secret(file)), authorizedBy: pair.second.key())
    }
    let before = try pair.state(pair.first)
    try pair.here { vault throws in
      #expect(throws: VaultError.noProtectedHalf) {
        let key = try vault.attempt(atCopy: pair.second.path).open(.keyFile, secret: secret(file))
        let copy = try vault.openCopy(at: pair.second.path, by: key)
        _ = try vault.merge(copy)
      }
    }
    #expect(try pair.state(pair.first) == before)
  }
}

extension TestVault {
  fileprivate func half() throws -> [UInt8] {
    let vault = try unlock()
    let half = vault.keys.ring.protectedHalf
    vault.fold()
    return half
  }
}

extension UnlockedVault {
  mutating func openedSecret(_ name: String, _ key: String) throws -> String {
    let half: ProtectedKey? = try protectedKey(from: try owner().key)
    let (name, key) = (Array(name.utf8), Array(key.utf8))
    let value = try secretAttribute(key.span, of: name.span, with: half)
    return text(of: value.bytes)
  }
}
