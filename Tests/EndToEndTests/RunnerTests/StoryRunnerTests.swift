// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

/// The runner itself: a wrong expectation must fail, or no story proves anything.
@Suite struct StoryRunnerTests {
  private func perform(_ steps: String, patience: Duration = .seconds(30)) async throws
    -> Performance
  {
    let story = try StoryParser.parse(
      "# a fact\n" + steps, name: "test", path: "test.txt", parts: "/nowhere")
    return await onStage {
      StoryRunner.perform(story, binaries: "/nowhere", patience: patience)
    }
  }

  private func message(_ steps: String, patience: Duration = .seconds(30)) async throws -> String {
    let performance = try await perform(steps, patience: patience)
    #expect(performance.failures.count == 1, "of: \(steps)")
    return performance.failures.first?.message ?? ""
  }

  // MARK: What holds

  @Test(arguments: [
    "true",
    "printf 'a\\nb\\n'\n  > a\n  > b",
    "printf 'a\\nb'\n  > a\n  >| b",
    "printf '\\nb\\n'\n  >\n  > b",
    "printf 'one two'\n  >~ two$\n  >!~ three",
    "cat\n  < in\n  <| put\n  > in\n  >| put",
    "echo oops >&2",
    "echo 'kura: error: all is lost' >&2\n  2> kura: error: all is lost",
    "! false",
    "! 4 exit 4",
    "! 143 kill -TERM $$",
    "env NAME=va lue\nprintf \"$NAME\"\n  >| ${NAME}",
    "env -HOME\necho \"${HOME-none}\"\n  > none",
    "let WORD echo found\necho $WORD\n  > ${WORD}",
    "within 30s test -e later || { touch later; false; }",
    "&one until test -e go; do sleep 0.01; done; exit 3\nrunning one\ntouch go\n! 3 wait one",
    "&one sleep 60\nsignal TERM one\n! 143 wait one",
    "pwd > here\ncmp here here",
    "only if true",
  ])
  func `a true expectation holds`(steps: String) async throws {
    let performance = try await perform(steps)
    #expect(performance.failures.isEmpty, "\(performance.failures.map(\.message))")
    #expect(performance.left.isEmpty)
  }

  // MARK: What does not

  @Test(arguments: [
    ("false", "status 1 instead of 0"),
    ("! true", "status 0 instead of a failure"),
    ("! 4 exit 5", "status 5 instead of 4"),
    ("echo surprise", "stdout is not exactly"),
    ("printf a\n  > a", "stdout is not exactly"),
    ("printf 'a\\n\\n'\n  > a", "stdout is not exactly"),
    ("printf 'a\\n'\n  >| a", "stdout is not exactly"),
    ("true\n  > a", "stdout is not exactly"),
    ("echo a\n  >~ b", "stdout does not match: b"),
    ("echo ab\n  >~ ^b", "stdout does not match: ^b"),
    ("echo a\n  >!~ a", "stdout matches: a"),
    ("echo a\n  >!~ (b)?a", "stdout matches: (b)?a"),
    ("echo a >&2\n  2> b", "stderr is not exactly"),
    ("true\n  2>~ a", "stderr does not match: a"),
    ("echo a >&2\n  2>!~ a", "stderr matches: a"),
    ("echo 'kura: error: No vault' >&2", "a capital begins"),
    ("echo 'kura: hint: run kura init.' >&2", "a full stop ends"),
    ("echo 1 > a; echo 2 > b; cmp a b >/dev/null", "status 1"),
    ("within 0.2s false", "status 1"),
    (
      "&one echo $$ > pid\nwithin 30s test -s pid && gone $(cat pid)\nrunning one",
      "has ended with status 0"
    ),
    ("&one exit 3\nwait one", "status 3 instead of 0"),
    ("wait none", "was not started"),
    ("let A false", "status 1"),
  ])
  func `a wrong expectation fails`(steps: String, report: String) async throws {
    #expect(try await message(steps).contains(report))
  }

  @Test func `a command that does not end fails at the deadline and is ended`() async throws {
    let performance = try await perform("sleep 3600", patience: .milliseconds(200))
    #expect(performance.failures.first?.message.contains("has not ended") == true)
    #expect(performance.left.isEmpty)
  }

  @Test func `a paragraph that fails is left and the next one is performed`() async throws {
    let performance = try await perform("false\nfalse\n\n# another fact\nfalse")
    #expect(performance.failures.map(\.fact) == ["a fact", "another fact"])
    #expect(performance.failures.map(\.place.line) == [2, 6])
  }

  @Test func `an unmet condition ends the story without a failure`() async throws {
    let performance = try await perform("only if false\nfalse")
    #expect(performance.failures.isEmpty)
    #expect(performance.unmetCondition == "false")
  }

  @Test func `a process left behind is told and ended`() async throws {
    let performance = try await perform(
      "setsid sleep 3600 & echo $! > \"$ROOT/../left-$PPID\"; until grep -qs sleep /proc/$!/comm; do :; done",
      patience: .seconds(5))
    #expect(performance.left.count == 1)
    #expect(performance.left.first?.contains("sleep") == true)
    let note = "\(Ground.onDisk.root)/left-\(getpid())"
    let text = try String(contentsOfFile: note, encoding: .utf8)
    let identifier = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
    // It is killed, and gone a little later.
    let deadline = ContinuousClock.now + .seconds(30)
    while Sweep.isRunning(identifier), ContinuousClock.now < deadline { usleep(5_000) }
    #expect(!Sweep.isRunning(identifier))
    try FileManager.default.removeItem(atPath: note)
  }

  @Test func `a story has its own home and no terminal`() async throws {
    let performance = try await perform(
      """
      [[ $HOME = $ROOT/* && $XDG_DATA_HOME = $ROOT/* && $XDG_RUNTIME_DIR = $ROOT/* ]]
      ! exec 3</dev/tty
      """)
    #expect(performance.failures.isEmpty, "\(performance.failures.map(\.message))")
  }
}
