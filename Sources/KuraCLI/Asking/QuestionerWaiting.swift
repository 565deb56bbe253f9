// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Waiting for a question that somebody else asks.
extension Questioner {
  /// Waits until there are news of the prompt at a place. On a terminal of its own it says so, and
  /// Enter has it asked here; where the prompt itself stands there is nothing to be said.
  mutating func wait(
    for place: String, _ turn: inout Turn, hadTurn: Bool, _ messages: Messages
  ) throws(CommandError) {
    let words = Self.words(place)
    guard hasTerminal else {
      messages.note(
        hadTurn ? "the prompt went to " + words.to : "waiting for the prompt " + words.at)
      return turn.awaitNews()
    }
    guard !self.place.utf8.elementsEqual(place.utf8) else {
      prompt?.giveBack()
      return turn.awaitNews()
    }
    let text =
      (hadTurn ? "the prompt went to " + words.to : "waiting for the prompt " + words.at)
      + " (Enter: ask here instead)"
    let other = turn.descriptor
    let end = try prompting { () throws(PromptError) in
      try prompt?.wait(text, other: other) ?? .news
    }
    if end == .wanted {
      turn.take()
      turn.awaitNews()
    }
  }

  /// A place as it stands in a sentence.
  static func words(_ place: String) -> (at: String, to: String) {
    let shown = Diagnostic.shown(place)
    let isTerminal =
      shown.utf8.starts(with: "pts/".utf8) || shown.utf8.starts(with: "tty".utf8)
      || shown.utf8.starts(with: "terminal ".utf8)
    return (at: (isTerminal ? "on " : "of ") + shown, to: shown)
  }
}
