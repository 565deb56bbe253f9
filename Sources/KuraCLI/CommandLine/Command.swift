// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Describes one verb: how it is spelled, what it takes, its help, and what it does.
///
/// Parser, help and the tests of the man page read the same value.
struct Command: Sendable {
  /// Describes an argument that is no option.
  struct Operand: Sendable {
    /// Says how many there can be.
    enum Count: Sendable {
      case one, optional, any, atLeastOne
    }
    let name: String
    let count: Count

    init(_ name: String, _ count: Count = .one) {
      self.name = name
      self.count = count
    }
  }

  /// Says what a command can do about a locked vault, and so which options it shares with others.
  enum Unlocking: Sendable {
    /// It needs no passcode.
    case never
    /// It takes a passcode by itself.
    case asks
    /// It unlocks the vault when it finds it locked, or waits.
    case whenLocked
  }

  typealias Run = @Sendable (inout Invocation) throws(CommandError) -> ExitStatus

  let verb: String
  let operands: [Operand]
  /// One line of help.
  let abstract: String
  let options: [Option]
  let unlocking: Unlocking
  /// What every failure of Kura's own ends with, for a verb that otherwise ends as another program
  /// does; nil: each with its own.
  let failure: ExitStatus?
  let run: Run

  init(
    _ verb: String, _ operands: [Operand] = [], abstract: String, options: [Option] = [],
    unlocking: Unlocking = .never, failure: ExitStatus? = nil, run: @escaping Run
  ) {
    self.verb = verb
    self.operands = operands
    self.abstract = abstract
    self.options = options
    self.unlocking = unlocking
    self.failure = failure
    self.run = run
  }

  /// The status that scripts see where it fails.
  func status(of diagnostic: Diagnostic) -> ExitStatus {
    guard let failure else { return diagnostic.status }
    switch diagnostic.status {
    case .notExecutable, .commandNotFound, .interrupted: return diagnostic.status
    case .ok, .failure, .usage, .notFound, .locked, .wrongPasscode, .cancelled, .denied, .throttled,
      .needsInteraction, .ambiguous, .exists, .integrity, .noVault, .busy, .agent, .inputOutput,
      .runFailed:
      return failure
    }
  }

  /// Whether another program's command line stands behind `--`.
  var takesCommandLine: Bool { operands.contains { $0.name == "-- CMD" } }

  /// The options shared with other commands, in the order of the help.
  var sharedOptions: [Option] {
    switch unlocking {
    case .never: []
    case .asks: Option.asking
    case .whenLocked: Option.asking + Option.waiting
    }
  }
}
