// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Runs the screen from the command line to the exit status.
public enum ScreenProgram {
  /// Does all of it.
  public static func run(_ arguments: [String]) -> Int32 {
    ProcessHardening.apply()
    _ = kura_screen_overwrite_freed()
    let order: Order
    do throws(Order.Flaw) { order = try Order(arguments) } catch {
      return say(error.words, .usage)
    }
    switch order.wanted {
    case .version:
      ScreenCalls.write("kura-ui " + Release.version + "\n", to: 1)
      return 0
    case .help:
      ScreenCalls.write(Order.usage, to: 1)
      return 0
    case .screen, .pick: break
    }
    let vault: VaultPath
    do throws(PathError) { vault = try VaultPath.resolve(order.vault) } catch {
      return say("this cannot be a vault's place: " + (order.vault ?? ""), .usage)
    }
    do throws(Renderer.Flaw) {
      let signals = kura_screen_signals()
      if order.isLinear {
        var linear = try Linear(order, vault, signals: signals)
        return linear.run()
      }
      var loop = try Loop(order, vault, signals: signals)
      return loop.run()
    } catch {
      switch error {
      case .noTerminal: return say("this needs a terminal, and there is none", .needsInteraction)
      case .unable(let kind):
        let shown = kind.isEmpty ? "TERM is not set" : "kind '" + kind + "'"
        let status = say("no screen can be shown on this terminal: " + shown, .failure)
        let verb = order.wanted == .pick ? "pick" : "ui"
        _ = say("hint: 'kura \(verb) --linear' goes by lines", .failure)
        return status
      }
    }
  }

  static func say(_ text: String, _ status: ExitStatus) -> Int32 {
    // Words of the command line and of the environment are anybody's.
    ScreenCalls.write("kura: " + Glyph(isUnicode: false).harmless(text) + "\n", to: 2)
    return Int32(status.rawValue)
  }
}

/// Holds what the command line asks for.
struct Order {
  /// Names what is to be shown.
  enum Wanted {
    case screen, pick, version, help
  }

  /// Says what the command line has too much, or too little, of.
  struct Flaw: Error {
    let words: String
  }

  var wanted = Wanted.screen
  /// Whether the screen is to be lines and questions.
  var isLinear = false
  var vault: String?
  var query = ""
  /// What is done with what is picked, in place of printing its name.
  var verb: String?

  static let usage = "usage: kura-ui [--vault VAULT] [--linear] [--pick [--copy | --otp] [QUERY]]\n"

  init(_ arguments: [String]) throws(Flaw) {
    var rest = arguments[...]
    var isLiteral = false
    while let word = rest.popFirst() {
      switch word {
      case "--" where !isLiteral: isLiteral = true
      case "--vault" where !isLiteral:
        guard let value = rest.popFirst() else { throw Flaw(words: "--vault takes a vault") }
        vault = value
      case "--linear" where !isLiteral: isLinear = true
      case "--pick" where !isLiteral: wanted = .pick
      case "--copy" where !isLiteral: verb = "copy"
      case "--otp" where !isLiteral: verb = "otp"
      case "--version" where !isLiteral: wanted = .version
      case "-V" where !isLiteral: wanted = .version
      case "--help" where !isLiteral: wanted = .help
      case "-h" where !isLiteral: wanted = .help
      default:
        guard isLiteral || !word.hasPrefix("-") else {
          throw Flaw(words: "no such option: " + word)
        }
        query += (query.isEmpty ? "" : " ") + word
      }
    }
    guard wanted == .pick || wanted == .version || wanted == .help || (query.isEmpty && verb == nil)
    else {
      throw Flaw(words: "only --pick takes --copy, --otp and a query")
    }
  }
}
