// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// What became of many items that were to be stored; nothing of their content is told.
extension Diagnostic {
  init(_ failure: BatchFailure, _ error: CommandError) {
    let inner = Diagnostic(error)
    let count = "\(failure.stored) " + (failure.stored == 1 ? "item was" : "items were") + " stored"
    guard Self.isKnown(error) else {
      self.init(
        inner.message,
        hint: count + " before line \(failure.line); of lines \(failure.line) to \(failure.last)"
          + " all or none: the same again with --replace is safe", inner.status)
      return
    }
    let rest = count + ", and nothing of line \(failure.line) and after"
    if case .prompt(.interrupted) = error {
      self.init("interrupted", hint: rest, .interrupted)
      return
    }
    self.init(
      "line \(failure.line): " + inner.message, hint: (inner.hint.map { $0 + "; " } ?? "") + rest,
      inner.status)
  }

  /// Whether the agent said what became of it.
  private static func isKnown(_ error: CommandError) -> Bool {
    guard case .client(let error) = error else { return true }
    return !error.leavesEndOpen
  }
}
