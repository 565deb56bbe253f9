// SPDX-License-Identifier: MIT

/// Hears of what goes on beside a question: it may be answered, or asked, elsewhere.
protocol PromptWatch: ~Copyable {
  /// Has something to read as soon as the question is of no use any more; -1: never.
  var descriptor: Int32 { get }

  /// Whether the question was found to be of no use any more while an answer to it was tried.
  var isOver: Bool { get }

  /// Reads what there is to read.
  ///
  /// - Returns: Whether the question is of use all the same.
  mutating func stands() -> Bool

  /// What a person at the question is to hear of what was read; nil for nothing. It is told once.
  mutating func news() -> String?

  /// Whether Tab leads to another way to answer.
  var hasChoices: Bool { get }

  /// Tab was pressed: the question for the next way to answer; nil where there is none.
  mutating func choose() -> String?

  /// A key was pressed.
  mutating func noteKey()

  /// The command is to be stopped, and cannot ask for a while.
  mutating func stepAside()

  /// The command goes on.
  ///
  /// - Returns: Whether the question still stands.
  mutating func comeBack() -> Bool
}

extension PromptWatch where Self: ~Copyable {
  var hasChoices: Bool { false }

  mutating func stands() -> Bool { false }

  mutating func news() -> String? { nil }

  mutating func choose() -> String? { nil }
}

/// Watches nothing, for a question that nobody else cares about.
struct NobodyElse: PromptWatch {
  let descriptor: Int32 = -1
  let isOver = false
  func noteKey() {}
  func stepAside() {}
  func comeBack() -> Bool { true }
}
