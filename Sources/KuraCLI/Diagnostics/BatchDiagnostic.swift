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
    switch error {
    case .hungUp, .timedOut, .broken, .system: return false
    default: return true
    }
  }

  init(_ flaw: LineFlaw) {
    let words: Words =
      switch flaw {
      case .notJSON(let flaw): (flaw.kind.words + " (byte \(flaw.offset + 1))", nil)
      case .notAnObject: ("it is no JSON object", nil)
      case .tooLong(let limit):
        ("it has more than \(limit) bytes", "'kura put NAME --file FILE' takes any value")
      case .unknownMember:
        (
          "it has a member of another name",
          "there can be name, value, attributes, class, kind and protect"
        )
      case .missing(let name): ("it has no " + name, nil)
      case .otherKind("value"): ("its value is neither a string nor {\"base64\": \"...\"}", nil)
      case .otherKind("attributes"): ("its attributes are no object of strings", nil)
      case .otherKind("protect"): ("its protect is neither true nor false", nil)
      case .otherKind("class"): ("its class is neither standard nor protected", nil)
      case .otherKind("kind"): ("its kind is neither value nor otp", nil)
      case .otherKind(let name): ("its " + name + " is no string", nil)
      case .notBase64: ("its value is not base64", nil)
      case .schema: ("it is of another schema than 1", nil)
      }
    self.init(words.message, hint: words.hint, .usage)
  }
}
