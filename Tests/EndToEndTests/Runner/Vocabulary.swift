// SPDX-License-Identifier: MIT

import Foundation

// The words of the story language, as lists: what is not in them cannot be read, and
// `Fixtures/scripts/README.md` tells what each one does.

/// Names the words that make a line at the margin something else than a command to be run.
enum StepWord: String, CaseIterable {
  case use, env
  case condition = "only"
  case running, signal
  case resume = "at"
  case capture = "let"
  case wait
}

/// Names what can stand before a command, in this order.
enum CommandWord: String, CaseIterable {
  case within
  case fails = "!"
  case terminal = "tty"
}

/// Names what is done or seen at a terminal: the first word of an indented line below `tty` or `at`.
enum TerminalWord: String, CaseIterable {
  case see, unseen, line
  case linePattern = "line~"
  case hidden, echoing
  case type, secret, press, capture, signal, restored, close
}

/// Names the signs that begin the other indented lines: what a command reads, and what it must print.
enum Mark: String, CaseIterable {
  case input = "<"
  case openInput = "<|"
  case output = ">"
  case openOutput = ">|"
  case outputMatches = ">~"
  case outputLacks = ">!~"
  case messages = "2>"
  case openMessages = "2>|"
  case messagesMatch = "2>~"
  case messagesLack = "2>!~"
}

/// Maps the signals that a story can send to their numbers.
let signalNumbers = [
  "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "KILL": SIGKILL, "TERM": SIGTERM,
  "STOP": SIGSTOP, "CONT": SIGCONT, "TSTP": SIGTSTP, "SEGV": SIGSEGV,
]

/// Names the variables of the runner's own environment that change what is performed, and how.
enum RunnerVariable: String, CaseIterable {
  case programs = "KURA_BIN"
  case stories = "KURA_STORIES"
  case keep = "KURA_KEEP"
  case nightly = "KURA_NIGHTLY"
  case screens = "KURA_SCREENS"

  var value: String? { ProcessInfo.processInfo.environment[rawValue] }
}
