// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct ClipboardTests {
  /// The first answers of vectors_sip128 in the reference implementation (github.com/veorq/SipHash).
  @Test func `a mark is SipHash-2-4 of 128 bits`() {
    #expect(Self.tag(of: []) == .init(low: 0xe6a8_25ba_047f_81a3, high: 0x9302_55c7_1472_f66d))
    #expect(Self.tag(of: [0]) == .init(low: 0x44af_996b_d8c1_87da, high: 0x45fc_229b_1159_7634))
  }

  @Test func `parts make the mark of the whole`() {
    let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0) }
    for cut in [1, 7, 8, 9, 63, 199] {
      var mark = Self.mark
      mark.take(bytes.span.extracting(0..<cut))
      mark.take(bytes.span.extracting(cut..<200))
      #expect(mark.tag() == Self.tag(of: bytes))
    }
  }

  @Test func `each copy has a key of its own`() throws {
    let (one, other) = (try ValueMark(), try ValueMark())
    #expect(one.tag() != other.tag())
  }

  @Test(arguments: [
    (["TERM": "xterm"], TerminalClipboard.Wrapping?.some(.none)),
    (["TERM": "xterm", "TMUX": "/tmp/tmux-0/default,1,0"], .tmux),
    (["TERM": "tmux-256color"], .tmux),
    (["TERM": "screen", "TMUX": "x"], .tmux),
    (["TERM": "screen.xterm"], .screen),
    (["TERM": "xterm", "STY": "1.pts"], .screen),
    (["TERM": "linux"], nil), (["TERM": "dumb"], nil), ([:], nil),
  ])
  func `a terminal is told by its variables`(
    _ variables: [String: String], _ wrapping: TerminalClipboard.Wrapping?
  ) {
    let found = TerminalClipboard(Variables { variables[$0] })
    #expect(found?.wrapping == wrapping)
  }

  private static let mark = ValueMark(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

  private static func tag(of bytes: [UInt8]) -> ValueMark.Tag {
    var mark = mark
    mark.take(bytes.span)
    return mark.tag()
  }
}
