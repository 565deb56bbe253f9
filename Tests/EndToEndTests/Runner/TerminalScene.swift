// SPDX-License-Identifier: MIT

import Foundation

// What happens in a window: see ``TerminalStep``.

extension StoryRunner {
  func act(_ steps: [TerminalStep], in one: inout Started) throws {
    for step in steps {
      guard let terminal = one.terminal else {
        throw StoryFailure(message: "has no terminal: start it with tty")
      }
      try perform(step, at: terminal, in: &one)
    }
  }

  private func perform(
    _ step: TerminalStep, at terminal: PseudoTerminal, in one: inout Started
  ) throws {
    switch step {
    case .see(let text):
      let text = substituted(text, stage.environment)
      try wait(one, "see “\(text)”") { $0.passes(text) }
    case .unseen(let text):
      terminal.drain(milliseconds: 0)
      try require(!terminal.screen.text.contains(text), one, "“\(text)” was shown")
    case .line(let text):
      let text = substituted(text, stage.environment)
      try wait(one, "the line “\(text)”") { $0.screen.currentLine == text }
    case .linePattern(let pattern):
      try wait(one, "a line that matches “\(pattern)”") {
        matches($0.screen.currentLine, pattern, self.stage.environment)
      }
    case .echo(let isOn):
      try wait(one, isOn ? "typing to be shown" : "typing to be hidden") { $0.isEchoing == isOn }
    case .type(let text):
      terminal.type(Array((substituted(text, stage.environment) + "\r").utf8))
    case .secret(let text):
      let text = substituted(text, stage.environment)
      try wait(one, "typing to be hidden") { !$0.isEchoing }
      one.secrets.append(text)
      terminal.type(Array((text + "\r").utf8))
    case .press(let keys): terminal.type(keys)
    case .capture(let name, let pattern): try capture(name, pattern, one)
    case .signal(let number, let process): try signal(number, to: process, of: one)
    case .restored:
      try wait(one, "the settings as they were") { $0.changedSettings.isEmpty }
    case .close: terminal.close()
    }
  }

  /// What every command owes its terminal: the settings as found, and no secret on it.
  func checkTerminal(of one: Started) throws {
    guard let terminal = one.terminal else { return }
    let changed = terminal.changedSettings
    try require(
      changed.isEmpty, one, "the terminal was not given back: \(changed.joined(separator: ", "))")
    for secret in one.secrets where secret.utf8.count > 3 {
      try require(!terminal.screen.text.contains(secret), one, "the secret “\(secret)” was shown")
    }
  }

  private func wait(
    _ one: Started, _ what: String, _ holds: (PseudoTerminal) -> Bool
  ) throws {
    guard let terminal = one.terminal else { return }
    var isMet = false
    var hasEnded = false
    _ = terminal.wait(until: deadline) {
      isMet = holds($0)
      if isMet || hasEnded { return true }
      // Look once more after the end: its last words may just have arrived.
      hasEnded = one.process.poll() != nil
      return false
    }
    try require(isMet, one, "waited for \(what)")
  }

  private func require(_ condition: Bool, _ one: Started, _ message: String) throws {
    guard !condition else { return }
    throw StoryFailure(message: message + window(of: one))
  }

  /// The window, for a report.
  func window(of one: Started) -> String {
    guard let terminal = one.terminal else { return "" }
    let lines = terminal.screen.lines.map { String(String.UnicodeScalarView($0)) }
    let state = one.process.poll().map { "ended with status \($0)" } ?? "still running"
    return "\n--- its window (\(state), echo \(terminal.isEchoing ? "on" : "off"))\n"
      + lines.joined(separator: "\n")
  }

  private func capture(_ name: String, _ pattern: String, _ one: Started) throws {
    try wait(one, "a match of “\(pattern)”") {
      guard let text = firstMatch($0.screen.text, pattern, self.stage.environment) else {
        return false
      }
      self.stage.environment[name] = text
      return true
    }
  }

  private func signal(_ number: Int32, to name: String?, of one: Started) throws {
    guard let name else { return one.process.signal(number) }
    try wait(one, "a process \(name)") { _ in
      guard let found = descendant(of: one.process.identifier, named: name) else { return false }
      return kill(found, number) == 0
    }
  }
}

private func descendant(of parent: pid_t, named name: String) -> pid_t? {
  let path = "/proc/\(parent)/task/\(parent)/children"
  let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  for child in children.split(separator: " ").compactMap({ pid_t($0) }) {
    if processName(child) == name { return child }
    if let found = descendant(of: child, named: name) { return found }
  }
  return nil
}
