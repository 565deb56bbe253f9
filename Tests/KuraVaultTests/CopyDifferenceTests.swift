// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A merge costs what differs: all else is passed over.
@Suite struct `What two copies differ in` {
  let pair: Copies

  init() throws {
    pair = try Copies()
    try pair.here { try $0.store((0..<5_000).map { Given("item/\($0)", "\($0)") }) }
    try pair.part()
    try pair.there { try $0.put("item/7", "changed") }
  }

  @Test func `is all that is read of them`() throws {
    var read: [UInt32] = []
    try pair.there { vault throws in
      let tag = try vault.keys.tag(of: .checked(Array("item/7".utf8).span))
      guard let id = try vault.occupant(of: tag) else { return }
      // Where the item stands, and where it would say what was purged of it.
      let tags = [tag, try vault.keys.tag(ofPurged: id)]
      read = tags.map { Tree.bucket(of: $0, depth: vault.trust.root.depth) }
    }
    // What both have alike may be damaged there: nobody looks.
    pair.second.attack("UPDATE item SET body = zeroblob(length(body)) WHERE revision = 1")
    pair.second.attack(
      "UPDATE bucket SET leaves = zeroblob(length(leaves)) WHERE number NOT IN "
        + "(\(read.map { "\($0)" }.joined(separator: ",")))")
    #expect(try pair.merge() == pair.report(changed: 1))
    try pair.here { vault throws in
      #expect(try vault.getText("item/7") == "changed")
      #expect(try vault.findings() == [])
    }
  }

  @Test(arguments: [false, true])
  func `is all that is brought together, under one key or two`(_ isRekeyed: Bool) throws {
    if isRekeyed { try Copies.rekey(pair.second) }
    var vault = try pair.first.unlock()
    var work = try vault.beginMerge(try Copies.opened(pair.second, by: vault))
    while try work.step() {}
    #expect(work.survey.claims.count == 1)
    #expect(try vault.finish(work) == pair.report(changed: 1))
    vault.fold()
  }
}
