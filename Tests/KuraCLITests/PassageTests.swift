// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct PassageTests {
  private func passage() -> Passage {
    var passage = Passage()
    passage.begin()
    for text in ["one\n", "\ntwo\n", "a question: "] { passage.note(text) }
    return passage
  }

  @Test func `all lines since its beginning are taken back`() {
    #expect(passage().erasure(columns: 80) == "\r\u{1B}[3A\u{1B}[J")
  }

  @Test func `nothing is erased where lines may have folded, or somebody else wrote`() {
    #expect(passage().erasure(columns: Passage.width - 1) == nil)
    #expect(passage().erasure(columns: 0) == nil)
    var ended = passage()
    ended.end()
    ended.note("more\n")
    #expect(ended.erasure(columns: 80) == nil)
    #expect(Passage().erasure(columns: 80) == nil)
  }
}
