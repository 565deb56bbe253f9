// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraTerms

/// Holds what the command line asks for.
struct SyncOrder: Equatable, Sendable {
  /// Says what the command line has too much, or too little, of.
  struct Flaw: Error, Equatable {
    let words: String
  }

  /// Names what is to be done.
  enum Wanted: Equatable, Sendable {
    case meet, version, help
    /// Begin to share by a store.
    case begin(remote: String)
    /// Write out what a new machine can join in a store: `kura` asks for the passcode then.
    case look(remote: String)
    /// Meet the store that this machine has joined just now, and tell who shares the vault.
    case joined
    /// Meet it before another key is entered, which is not told then.
    case pull
    /// Look whether the store of a vault is reached, for `kura doctor`.
    case reach(vault: [UInt8])
    /// Meet it, and have nothing left in it that no vault has.
    case compact
    /// Print what makes a database ready, or a role in it.
    case sql(role: String?)
  }

  var wanted = Wanted.meet
  var vault: String?
  /// What this machine is called; nil: by its host name.
  var label: String?
  var role: String?
  var isWeakMeant = false
  /// Whether the store is to get recovery keys alone.
  var isSparing = false
  var isQuiet = false
  /// Whether it goes on until it is ended.
  var isWatch = false

  /// A text whose commands mean the vault that this is about, also where it is none that is meant without a word.
  func advice(_ text: String) -> String {
    let isMeant = vault == VaultPath.standardName && (try? VaultPath.resolve(nil))?.name == vault
    guard let vault, !isMeant else { return text }
    let word = VaultWords.quoted(Array(vault.utf8)) {
      SyncWords.harmless(String(decoding: $0, as: UTF8.self))
    }
    return VaultWords.text(text, about: word) { verb in
      verb.first != UInt8(ascii: "-") && !verb.elementsEqual("help".utf8)
    }
  }

  static let usage = """
    usage: kura sync [--watch]
           kura sync init [--label NAME] [--slots recovery] [--weak] REMOTE
           kura sync join [--label NAME] [--recovery-key] REMOTE
           kura sync enter [--other-passcode-file FILE | --other-recovery-key-file FILE]
           kura sync status [--json]
           kura sync devices [--json | --remove NAME]
           kura sync compact
           kura sync sql [--role NAME]
    A REMOTE is dir:FOLDER, rclone:NAME:PATH, or postgres://USER@HOST/DATABASE.

    """

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
      case "--label" where !isLiteral: label = try value(of: word)
      case "--role" where !isLiteral: role = try value(of: word)
      case "--weak" where !isLiteral: isWeakMeant = true
      case "--slots" where !isLiteral:
        let which = try value(of: word)
        guard which == "recovery" else { throw Flaw(words: "--slots takes recovery, not " + which) }
        isSparing = true
      case "-q" where !isLiteral: isQuiet = true
      case "--watch" where !isLiteral: isWatch = true
      case "--version" where !isLiteral, "-V" where !isLiteral: wanted = .version
      case "--help" where !isLiteral, "-h" where !isLiteral: wanted = .help
      default:
        guard isLiteral || !word.hasPrefix("-") else {
          throw Flaw(words: "no such option: " + word)
        }
        operands.append(word)
      }
    }
    if wanted == .meet { try take(operands) }
  }

  private mutating func take(_ operands: [String]) throws(Flaw) {
    guard !isWatch || operands.isEmpty else { throw Flaw(words: "--watch goes with nothing else") }
    guard let first = operands.first else {
      guard label == nil, !isWeakMeant, !isSparing, role == nil else {
        throw Flaw(words: "--label, --slots and --weak go with init, --role with sql")
      }
      return
    }
    if operands == ["sql"], label == nil, !isWeakMeant { return wanted = .sql(role: role) }
    guard role == nil else { throw Flaw(words: "--role goes with sql") }
    if operands.count == 2, first == "reach", let vault = StorePlace.identifier(operands[1]) {
      return wanted = .reach(vault: vault)
    }
    if operands == ["joined"] { return wanted = .joined }
    if operands == ["pull"] { return wanted = .pull }
    if operands == ["compact"] { return wanted = .compact }
    guard first == "init" || first == "look" else {
      throw Flaw(words: "sync does not know " + first)
    }
    guard operands.count == 2 else {
      throw Flaw(words: first + " takes one store, such as dir:FOLDER")
    }
    guard first == "init" || !isSparing else { throw Flaw(words: "--slots goes with init") }
    wanted = first == "init" ? .begin(remote: operands[1]) : .look(remote: operands[1])
  }
}
