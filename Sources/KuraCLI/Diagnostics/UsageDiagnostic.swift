// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Diagnostic {
  init(_ error: UsageError) {
    let text = Self.words(error)
    self.init(text.message, hint: text.hint, .usage)
  }

  private static let verbsHint = "'kura help' lists the verbs"

  private static func helpHint(_ verb: String) -> String {
    guard !verb.utf8.isEmpty else { return verbsHint }
    // There is help on `slot`, none on `slot add`.
    let word = verb.utf8.prefix { $0 != 0x20 }
    return "'kura help " + String(decoding: word, as: UTF8.self) + "' shows what it takes"
  }

  private static func words(_ error: UsageError) -> Words {
    switch error {
    case .noVerb: ("no verb given", verbsHint)
    case .unknownVerb(let text):
      ("unknown verb " + quoted(text), PeerWords.hint(for: text) ?? similar(to: text))
    case .unknownTopic(let text): ("no help on " + quoted(text), verbsHint)
    case .unknownOption(let text, let verb):
      (
        "unknown option " + quoted(text) + (verb.utf8.isEmpty ? "" : " of " + verb),
        similar(toOption: text, of: verb) ?? helpHint(verb)
      )
    case .operandMissing(let name, let verb):
      (verb + " needs " + name, helpHint(verb))
    case .operandUnexpected(let text, let verb):
      (verb + " does not take " + quoted(text), helpHint(verb))
    case .notText(let text):
      (quoted(text) + " is not UTF-8 text", "names, paths and attributes are UTF-8")
    case .nothingToChange:
      ("attr is to change nothing", "give KEY=VALUE or -d KEY; 'kura show NAME' lists attributes")
    case .textTooLong(let limit):
      ("the text to be found has more than \(limit) bytes", "a part of it finds the same items")
    case .tooManyAttributes(let limit):
      ("an item has at most \(limit) attributes", "keep a list of things in the value instead")
    case .passcodeEmpty: ("the passcode is empty", "a passcode has at least one character")
    case .oneNameOnly(let option): (option.spelling + " goes with one NAME only", nil)
    case .needsAgent(let verb):
      (verb + " makes no sense with --no-agent", "a private engine ends with the command")
    default: optionWords(error)
    }
  }

  private static func optionWords(_ error: UsageError) -> Words {
    switch error {
    case .valueMissing(let option): (option.spelling + " needs a value", nil)
    case .fileMissing(let option):
      (option.spelling + " names no file", "a variable that is not set gives an empty name")
    case .optionUnexpected(let option, let verb):
      (verb + " does not take " + option.spelling, helpHint(verb))
    case .valueUnexpected(let option): (option.spelling + " takes no value", nil)
    case .conflict(let first, let second):
      (first.spelling + " and " + second.spelling + " contradict each other", "give one of them")
    case .codeOfAttribute:
      ("an attribute gives no one-time codes", "leave out ?attr=: the item's value has the seed")
    case .notANumber(let option, let text):
      (option.spelling + " takes a whole number, not " + quoted(text), nil)
    case .tooSmall(let option, let text, let least):
      (option.spelling + " is " + least + " at least, not " + quoted(text), nil)
    case .sharedDescriptor(let number):
      (
        "the passcode and the value cannot both come from descriptor \(number)",
        "give the passcode with --passcode-file, or the value with --file"
      )
    case .notADuration(let text):
      (
        quoted(text) + " is not a length of time"
          + (Decimal.parse(text[...]) == nil ? "" : ": it has no unit"),
        "write 30s, 15m, 8h or 1h30m"
      )
    case .notASize(let text): (quoted(text) + " is not a size", "write 256MiB or 1GiB")
    case .notAnAttribute(let text): (quoted(text) + " is not KEY=VALUE", nil)
    case .attributeTwice(let key): ("the attribute " + quoted(key) + " is given twice", nil)
    case .notAColorChoice(let text):
      (OptionName.color.spelling + " takes auto, always or never, not " + quoted(text), nil)
    case .notAnAgentAction(let text):
      ("agent does not know " + quoted(text), "say start, stop or status")
    case .notAClipboard, .cannotClear: clipboardWords(error)
    case .notAShell(let text):
      ("there is no completion for " + quoted(text), "say bash, zsh or fish")
    case .notAConfigKey(let text):
      ("there is no setting " + quoted(text), "'kura config' lists the settings")
    case .notAConfigValue(let key, let text): configWords(key, text)
    case .notAReference, .attributeInReference, .revisionOfAttribute, .notABinding,
      .notAVariableName, .variableTwice, .notADescriptor, .descriptorTwice, .separatorMissing,
      .sharedStdin:
      referenceWords(error)
    case .batchFromTerminal:
      ("many items are not typed", "give their lines with --file, or on a pipe")
    default: slotWords(error)
    }
  }

  private static func slotWords(_ error: UsageError) -> Words {
    let kinds = "a slot is of kind passcode, recovery-key, key-file or local"
    let least = "head -c 64 /dev/urandom makes a good one"
    return switch error {
    case .notASlotAction(let text):
      ("slot does not know " + quoted(text), "say list, add, remove or test")
    case .notASlotKind(let text): ("there is no kind of slot " + quoted(text), kinds)
    case .notASlotNumber(let text):
      (quoted(text) + " is not a slot's number", "'kura slot list' shows them")
    case .unfitForSlot(let option, let kind):
      (
        option.spelling + " says nothing about a slot of kind " + kind,
        "'kura help slot' tells more"
      )
    case .keyFileMissing: ("no key file is named", "name it with --key-file or --key-file-fd")
    case .keyFileAuthority:
      ("a key file does not allow this", "it takes a passcode or the recovery key")
    case .keyFileTooShort(let name, let count):
      ("the key file " + shown(name) + " has \(count) bytes, and needs 32 at least", least)
    case .keyFileTooLong(let name, let limit):
      ("the key file " + shown(name) + " has more than \(limit) bytes", least)
    default: generatorWords(error)
    }
  }

  private static func generatorWords(_ error: UsageError) -> Words {
    switch error {
    case .notARecipe(let text):
      (
        "a value cannot be made by " + quoted(text),
        "write a length, lower, upper, digits, symbols, no-ambiguous, or words:N, as in 24,lower,digits"
      )
    case .generatedLength(let least, let most):
      ("a value is made with \(least) to \(most) characters", nil)
    case .generatedWords(let most): ("a value is made of 1 to \(most) words", nil)
    case .generatedTooShort(let length, let classes):
      (
        "\(length) characters have no room for one out of each of \(classes) classes",
        "name fewer classes, or a greater length"
      )
    default: ("the command line was not understood", verbsHint)
    }
  }

  private static func configWords(
    _ key: ConfigKey, _ text: [UInt8]
  ) -> Words {
    let lacksUnit = key.unit == .milliseconds && Decimal.parse(text[...]) != nil
    let message = key.name + " cannot be " + quoted(text) + (lacksUnit ? ": it has no unit" : "")
    guard key == .reuseWindow else { return (message, "it is " + rangeWords(key)) }
    return (
      message,
      "it is " + rangeWords(key)
        + ": meanwhile the program that was answered for reads the same protected value unasked"
    )
  }

  /// The values a setting can have.
  static func rangeWords(_ key: ConfigKey) -> String {
    switch key.unit {
    case .flag: "on or off"
    case .count: "a number from \(key.range.lowerBound) to \(key.range.upperBound)"
    case .milliseconds:
      "a length of time from " + TimeSpan(milliseconds: key.range.lowerBound).text + " to "
        + TimeSpan(milliseconds: key.range.upperBound).text
    }
  }
}

// MARK: - Typing errors

extension Diagnostic {
  /// Names the verb that was probably meant: one letter wrong, missing, too many, or swapped.
  private static func similar(to text: [UInt8]) -> String {
    for command in CommandTable.all where Typing.isNear(Array(command.verb.utf8), text) {
      return "did you mean 'kura " + command.verb + "'?"
    }
    return verbsHint
  }

  /// Names the option that was probably meant, or that was not spelled in full.
  private static func similar(toOption text: [UInt8], of verb: String) -> String? {
    let command = CommandTable.command(Array(verb.utf8))
    let options = command.map { $0.options + $0.sharedOptions } ?? Option.programs
    let names = (options + Option.general).map { $0.name.spelling }
    let begun = names.filter { text.count > 3 && $0.utf8.starts(with: text) }
    let meant =
      names.first { Typing.isNear(Array($0.utf8), text) } ?? (begun.count == 1 ? begun[0] : nil)
    return meant.map { "did you mean " + $0 + "?" }
  }
}
