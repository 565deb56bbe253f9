// SPDX-License-Identifier: MIT

/// Reads what a caller of Python's keyring says: options may stand before and behind the operation.
struct KeyringWords {
  /// Holds what is said beside the options, in its order: the operation, the service, the user.
  private(set) var operands: [[UInt8]] = []
  /// Has the answer name the user, too: `--mode creds`.
  private(set) var wantsUser = false
  private(set) var isJSON = false
  private(set) var wantsHelp = false

  init(_ words: [[UInt8]]) throws(CommandError) {
    var rest = words[...]
    var isLiteral = false
    while let word = rest.popFirst() {
      if isLiteral || word.first != UInt8(ascii: "-") {
        operands.append(word)
      } else if word.elementsEqual("--".utf8) {
        isLiteral = true
      } else if word.elementsEqual("-h".utf8) || word.elementsEqual("--help".utf8) {
        wantsHelp = true
      } else if let equals = word.firstIndex(of: UInt8(ascii: "=")) {
        try take(Array(word[..<equals]), Array(word[(equals + 1)...]))
      } else {
        try take(word, rest.popFirst())
      }
    }
  }

  private mutating func take(_ option: [UInt8], _ value: [UInt8]?) throws(CommandError) {
    if option.elementsEqual("--mode".utf8) {
      wantsUser = try Self.choice(option, value, "password", "creds")
    } else if option.elementsEqual("--output".utf8) {
      isJSON = try Self.choice(option, value, "plain", "json")
    } else {
      throw .usage(
        "keyring has no option " + Diagnostic.quoted(option),
        hint: "it has --mode and --output; a name that begins with - stands behind --")
    }
  }

  /// Which of two words an option has: false for the first.
  private static func choice(
    _ option: [UInt8], _ value: [UInt8]?, _ first: String, _ second: String
  ) throws(CommandError) -> Bool {
    if let value {
      if value.elementsEqual(first.utf8) { return false }
      if value.elementsEqual(second.utf8) { return true }
    }
    throw .usage(Diagnostic.shown(option) + " of keyring is " + first + " or " + second)
  }
}
