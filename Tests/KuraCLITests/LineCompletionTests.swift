// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

/// What fits behind these words; the last one is not complete.
private func candidates(_ words: String...) -> LineCompletion.Candidates {
  LineCompletion(words.map { Array($0.utf8) }).candidates
}

/// The words that fit.
private func words(_ typed: String...) -> [String] {
  let line = LineCompletion(typed.map { Array($0.utf8) })
  guard case .words(let words) = line.candidates else { return [] }
  return words.map(\.text)
}

@Suite struct LineCompletionTests {
  @Test func `the first word is a verb`() {
    #expect(words("") == CommandTable.all.map(\.verb))
    #expect(words("ge") == CommandTable.all.map(\.verb))
    #expect(words("--vault", "work", "-q", "") == CommandTable.all.map(\.verb))
    #expect(words() == CommandTable.all.map(\.verb))
  }

  @Test func `the kinds of slots stand behind slot add, and nothing behind slot remove`() {
    #expect(
      words("slot", "add", "") == ["passcode", "recovery-key", "key-file", "local", "tpm", "fido2"])
    #expect(words("slot", "remove", "").isEmpty)
  }

  @Test(arguments: CommandTable.all.map(\.verb))
  func `every option of a verb can be completed`(_ verb: String) throws {
    let command = try #require(CommandTable.command(Array(verb.utf8)))
    let options = command.options + command.sharedOptions + Option.general
    #expect(Set(words(verb, "-")) == Set(options.map(\.name.spelling)))
    #expect(words(verb, "x", "--").contains("--vault"))
  }

  @Test func `what stands behind an option is what it takes`() {
    #expect(candidates("get", "-o", "") == .files)
    #expect(candidates("get", "--output", "") == .files)
    #expect(candidates("get", "-qo", "") == .files)
    #expect(candidates("get", "-ofile", "") == .itemNames)
    #expect(candidates("--vault", "") == .vaultNames(behind: []))
    #expect(candidates("get", "--vault=") == .vaultNames(behind: Array("--vault=".utf8)))
    #expect(candidates("get", "--revision", "") == .nothing)
    #expect(words("get", "--color", "") == ["auto", "always", "never"])
    #expect(words("get", "--color=") == ["--color=auto", "--color=always", "--color=never"])
    #expect(words("copy", "--to", "") == ["wayland", "x11", "osc52"])
    #expect(words("copy", "--to=") == ["--to=wayland", "--to=x11", "--to=osc52"])
    #expect(candidates("run", "--env", "A=ku") == .references(behind: Array("A=".utf8)))
    #expect(
      candidates("run", "--env=A=ku") == .references(behind: Array("--env=A=".utf8)))
    #expect(candidates("run", "--env", "A") == .nothing)
    #expect(candidates("run", "--stdin", "") == .references(behind: []))
    #expect(candidates("get", "--unknown=") == .nothing)
  }

  @Test func `operands are what the verb takes`() {
    #expect(candidates("get", "") == .itemNames)
    #expect(candidates("get", "kura://a") == .references(behind: []))
    #expect(candidates("get", "a", "") == .nothing)
    #expect(candidates("rm", "a", "b", "") == .itemNames)
    #expect(candidates("list", "") == .itemNames)
    #expect(candidates("get", "--", "-") == .itemNames)
    #expect(words("agent", "") == ["start", "stop", "status"])
    #expect(candidates("restore", "") == .itemNamesAndDeleted)
    #expect(candidates("purge", "") == .itemNamesAndDeleted)
    #expect(candidates("purge", "kura://a") == .references(behind: []))
    #expect(words("config", "").contains("idle-timeout"))
    #expect(words("config", "lock-on-sleep", "") == ["on", "off"])
    #expect(candidates("config", "idle-timeout", "") == .nothing)
    #expect(candidates("config", "lock-on-sleep", "on", "") == .nothing)
    #expect(words("helper", "").contains("git"))
    #expect(words("help", "").contains("exit-status"))
    #expect(candidates("lock", "") == .nothing)
    #expect(candidates("run", "--", "") == .command)
    #expect(candidates("run", "--", "ls", "-") == .command)
    #expect(words("run", "") == ["--"])
    #expect(words("unknown", "") == CommandTable.all.map(\.verb))
  }

  @Test func `the vault of the line is known`() {
    #expect(LineCompletion([Array("get".utf8), []]).vault == nil)
    for typed in [["--vault", "work", "get", ""], ["get", "--vault=work", ""]] {
      #expect(LineCompletion(typed.map { Array($0.utf8) }).vault == Array("work".utf8))
    }
  }

  @Test(arguments: Shell.allCases)
  func `a script asks for words and never unlocks`(_ shell: Shell) {
    #expect(shell.script.contains("completion words -- "))
    #expect(shell.script.hasSuffix("\n") && !shell.script.contains("unlock"))
  }
}
