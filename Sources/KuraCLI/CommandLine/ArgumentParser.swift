// SPDX-License-Identifier: MIT

/// Reads a command line by the rules of GNU programs: options and operands in any order, `--` ends
/// the options, short ones may be bundled. Long ones are spelled in full: an abbreviation would
/// break on the day another option is added.
struct ArgumentParser {
  /// Says what is to be done.
  enum Result {
    case help(Command?)
    /// Nothing was asked for.
    case welcome
    /// The release, or with true all that is known of it, as JSON.
    case version(Bool)
    case run(Command, Arguments)
  }

  private let arguments: [[UInt8]]
  private var next = 0
  /// The verb, once it is known, whatever is wrong with the rest.
  private(set) var command: Command?
  private var parsed = Arguments()

  /// Prepares to read a command line.
  ///
  /// - Parameter arguments: What follows the program's name.
  init(_ arguments: [[UInt8]]) { self.arguments = arguments }

  /// Reads all of it.
  static func parse(_ arguments: [[UInt8]]) throws(UsageError) -> Result {
    var parser = ArgumentParser(arguments)
    return try parser.run()
  }

  /// Reads all of it, once.
  mutating func run() throws(UsageError) -> Result {
    var optionsEnded = false
    while next < arguments.count {
      let argument = arguments[next]
      next += 1
      if optionsEnded || argument.count < 2 || argument[0] != Self.dash {
        if command != nil {
          parsed.operands.append(argument)
        } else if let found = CommandTable.command(argument) {
          command = found
        } else {
          throw unknown(verb: argument)
        }
      } else if argument.count == 2, argument[1] == Self.dash {
        optionsEnded = true
        if command != nil { parsed.operandsBeforeSeparator = parsed.operands.count }
      } else if argument[1] == Self.dash {
        try take(long: argument[2...])
      } else {
        try take(letters: argument[1...])
      }
    }
    if parsed.has(.version) { return .version(parsed.has(.json)) }
    if parsed.has(.help) { return .help(command) }
    guard let command else {
      // Nothing at all is the question what there is.
      guard arguments.isEmpty else {
        throw UsageError("no verb given", hint: UsageError.verbsHint)
      }
      return .welcome
    }
    try checkOptions(of: command)
    try checkOperands(of: command)
    return .run(command, parsed)
  }

  private static let dash = UInt8(ascii: "-")
}

// MARK: - Parts

extension ArgumentParser {
  private mutating func take(long text: ArraySlice<UInt8>) throws(UsageError) {
    let equals = text.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
    let word = text[..<equals]
    guard let option = option(where: { $0.name.rawValue.utf8.elementsEqual(word) }) else {
      throw unknown(option: [Self.dash, Self.dash] + word)
    }
    let attached = equals < text.endIndex ? Array(text[(equals + 1)...]) : nil
    switch option.value {
    case .none:
      guard attached == nil else { throw UsageError(option.name.spelling + " takes no value") }
      add(option, nil)
    case .optional: add(option, attached)
    case .required:
      guard let attached else { return add(option, try following(option)) }
      add(option, attached)
    }
  }

  private mutating func take(letters: ArraySlice<UInt8>) throws(UsageError) {
    for index in letters.indices {
      let letter = Unicode.Scalar(letters[index])
      guard let option = option(where: { $0.letter == letter }) else {
        throw unknown(option: [Self.dash, letters[index]])
      }
      guard case .required = option.value else {
        add(option, nil)
        continue
      }
      let attached = letters[(index + 1)...]
      add(option, attached.isEmpty ? try following(option) : Array(attached))
      return
    }
  }

  private mutating func following(_ option: Option) throws(UsageError) -> [UInt8] {
    guard next < arguments.count else { throw UsageError(option.name.spelling + " needs a value") }
    defer { next += 1 }
    return arguments[next]
  }

  private mutating func add(_ option: Option, _ value: [UInt8]?) {
    parsed.options.append(Arguments.Given(name: option.name, value: value))
  }

  private func option(where matches: (Option) -> Bool) -> Option? {
    guard let command else {
      // What concerns the unlock may stand before the verb, too; ``run()`` looks at it again.
      return (Option.general + Option.programs + [.json] + Option.asking).first(where: matches)
    }
    return command.options.first(where: matches) ?? command.sharedOptions.first(where: matches)
      ?? Option.general.first(where: matches)
  }

  private func checkOptions(of command: Command) throws(UsageError) {
    for given in parsed.options {
      guard let option = option(where: { $0.name == given.name }) else {
        throw unknown(option: Array(given.name.spelling.utf8))
      }
      guard !option.namesFile || given.value?.isEmpty != true else {
        throw UsageError(
          given.name.spelling + " names no file",
          hint: "a variable that is not set gives an empty name")
      }
    }
  }

  private func checkOperands(of command: Command) throws(UsageError) {
    var left = parsed.operands.count
    for operand in command.operands {
      switch operand.count {
      case .one, .atLeastOne:
        guard left > 0 else { throw .operandMissing(operand.name, verb: command.verb) }
        left = operand.count == .one ? left - 1 : 0
      case .optional: left = max(0, left - 1)
      case .any: left = 0
      }
    }
    guard left == 0 else {
      throw .operandUnexpected(parsed.operands[parsed.operands.count - left], verb: command.verb)
    }
  }
}

// MARK: - Words that are not known

extension ArgumentParser {
  private func unknown(verb text: [UInt8]) -> UsageError {
    UsageError(
      "unknown verb " + Diagnostic.quoted(text),
      hint: PeerWords.hint(for: text) ?? Self.verb(near: text)
        .map { "did you mean 'kura " + $0 + "'?" } ?? UsageError.verbsHint)
  }

  private func unknown(option text: [UInt8]) -> UsageError {
    // It is the command's own: what is wrong is that nothing says so.
    if let command, command.takesCommandLine, !parsed.operands.isEmpty {
      return .separatorMissing(verb: command.verb)
    }
    return UsageError(
      "unknown option " + Diagnostic.quoted(text) + (command.map { " of " + $0.verb } ?? ""),
      hint: option(near: text).map { "did you mean " + $0 + "?" }
        ?? UsageError.helpHint(command?.verb ?? ""))
  }

  /// The verb that was probably meant: one letter wrong, missing, too many, or swapped.
  private static func verb(near text: [UInt8]) -> String? {
    CommandTable.all.first { Typing.isNear(Array($0.verb.utf8), text) }?.verb
  }

  /// The option that was probably meant, or that was not spelled in full.
  private func option(near text: [UInt8]) -> String? {
    let options = command.map { $0.options + $0.sharedOptions } ?? Option.programs
    let names = (options + Option.general).map { $0.name.spelling }
    if let meant = names.first(where: { Typing.isNear(Array($0.utf8), text) }) { return meant }
    let begun = names.filter { text.count > 3 && $0.utf8.starts(with: text) }
    return begun.count == 1 ? begun[0] : nil
  }
}
