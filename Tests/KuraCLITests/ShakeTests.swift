// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct ShakeTests {
  private func frames(_ label: String = "code: ", _ count: Int = 3, columns: Int = 80) -> [String] {
    Shake(label: label, bullet: "•", count: count).frames(columns: columns)
  }

  @Test func `the row moves right, left and back`() {
    #expect(
      frames() == ["\r\u{1B}[Kcode:  •••", "\r\u{1B}[Kcode:•••", "\r\u{1B}[Kcode: •••"])
  }

  @Test func `a row that fills the line stays where it is`() {
    #expect(frames(columns: 9).isEmpty)
    #expect(frames(columns: 10).count == 3)
    #expect(frames(columns: 0).count == 3)
  }

  @Test func `without a row there is nothing to move`() {
    #expect(frames("code: ", 0).isEmpty)
    #expect(frames("", 3).isEmpty)
  }
}
