// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// What goes wrong between Kura and a program that asks it for a credential.
extension Diagnostic {
  init(_ flaw: CredentialFlaw) {
    let words = Self.words(flaw)
    self.init(words.message, hint: words.hint, Self.status(flaw))
  }

  private static func status(_ flaw: CredentialFlaw) -> ExitStatus {
    switch flaw {
    case .unknownProgram: .usage
    case .nobodyToAsk, .unanswered: .needsInteraction
    case .refused: .cancelled
    default: .failure
    }
  }

  private static func words(_ flaw: CredentialFlaw) -> Words {
    switch flaw {
    case .unknownProgram(let text):
      ("helper does not speak to " + quoted(text), "say git, docker, cargo, aws or askpass")
    case .requestTooLong(let limit): ("the request has more than \(limit) bytes", nil)
    case .badLine(let line): ("line \(line) of the request is not KEY=VALUE", nil)
    case .controlByte(let line):
      ("line \(line) of the request has a NUL or a carriage return", "nothing was handed out")
    case .repeated(let line):
      ("line \(line) of the request says something twice", "nothing was handed out")
    case .missing(let field): ("the request names no " + field, nil)
    case .notJSON(let flaw):
      ("the request is not as it must be: " + text(flaw.kind) + " (byte \(flaw.offset))", nil)
    case .notAnObject: ("the request is not as it must be: it is no JSON object", nil)
    case .nobodyToAsk:
      ("only a person can answer that, and nobody can be asked", "run it at a terminal")
    case .unanswered(let question, let miss): missWords(question, miss)
    case .refused: ("refused", nil)
    default: itemWords(flaw)
    }
  }

  /// What was asked, and what was looked for: a name that is mistyped is found only so.
  private static func missWords(_ question: [UInt8], _ miss: AskpassMiss) -> Words {
    var asked = question.prefix(200)
    while asked.last == 0x20 { asked.removeLast() }
    let message = "only a person can answer this, and nobody can be asked: " + quoted(Array(asked))
    switch miss {
    case .unknown: return (message, "run it at a terminal; no item answers a question like this")
    case .noItem(let name):
      return (message, "run it at a terminal, or store the answer as the item " + shown(name))
    case .given(let name):
      return (
        message,
        shown(name) + " was given to this program already, and seems to be wrong: put another value"
          + " there with --replace"
      )
    }
  }

  private static func itemWords(_ flaw: CredentialFlaw) -> Words {
    switch flaw {
    case .notOneLine(let name):
      (
        "the value of " + shown(name) + " is not one line, so it is not handed out",
        "'kura put --trim --replace NAME' stores it without the newline at its end"
      )
    case .userNotOneLine(let name):
      ("the user that " + shown(name) + " names is not one line, so it is not handed out", nil)
    case .valueTooLong(let name, let limit):
      ("the value of " + shown(name) + " has more than \(limit) bytes", nil)
    case .notText(let name): ("the value of " + shown(name) + " is not UTF-8 text", nil)
    case .attributeMissing(let name, let key):
      (shown(name) + " has no attribute " + key, "'kura attr NAME " + key + "=...' sets it")
    case .valueNotJSON(let name, let flaw):
      (
        "the value of " + shown(name) + " begins as JSON, but " + text(flaw.kind)
          + " (byte \(flaw.offset))", nil
      )
    case .memberMissing(let name, let key):
      ("the JSON in " + shown(name) + " has no " + key, nil)
    default: ("the request could not be answered", nil)
    }
  }

  static func text(_ kind: JSONFlaw.Kind) -> String {
    switch kind {
    case .unexpected: "it is no JSON"
    case .ended: "the JSON ends too early"
    case .controlCharacter: "a string has a control character"
    case .notUTF8: "a string is not UTF-8 text"
    case .escape: "a string has a \\ that is no escape"
    case .surrogate: "a string has half of a character"
    case .repeatedKey: "a key stands twice in one object"
    case .tooDeep: "it is nested too deep"
    case .tooMany: "it has too many values"
    case .otherKind: "a member is of the wrong kind"
    }
  }
}
