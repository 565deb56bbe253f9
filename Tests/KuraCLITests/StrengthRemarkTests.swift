// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraCLI

@Suite struct StrengthRemarkTests {
  /// 256 MiB and 3 passes: 469 guesses a second at 1.008 TB/s.
  private let standard = StrengthRemark(.calibrated)

  @Test(arguments: [
    (0, "less than a second"), (2_000, "less than a second"), (2_700, "about a second"),
    (3_700, "about 10 seconds"), (6_000, "about 35 minutes"), (8_000, "about 2 days"),
    (10_000, "about 8 months"), (12_000, "about 67 years"), (15_500, "about 210000 years"),
    (17_000, "more than a million years"), (400_000, "more than a million years"),
  ])
  func `a number of guesses is told as a time`(_ row: (Int, String)) {
    #expect(standard.words(logarithm: row.0).text.contains(" needs \(row.1) to guess"))
  }

  @Test func `what falls within a year is weak`() {
    #expect(standard.words(logarithm: 10_000).isWeak)
    #expect(!standard.words(logarithm: 10_500).isWeak)
  }

  @Test func `what falls within a day is too weak, and a cheap derivation makes nothing weaker`() {
    #expect(standard.isTooWeak(logarithm: 7_600))
    #expect(!standard.isTooWeak(logarithm: 7_700))
    let cheap = StrengthRemark(KDFParameters(memory: 8_192, passes: 1))
    #expect(!cheap.isTooWeak(logarithm: 7_700))
    let costly = StrengthRemark(KDFParameters(memory: 1_073_741_824, passes: 4))
    #expect(!costly.isTooWeak(logarithm: 7_600))
  }

  @Test func `more memory and more passes cost the thief more`() {
    let costly = StrengthRemark(KDFParameters(memory: 1_073_741_824, passes: 4))
    #expect(costly.words(logarithm: 10_000).text.contains("about 3 years"))
    #expect(!costly.words(logarithm: 10_000).isWeak)
  }

  @Test(arguments: [
    (59.0, "about 59 seconds"), (60.0, "about a minute"), (3_599.0, "about 59 minutes"),
    (3_600.0, "about an hour"), (172_800.0, "about 2 days"), (GuessTime.year, "about a year"),
    (GuessTime.year * 1_234, "about 1200 years"),
    (GuessTime.year * 2e6, "more than a million years"),
  ])
  func `a length of time has one unit`(_ row: (Double, String)) {
    #expect(GuessTime.words(row.0) == row.1)
  }
}
