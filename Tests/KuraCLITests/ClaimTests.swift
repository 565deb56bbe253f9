// SPDX-License-Identifier: MIT

import KuraClient
import Testing

@testable import KuraCLI

@Suite struct `What a program says of itself` {
  @Test func `is said behind its name, harmless and cut`() {
    let long = Array(String(repeating: "x", count: 41).utf8)
    let claim = Claim(long, of: Array("a\u{1B}[2Jb".utf8))
    #expect(claim.text == "a\\x1B[2Jb says: " + String(repeating: "x", count: 40) + "...")
  }

  @Test func `is nothing where nobody stands between the question and the login`() {
    #expect(Claim.remark(nil, Ancestors([])) == nil)
  }

  @Test func `names the programs on the way, nearest first`() {
    let programs = ["deploy.sh", "make"].map { Array($0.utf8) }
    #expect(Claim.remark(nil, Ancestors(programs)) == "asked by deploy.sh, started by make")
    let both = Claim.remark(Array("x\ny".utf8), Ancestors([Array("a\nb".utf8)]))
    #expect(both == "a\\x0Ab says: x\\x0Ay\nasked by a\\x0Ab")
  }

  /// 40 of them are 80 columns: what follows would stand at the beginning of a line, as Kura's own words do.
  @Test(arguments: ["\u{3000}", "\u{2003}", "\u{3164}", "\u{2800}", "\u{5B57}"])
  func `takes no more columns than it may have characters`(_ character: String) {
    let words = Array((String(repeating: character, count: 38) + "passcode for default: ").utf8)
    let text = Claim(words, of: Array("x".utf8)).text
    #expect(text.unicodeScalars.count == "x says: ".count + 20 + "...".count)
    #expect(!text.contains("\u{3000}") && !text.contains("\u{2003}"))
  }

  @Test func `says where the way to the login breaks off, and where it goes on`() {
    let make = Array("make".utf8)
    #expect(
      Claim.remark(nil, Ancestors([], above: .unseen)) == "asked by a program that cannot be seen")
    #expect(
      Claim.remark(nil, Ancestors([make], above: .unseen))
        == "asked by make, started by a program that cannot be seen")
    #expect(
      Claim.remark(nil, Ancestors([make], above: .others)) == "asked by make, started by others")
    // Init, whose child it is now, says nothing of the kind.
    #expect(
      Claim.remark(Array("x".utf8), Ancestors([], above: .unseen))
        == "a program says: x\nasked by a program that cannot be seen")
  }
}
