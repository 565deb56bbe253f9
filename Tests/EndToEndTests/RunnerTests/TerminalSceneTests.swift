// SPDX-License-Identifier: MIT

import Testing

/// The terminal's side of the runner, tried with the shell as the program that asks.
@Suite struct TerminalSceneTests {
  private func perform(_ steps: String) async throws -> Performance {
    let story = try StoryParser.parse(
      "# a fact\n" + steps, name: "test", path: "test.txt", parts: "/nowhere")
    return await onStage {
      StoryRunner.perform(story, binaries: "/nowhere", patience: .seconds(30))
    }
  }

  private static let ask =
    "read -rsp 'Secret: ' answer </dev/tty; echo; test \"$answer\" = 'open sesame'"

  @Test(arguments: [
    "tty \(ask)\n  see Secret:\n  secret open sesame\n  unseen sesame",
    "! 1 tty \(ask)\n  see Secret:\n  secret wrong",
    "tty read -r x; test \"$x\" = yes\n  echoing\n  type yes\n  see yes",
    "tty printf 'one\\rtwo'; sleep 0.3\n  line two",
    "tty printf 'ask: ***\\b \\b'; sleep 0.3\n  line ask: **\n  line~ [*]{2}$",
    "tty printf 'kura: key 12-34'; sleep 0.3\n  capture KEY key ([0-9-]+)\necho $KEY\n  > 12-34",
    "! 130 tty echo up; sleep 60\n  see up\n  press ^C",
    "! 143 tty sleep 60\n  signal TERM",
    "! 137 tty sleep 60; exit\n  signal KILL sleep",
    "! 129 tty sleep 60\n  close",
    "tty stty -echo; read -r; stty echo; read -r\n  hidden\n  press ^M\n  restored\n  press ^M",
    "&one tty stty -echo; read -r a; read -r b; stty echo\nat one\n  hidden\n  secret first\nat one\n  secret more\nwait one",
    "tty echo done\n  >~ ^done$",
    "tty test -t 0 && test -t 1 && test -t 2 && exec 3</dev/tty",
  ])
  func `what happens at a terminal is seen`(steps: String) async throws {
    let performance = try await perform(steps)
    #expect(performance.failures.isEmpty, "\(performance.failures.map(\.message))")
  }

  @Test(arguments: [
    ("tty echo one\n  see two", "waited for see “two”"),
    ("tty echo one; sleep 0.2\n  see one\n  see one", "waited for see “one”"),
    ("tty echo one; sleep 0.2\n  see one\n  unseen one", "was shown"),
    ("tty printf 'one\\rtwo'; sleep 0.2\n  line one", "the line “one”"),
    ("tty sleep 0.2\n  hidden", "typing to be hidden"),
    ("tty stty -echo", "was not given back: local modes"),
    ("tty stty -icrnl", "was not given back: input modes"),
    ("tty stty intr ^G", "was not given back: control characters"),
    ("tty read -rs a; echo $a\n  secret sesame", "the secret “sesame” was shown"),
    ("tty echo up; sleep 60\n  see up\n  press ^C", "status 130 instead of 0"),
    ("tty echo one\n  >~ two", "does not match: two"),
    ("true\nat one\n  see x", "was not started"),
  ])
  func `what does not happen at a terminal is missed`(steps: String, report: String) async throws {
    let performance = try await perform(steps)
    #expect(performance.failures.count == 1)
    #expect(performance.failures.first?.message.contains(report) == true, "\(performance)")
  }

  @Test func `job control works in a window`() async throws {
    let performance = try await perform(
      """
      tty PS1='$ ' bash --norc --noediting -i
        see $
        type sh -c 'expr 40 + 2; exec cat'
        see 42
        press ^Z
        see Stopped
        type fg
        type ping
        see ping
        see ping
        press ^C
        see $
        type exit
      """)
    // The shell hands on the status of the interrupted command.
    #expect(
      performance.failures.map { $0.message.prefix(12) } == ["status 130 i"], "\(performance)")
  }
}
