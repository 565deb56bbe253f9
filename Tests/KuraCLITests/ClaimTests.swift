// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct `What a program says of itself` {
  @Test func `is said behind its name, harmless and cut`() {
    let long = Array(String(repeating: "x", count: 41).utf8)
    let claim = Claim(long, of: Array("a\u{1B}[2Jb".utf8))
    #expect(claim.text == "a\\x1B[2Jb says: " + String(repeating: "x", count: 40) + "...")
  }

  @Test func `is nothing where nobody stands between the question and the login`() {
    #expect(Claim.remark(nil, []) == nil)
  }

  @Test func `names the programs on the way, nearest first`() {
    let programs = ["deploy.sh", "make"].map { Array($0.utf8) }
    #expect(Claim.remark(nil, programs) == "asked by deploy.sh, started by make")
    let both = Claim.remark(Array("x\ny".utf8), [Array("a\nb".utf8)])
    #expect(both?.hasSuffix(" says: x\\x0Ay\nasked by a\\x0Ab") == true)
  }
}
