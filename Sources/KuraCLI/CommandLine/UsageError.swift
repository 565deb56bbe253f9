// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Says why a command line is not understood, and what to type in its place. Whoever finds it out
/// writes the words; here stand those that are needed at several places.
struct UsageError: Error, Equatable, Sendable {
  /// Lower case, no full stop; what was typed stands in it so that a terminal obeys none of it.
  let message: String
  let hint: String?

  init(_ message: String, hint: String? = nil) {
    self.message = message
    self.hint = hint
  }
}

// MARK: - Hints

extension UsageError {
  static let verbsHint = "'kura help' lists the verbs"

  /// - Parameter verb: A verb, with or without its action; empty where none is known.
  static func helpHint(_ verb: String) -> String {
    guard !verb.utf8.isEmpty else { return verbsHint }
    // There is help on `slot`, none on `slot add`.
    let word = verb.utf8.prefix { $0 != 0x20 }
    return "'kura help " + String(decoding: word, as: UTF8.self) + "' shows what it takes"
  }
}

// MARK: - Operands and options

extension UsageError {
  static func operandMissing(_ name: String, verb: String) -> UsageError {
    UsageError(verb + " needs " + name, hint: helpHint(verb))
  }

  static func operandUnexpected(_ text: [UInt8], verb: String) -> UsageError {
    UsageError(
      verb + " does not take " + Diagnostic.quoted(text),
      hint: unexpectedHint(verb))
  }

  /// What people mean who write a value behind a name, or a vault behind what is about a whole vault.
  private static func unexpectedHint(_ verb: String) -> String {
    switch verb {
    case "put": "a value is typed, or given on stdin or with --file, and never an argument"
    case "lock", "unlock", "status", "verify", "passcode":
      "it is about the whole vault; --vault before the verb names another one"
    default: helpHint(verb)
    }
  }

  /// An option of a verb's other action.
  static func optionUnexpected(_ option: OptionName, verb: String) -> UsageError {
    UsageError(verb + " does not take " + option.spelling, hint: helpHint(verb))
  }

  /// A command that is to be run, without `--` before it.
  static func separatorMissing(verb: String) -> UsageError {
    UsageError(
      verb + " needs -- before the command",
      hint: "write kura " + verb + " [OPTION]... -- CMD [ARG]...")
  }

  static func conflict(_ first: OptionName, _ second: OptionName) -> UsageError {
    UsageError(
      first.spelling + " and " + second.spelling + " contradict each other",
      hint: "give one of them")
  }
}

// MARK: - Values

extension UsageError {
  static func notANumber(_ option: OptionName, _ text: [UInt8]) -> UsageError {
    UsageError(option.spelling + " takes a whole number, not " + Diagnostic.quoted(text))
  }

  static func tooSmall(_ option: OptionName, _ text: [UInt8], least: String) -> UsageError {
    UsageError(option.spelling + " is " + least + " at least, not " + Diagnostic.quoted(text))
  }

  static func notAConfigValue(_ key: Setting, _ text: [UInt8]) -> UsageError {
    let lacksUnit = key.unit == .milliseconds && Decimal.parse(text[...]) != nil
    let warning =
      key == .reuseWindow
      ? ": meanwhile the program that was answered for reads the same protected value unasked" : ""
    return UsageError(
      key.name + " cannot be " + Diagnostic.quoted(text) + (lacksUnit ? ": it has no unit" : ""),
      hint: "it is " + Config.range(of: key) + warning)
  }

  static func notAReference(_ flaw: ItemReference.Flaw) -> UsageError {
    let message =
      switch flaw {
      case .scheme: "this is no reference: it does not begin with kura://"
      case .nameMissing: "the reference names no item"
      case .vaultMissing: "the reference has @ but no vault"
      case .query: "what stands behind ? in the reference is not attr=KEY or otp"
      case .escape: "a % in the reference has no two hexadecimal digits behind it"
      case .notUTF8: "the reference is not UTF-8 text"
      }
    return UsageError(
      message, hint: "write kura://NAME, kura://@VAULT/NAME, and ?attr=KEY or ?otp behind it")
  }

  /// An option takes `NAME=REFERENCE`, and got something without a `=`. What it got is not told: it
  /// may be a secret.
  static func notABinding(_ option: OptionName, name: String) -> UsageError {
    UsageError(
      option.spelling + " has no = in it",
      hint: "write " + option.spelling + " " + name + "=kura://NAME")
  }

  static let passcodeEmpty = UsageError(
    "the passcode is empty", hint: "a passcode has at least one character")

  static let keyFileMissing = UsageError(
    "no key file is named", hint: "name it with --key-file or --key-file-fd")
}
