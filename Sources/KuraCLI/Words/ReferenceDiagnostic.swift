// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// What goes wrong with references, and with the programs and texts that get their values.
extension Diagnostic {
  init(_ place: Place, _ error: CommandError) {
    let inner = Diagnostic(error)
    self.init(place.words + ": " + inner.message, hint: inner.hint, inner.status)
  }

  init(_ flaw: SyntaxFlaw) {
    let words = Self.words(flaw)
    self.init(words.message, hint: words.hint, .usage)
  }

  private static func words(_ flaw: SyntaxFlaw) -> Words {
    switch flaw {
    case .notAVariable: ("this is not NAME=VALUE", "a comment begins with #")
    case .variableName:
      (
        "a variable cannot be called that",
        "a name has letters, digits and _, and begins with no digit"
      )
    case .openQuote: ("the quote is never closed", "a value in quotes may have several lines")
    case .behindQuote: ("there is text behind the closing quote", "a # there needs a blank first")
    case .escape:
      (
        "the \\ means nothing here",
        "in double quotes stand \\n, \\r, \\t, \\\\, \\\", \\$ and \\`"
      )
    case .substitution:
      ("nothing is put in the place of $ or ` here", "write the value in single quotes")
    case .nul:
      ("there is a NUL byte, which no variable can hold", "--file hands on any value as a file")
    case .carriageReturn:
      (
        "there is a carriage return inside the line",
        "end lines in a newline; in double quotes \\r stands for one"
      )
    case .utf16: ("this file is UTF-16, as it seems", "store it as UTF-8")
    case .referenceInside:
      (
        "a reference stands inside the value without braces",
        "write {{ kura://NAME }} there, or the reference alone"
      )
    case .openBraces:
      ("{{ and a reference, but no }} on this line", "\\{{ stands for {{ before a reference")
    case .fallbackMissing:
      ("nothing stands behind the ??", "?? \"\" puts in nothing, ?? TEXT a text")
    case .behindFallback:
      ("there is text behind the closing quote", "a filter is a blank, a | and its name")
    case .filterUnknown:
      ("there is no such filter behind the |", "url, json, shell, dotenv or base64")
    case .expansion:
      ("the ${ in the reference is no variable", "write ${NAME} or ${NAME:-DEFAULT}")
    case .unset(let name):
      (
        "the variable " + shown(name) + " is not set",
        "set it, or write ${" + shown(name) + ":-DEFAULT}"
      )
    case .foreign:
      (
        "this is no op:// reference that can be read here",
        "op://VAULT/ITEM/FIELD, op://VAULT/ITEM/SECTION/FIELD or ?attribute=otp behind it"
      )
    case .foreignVault(let name):
      (
        "no option says where the vault " + shown(name) + " is",
        "name it with --op VAULT=kura://PREFIX/"
      )
    case .tooMany(let limit): ("there are more than \(limit) of these", nil)
    }
  }

  init(launch name: [UInt8], _ failure: Successor.Failure) {
    switch failure {
    case .notFound:
      self.init(
        "there is no such program: " + Self.shown(name), hint: "it was looked for along the PATH",
        .commandNotFound)
    case .interpreterMissing:
      self.init(
        "what is to run " + Self.shown(name) + " is not there", hint: "look at its first line",
        .notExecutable)
    case .refused(let number):
      self.init(
        "cannot run " + Self.shown(name) + ": " + SystemMessage.text(number),
        hint: number == E2BIG ? "the environment is too large; --file takes any length" : nil,
        .notExecutable)
    }
  }
}
