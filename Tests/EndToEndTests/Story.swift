// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// One user's story: what is typed, in order, and what must be seen.
///
/// A story stands in `Fixtures/scripts/NAME.txt`; ``StoryParser`` reads it and ``StoryRunner``
/// performs it with the built programs.
struct Story: Sendable {
  /// The name of the file, without `.txt`.
  var name: String
  var paragraphs: [Paragraph]
}

extension Story: CustomTestStringConvertible {
  var testDescription: String { name }
}

/// Steps that together show one fact, which is the paragraph's heading.
struct Paragraph: Sendable, Equatable {
  var fact: String
  var steps: [Step]
}

/// A line of a file.
struct Place: Sendable, Equatable {
  var path: String
  var line: Int
}

/// One thing that is done, or one condition that is set.
struct Step: Sendable, Equatable {
  var place: Place
  var action: Action
}

enum Action: Sendable, Equatable {
  /// `COMMAND`: runs it and waits for its end.
  case run(Command)
  /// `&NAME COMMAND`: starts it and goes on.
  case start(name: String, Command)
  /// `wait NAME`: waits for its end; the expectations stand here.
  case wait(name: String, Expectation)
  /// `at NAME`: goes on at the terminal of a started command.
  case resume(name: String, [TerminalStep])
  /// `running NAME`: the started command has not ended.
  case running(name: String)
  /// `signal TERM NAME`: sends a signal to a started command.
  case signal(Int32, name: String)
  /// `env NAME=VALUE`, `env -NAME`: for all commands that follow.
  case environment(name: String, value: String?)
  /// `let NAME COMMAND`: keeps what the command printed in the environment.
  case capture(name: String, Command)
  /// `only if COMMAND`: the rest of the story is left out where the command fails.
  case condition(String)
}

extension Action {
  /// What is expected of the command's end, where the step waits for one.
  var expectation: Expectation? {
    switch self {
    case .run(let command), .capture(_, let command): command.expectation
    case .wait(_, let expectation): expectation
    default: nil
    }
  }
}

/// A shell command, what it is given and what it must do.
struct Command: Sendable, Equatable {
  /// The text given to `bash -c`, in the story's own directory.
  var shell: String
  /// What stands on its standard input; nothing means `/dev/null`.
  var input: [UInt8]?
  /// What happens at its terminal; `nil` when it has none.
  var terminal: [TerminalStep]?
  var expectation = Expectation()
  /// `within 5s COMMAND`: the command is repeated that long, until it does what is expected.
  var patience: Duration?
}

/// One thing done or seen at a terminal.
enum TerminalStep: Sendable, Equatable {
  /// `see TEXT`: the text appears, after what was seen last.
  case see(String)
  /// `unseen TEXT`: the text has appeared nowhere so far.
  case unseen(String)
  /// `line TEXT`: the line that holds the cursor comes to read exactly this.
  case line(String)
  /// `line~ PATTERN`: the line that holds the cursor comes to match.
  case linePattern(String)
  /// `hidden`, `echoing`: what is typed comes not to be shown, or to be shown.
  case echo(Bool)
  /// `type TEXT`: types it and Enter.
  case type(String)
  /// `secret TEXT`: waits until echo is off, types it and Enter; it must never appear.
  case secret(String)
  /// `press KEYS`: types the keys (`^C` is Ctrl-C, `^?` backspace) and nothing more.
  case press([UInt8])
  /// `capture NAME PATTERN`: keeps the first group of what appeared in the environment.
  case capture(name: String, pattern: String)
  /// `signal TERM`, `signal TERM NAME`: to the command, or its descendant of that name.
  case signal(Int32, process: String?)
  /// `restored`: the terminal is set as it was before the command.
  case restored
  /// `close`: the window is closed.
  case close
}

/// What a command's end must look like.
struct Expectation: Sendable, Equatable {
  enum Status: Sendable, Equatable {
    case exactly(Int32)
    case anyFailure
  }
  var status = Status.exactly(0)
  /// `>` lines. A command of which nothing is expected must print nothing.
  var output = ExpectedText(isExactByDefault: true)
  /// `2>` lines. Messages are free unless something is expected of them.
  var messages = ExpectedText(isExactByDefault: false)
}

/// What a stream must hold.
struct ExpectedText: Sendable, Equatable {
  var isExactByDefault: Bool
  /// `> TEXT` lines, each with its newline; `>| TEXT` has none.
  var exact: String?
  /// `>~ PATTERN`: a match is found, `^` and `$` at each line.
  var patterns: [String] = []
  /// `>!~ PATTERN`: no match is found.
  var absent: [String] = []
}
