// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

@Suite struct YesOrNoTests {
  @Test(
    arguments: [
      ("y", .yes), ("Y", .yes), ("yes", .yes), ("YES", .yes), ("n", .no), ("No", .no), ("", .no),
      ("yep", nil), ("yesterday", nil), ("nothing", nil), ("ye", nil), (" y", nil), ("1", nil),
      ("\u{19}", nil),
    ] as [(String, YesOrNo?)])
  func `only yes, no and nothing are answers`(_ row: (String, YesOrNo?)) throws {
    let answer = try SecretBytes(copying: Array(row.0.utf8).span)
    #expect(YesOrNo(answer) == row.1)
  }
}
