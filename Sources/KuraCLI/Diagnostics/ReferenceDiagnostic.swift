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

  static func referenceWords(_ error: UsageError) -> Words {
    switch error {
    case .notAReference(let flaw): flawWords(flaw)
    case .attributeInReference:
      ("the reference says which attribute, and so does --attr", "give one of them")
    case .revisionOfAttribute:
      ("an attribute has no earlier revisions", "leave out --revision or ?attr=KEY")
    case .notABinding(let option):
      (
        option.spelling + " has no = in it",
        "write " + option.spelling + (option == .fileDescriptor ? " N" : " VAR") + "=kura://NAME"
      )
    case .notAVariableName(let option, let name):
      (
        option.spelling + ": no variable can be called " + quoted(name),
        "a name has letters, digits and _, and begins with no digit"
      )
    case .variableTwice(let name):
      ("the variable " + shown(name) + " is given twice", "give it once")
    case .notADescriptor(let option, let text):
      (option.spelling + " takes a descriptor from 3 on, not " + quoted(text), "--stdin is for 0")
    case .descriptorTwice(let number): ("descriptor \(number) is given twice", "give it once")
    case .separatorMissing(let verb):
      (
        verb + " needs -- before the command",
        "write kura " + verb + " [OPTION]... -- CMD [ARG]..."
      )
    default:
      (
        "the passcode and the template cannot both come from stdin",
        "name the template with --input, or give the passcode with --passcode-file"
      )
    }
  }

  private static func flawWords(_ flaw: ItemReference.Flaw) -> Words {
    let form = "write kura://NAME, kura://@VAULT/NAME, and ?attr=KEY behind it"
    return switch flaw {
    case .scheme: ("this is no reference: it does not begin with kura://", form)
    case .nameMissing: ("the reference names no item", form)
    case .vaultMissing: ("the reference has @ but no vault", form)
    case .query: ("what stands behind ? in the reference is not attr=KEY", form)
    case .escape: ("a % in the reference has no two hexadecimal digits behind it", form)
    case .notUTF8: ("the reference is not UTF-8 text", form)
    }
  }

  init(_ flaw: SyntaxFlaw) {
    let words: Words =
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
      case .nul: ("there is a NUL byte, which no variable can hold", nil)
      case .referenceInside:
        (
          "a reference stands inside the value",
          "it is the whole value; 'kura inject' fills in text"
        )
      case .openBraces:
        ("{{ and a reference, but no }} on this line", "\\{{ stands for {{ before a reference")
      case .tooMany(let limit): ("there are more than \(limit) of these", nil)
      }
    self.init(words.message, hint: words.hint, .usage)
  }

  init(_ unfit: Unfit) {
    switch unfit {
    case .nul:
      self.init(
        "the value has a NUL byte, which no variable can hold", hint: "--file takes any bytes",
        .failure)
    case .variable:
      self.init(
        "the value is longer than a variable can be", hint: "--file takes any length", .failure)
    case .text(let limit):
      self.init("the result has more than \(limit >> 20) MiB; nothing was written", .failure)
    case .descriptor(let number):
      self.init("the descriptor cannot be used: " + SystemMessage.text(number), .inputOutput)
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
