// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// What decides between two copies: what follows what, and nothing else.
@Suite struct `What two copies changed` {
  @Test(arguments: [false, true])
  func `is later by what it follows, whatever the clocks say`(_ isBehind: Bool) throws {
    let pair = try Copies()
    try pair.here { try $0.put("a", "1") }
    try pair.part()
    let years: UInt64 = 10 * 365 * 86_400_000
    pair.first.setClock(to: isBehind ? years : 6 * years)
    pair.second.setClock(to: isBehind ? 6 * years : years)
    try pair.here { vault throws in
      try vault.put("a", "2")
      try vault.put("a", "3")
    }
    try pair.there { try $0.put("a", "other") }
    #expect(try pair.merge() == pair.report(changed: 1, conflicting: 1))
    #expect(try pair.mergeBack() == pair.report(changed: 1, conflicting: 1))
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.getText("a") == "3")
        #expect(try vault.conflicts().count == 1)
        #expect(try vault.findings() == [])
      }
    }
    // A choice is later than both, on a clock of any year.
    try pair.there { try $0.put("a", "4") }
    try pair.there { try $0.settle("a") }
    #expect(try pair.merge() == pair.report(changed: 1))
    try pair.here { vault throws in
      #expect(try vault.getText("a") == "4")
      #expect(try vault.conflicts() == [])
    }
  }

  @Test func `is no conflict where both came to the same`() throws {
    let pair = try Copies()
    try pair.here { try $0.put("a", Array("1".utf8), .create, ["k": "1"]) }
    try pair.part()
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        try vault.put("a", Array("2".utf8), .replace, ["k": "2"])
        _ = try vault.move(Array("a".utf8).span, to: Array("b".utf8).span)
      }
    }
    #expect(try pair.merge() == pair.report(changed: 1))
    try pair.here { vault throws in
      #expect(try vault.getText("b") == "2")
      #expect(try vault.attributes(of: "b") == ["k": "2"])
      #expect(try vault.conflicts() == [])
    }
  }

  @Test func `shows of two codes by a counter the one that was not used up`() throws {
    let pair = try Copies()
    let name = Array("a".utf8)
    try pair.here { vault throws in
      let uri = Array("otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0".utf8)
      _ = try vault.put(
        name.span, value: uri.span, attributes: AttributeEdits(), condition: .create, kind: .otp)
    }
    try pair.part()
    try pair.here { vault throws in _ = try vault.oneTimeCode(name.span) }
    try pair.there { vault throws in
      for _ in 0..<3 { _ = try vault.oneTimeCode(name.span) }
    }
    #expect(try pair.merge() == pair.report(changed: 1))
    #expect(try pair.mergeBack() == pair.report(changed: 1))
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.conflicts() == [])
        // RFC 4226, appendix D: the code of count 3.
        let code = try vault.oneTimeCode(name.span)
        let shown = text(of: code.text.bytes)
        #expect(shown == "969429")
      }
    }
  }

  @Test func `has its earlier values open where the other copy unprotected it`() throws {
    let pair = try Copies()
    let name = Array("a".utf8)
    try pair.here { vault throws in
      for value in ["1", "2", "3"] { try vault.put("a", value) }
      _ = try vault.protect(name.span)
    }
    try pair.part()
    try pair.there { vault throws in
      _ = try vault.unprotect(name.span, by: try vault.owner())
      // Of the first one nothing is left there: nobody could open it here.
      try vault.setPolicy(.historyDepth, to: 2)
      try vault.put("a", "4")
    }
    _ = try pair.merge()
    try pair.here { vault throws in
      #expect(try vault.findings() == [])
      #expect(try vault.getText("a") == "4")
      let earlier = try vault.revisions("a").map { try vault.getText("a", revision: $0) }
      #expect(earlier.contains("3") && earlier.contains("2") && !earlier.contains("1"))
    }
  }

  @Test func `stays protected where one unprotected it and the other went on under protection`()
    throws
  {
    let pair = try Copies()
    let name = Array("a".utf8)
    try pair.here { vault throws in
      try vault.put("a", "1")
      _ = try vault.protect(name.span)
    }
    try pair.part()
    try pair.here { vault throws in _ = try vault.unprotect(name.span, by: try vault.owner()) }
    try pair.there { try $0.put("a", "2") }
    _ = try pair.merge()
    _ = try pair.mergeBack()
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.item("a").isProtected)
        #expect(try vault.openedText("a") == "2")
        #expect(try vault.findings() == [])
      }
    }
    // Who knew of all that, takes it off in both.
    try pair.here { vault throws in _ = try vault.unprotect(name.span, by: try vault.owner()) }
    _ = try pair.mergeBack()
    try pair.there { vault throws in #expect(try vault.getText("a") == "2") }
  }
}
