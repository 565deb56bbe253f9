// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraVault

/// No two files count their changes under one name, whatever a machine has seen of them: what one counted the other
/// would take for known, and lose.
@Suite struct `Copies on machines of the same name` {
  let pair: Copies

  init() throws {
    pair = try Copies()
    pair.second.machine = pair.first.machine
    try pair.here { try $0.put("a", "1") }
    try pair.part()
  }

  /// Changes both alike, and brings them together.
  private func expectBoth() throws {
    try pair.here { try $0.put("a", "here") }
    try pair.there { try $0.put("a", "there") }
    #expect(try pair.merge().conflicting == 1)
    try pair.here { vault throws in
      #expect(try vault.values(of: "a") == ["1", "here", "there"])
      #expect(try vault.conflicts().count == 1)
    }
    _ = try pair.mergeBack()
    #expect(try pair.state(pair.first) == pair.state(pair.second))
  }

  @Test func `lose nothing, though one was looked at before it was changed`() throws {
    try pair.there { _ = try $0.getText("a") }
    try pair.there { _ = try $0.getText("a") }
    try expectBoth()
  }

  @Test func `lose nothing when one was rekeyed before it was changed`() throws {
    try Copies.rekey(pair.second)
    try expectBoth()
    // The rekey's own state was written here: its next change goes on as the same copy.
    let device = try pair.second.device()
    try pair.there { try $0.put("b", "1") }
    #expect(try pair.second.device() == device)
  }

  @Test func `lose nothing when a backup takes the place of one`() throws {
    let backup = try pair.first.content()
    try pair.here { try $0.put("a", "2") }
    // What the other one has counts on from here.
    try pair.part()
    try pair.first.restore(backup)
    let vault = try pair.first.unlock(accepting: true)
    #expect(vault.notices.contains(.rollbackAccepted))
    vault.fold()
    try pair.here { try $0.put("a", "after the backup") }
    _ = try pair.merge()
    try pair.here { vault throws in
      #expect(try vault.values(of: "a") == ["1", "2", "after the backup"])
      #expect(try vault.conflicts().count == 1)
    }
  }

  @Test func `count on under one name while nobody else has the file`() throws {
    let device = try pair.first.device()
    for number in 0..<3 { try pair.here { try $0.put("a", "\(number)") } }
    try pair.here { _ = try $0.getText("a") }
    try pair.here { try $0.put("a", "last") }
    #expect(try pair.first.device() == device)
  }
}

extension TestVault {
  /// Under which name the file counts its changes.
  fileprivate func device() throws -> String? {
    let vault = try unlock()
    let device = vault.trust.root.copy?.device.hexadecimal
    vault.fold()
    return device
  }
}
