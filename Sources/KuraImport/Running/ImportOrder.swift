// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Holds what the command line asks for.
struct ImportOrder: Equatable, Sendable {
  /// Says what the command line has too much, or too little, of.
  struct Flaw: Error, Equatable {
    let words: String
  }

  /// Names what is to be done.
  enum Wanted: Sendable {
    case work, version, help
  }

  var wanted = Wanted.work
  var vault: String?
  var format = ImportFormat.jsonLines
  /// A path; `-` or nothing for standard input.
  var source = "-"
  var folder = ""
  var policy = DuplicatePolicy.skip
  var isDry = false
  var isQuiet = false
  /// Whether the form is to be told by the source itself.
  var isAutomatic = false
  /// Where the password stands that an export opens with; nil: it is asked for.
  var passwordFile: String?
  /// Whether nobody is to be asked for anything.
  var isUnattended = false
  /// Whether nobody is asked if that is right.
  var isAgreed = false

  static let usage = """
    usage: kura import FORMAT [FILE | -] [--into FOLDER] [--on-duplicate skip|rename|replace|merge]
                       [--password-file FILE] [--dry-run]
           kura import auto FILE [--yes] ...
           kura import secret-service ...

    """

  init() {}

  init(_ arguments: [String]) throws(Flaw) {
    var rest = arguments[...]
    var operands: [String] = []
    var isLiteral = false
    func value(of word: String) throws(Flaw) -> String {
      guard let value = rest.popFirst() else { throw Flaw(words: word + " takes a value") }
      return value
    }
    while let word = rest.popFirst() {
      switch word {
      case "--" where !isLiteral: isLiteral = true
      case "--vault" where !isLiteral: vault = try value(of: word)
      case "--into" where !isLiteral: folder = try value(of: word)
      case "--on-duplicate" where !isLiteral: policy = try Self.policy(try value(of: word))
      case "--password-file" where !isLiteral: passwordFile = try value(of: word)
      case "--no-input" where !isLiteral: isUnattended = true
      case "--dry-run" where !isLiteral: isDry = true
      case "--yes" where !isLiteral: isAgreed = true
      case "-q" where !isLiteral: isQuiet = true
      case "--version" where !isLiteral: wanted = .version
      case "-V" where !isLiteral: wanted = .version
      case "--help" where !isLiteral: wanted = .help
      case "-h" where !isLiteral: wanted = .help
      default:
        guard isLiteral || word == "-" || !word.hasPrefix("-") else {
          throw Flaw(words: "no such option: " + word)
        }
        operands.append(word)
      }
    }
    if wanted == .work { try take(operands) }
  }

  private mutating func take(_ operands: [String]) throws(Flaw) {
    guard (1...2).contains(operands.count) else {
      throw Flaw(words: "a format and one file are taken")
    }
    if operands.count > 1 { source = operands[1] }
    if operands[0] == "auto" {
      isAutomatic = true
      guard source != "-" else { throw Flaw(words: "auto takes a file or a folder") }
    } else {
      guard let format = ImportFormat(rawValue: operands[0]) else {
        let formats = ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw Flaw(words: "no such format: \(operands[0]); there are auto, \(formats)")
      }
      guard format != .secretService || operands.count == 1 else {
        throw Flaw(words: "secret-service takes no file")
      }
      self.format = format
    }
    while folder.hasSuffix("/") { folder.removeLast() }
  }

  private static func policy(_ word: String) throws(Flaw) -> DuplicatePolicy {
    guard let policy = DuplicatePolicy(rawValue: word) else {
      let words = DuplicatePolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw Flaw(words: "--on-duplicate takes one of " + words)
    }
    return policy
  }
}
