// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Does `kura generate`: makes a value by chance; no vault is needed.
enum Generate {
  static let command = Command(
    "generate", [.init("LENGTH", .optional)],
    abstract: "print a new random value, and its entropy on stderr",
    options: [
      Option(.length, letter: "l", .required("N"), help: "characters; at first 20"),
      Option(.lower, help: "small letters; only named classes are used"),
      Option(.upper, help: "capital letters"),
      Option(.digits, help: "digits"),
      Option(.symbols, help: "punctuation, without quotes and backslash"),
      Option(.noAmbiguous, help: "without 0 O 1 l I |, which look alike"),
      Option(.words, .required("N"), help: "words that can be said, 16 bits each"),
    ], run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let recipe = try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      try Self.recipe(arguments)
    }
    try write(try recipe.make(), &invocation.output)
    if invocation.output.isTerminal { try invocation.output.write("\n") }
    try invocation.output.flush()
    invocation.messages.note(recipe.entropyWords)
    return .ok
  }

  private static func write(
    _ value: consuming SecretBytes, _ output: inout Output
  ) throws(CommandError) {
    try output.send(value.bytes)
  }

  private static func recipe(_ arguments: Arguments) throws(UsageError) -> Recipe {
    try arguments.refuse(
      .words, with: .length, .lower, .upper, .digits, .symbols, .noAmbiguous)
    let operand = try length(arguments)
    if let count = try arguments.number(.words, as: UInt64.self) { return try Recipe(words: count) }
    let options: [(OptionName, CharacterClass)] = [
      (.lower, .lower), (.upper, .upper), (.digits, .digits), (.symbols, .symbols),
    ]
    return try Recipe(
      length: operand,
      options.filter { arguments.has($0.0) }.map { $0.1 },
      isUnambiguous: arguments.has(.noAmbiguous))
  }

  /// The length, by itself or as an option.
  private static func length(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.operands.first else { return try arguments.number(.length) }
    guard !arguments.has(.length), !arguments.has(.words) else {
      throw .operandUnexpected(text, verb: "generate " + OptionName.length.spelling)
    }
    guard let wide = Decimal.parse(text[...]), let length = Int(exactly: wide) else {
      throw .notANumber(.length, text)
    }
    return length
  }
}
