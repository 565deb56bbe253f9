// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

private func variables(_ values: [String: String]) -> Variables { Variables { values[$0] } }

@Suite struct MessagesTests {
  @Test func `colours are for terminals that show them, to people who want them`() {
    let plain = variables(["TERM": "xterm"])
    let choice = Messages.ColorChoice.automatic
    #expect(choice.isOn(isTerminal: true, plain))
    #expect(!choice.isOn(isTerminal: false, plain))
    #expect(!choice.isOn(isTerminal: true, variables(["TERM": "dumb"])))
    #expect(!choice.isOn(isTerminal: true, variables([:])))
    #expect(!choice.isOn(isTerminal: true, variables(["TERM": "xterm", "NO_COLOR": "1"])))
    #expect(choice.isOn(isTerminal: true, variables(["TERM": "xterm", "NO_COLOR": ""])))
  }

  @Test func `a choice goes before all that`() throws {
    let refusing = variables(["TERM": "dumb", "NO_COLOR": "1"])
    #expect(try Messages.ColorChoice(Array("always".utf8)).isOn(isTerminal: false, refusing))
    #expect(
      try !Messages.ColorChoice(Array("never".utf8))
        .isOn(isTerminal: true, variables(["TERM": "xterm"])))
    #expect(throws: UsageError("--color takes auto, always or never, not 'sometimes'")) {
      try Messages.ColorChoice(Array("sometimes".utf8))
    }
  }

  @Test(
    arguments: [
      ([:], true), (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true),
      (["LANG": "C"], false), (["LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"], false),
      (["LC_ALL": "", "LANG": "en_US.UTF-8"], true), (["LC_CTYPE": "de_DE.ISO-8859-1"], false),
    ] as [([String: String], Bool)])
  func `text is UTF-8 unless the locale says otherwise`(_ row: ([String: String], Bool)) {
    #expect(variables(row.0).isUTF8 == row.1)
  }
}
