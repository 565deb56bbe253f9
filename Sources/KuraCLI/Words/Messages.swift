// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Tells a person what goes beside the answer, on stderr. Errors are never hidden; `-q` hides the
/// rest.
struct Messages: Sendable {
  /// Says when messages are coloured.
  enum ColorChoice: Equatable, Sendable {
    case automatic, always, never

    init(_ text: [UInt8]) throws(UsageError) {
      if text.elementsEqual("auto".utf8) {
        self = .automatic
      } else if text.elementsEqual("always".utf8) {
        self = .always
      } else if text.elementsEqual("never".utf8) {
        self = .never
      } else {
        throw UsageError(
          OptionName.color.spelling + " takes auto, always or never, not " + Diagnostic.quoted(text)
        )
      }
    }

    /// Whether colours are to be used.
    func isOn(isTerminal: Bool, _ variables: Variables) -> Bool {
      switch self {
      case .always: true
      case .never: false
      case .automatic:
        isTerminal && !variables.refusesColor && !variables.hasDumbTerminal
      }
    }
  }

  let isQuiet: Bool
  private let isColored: Bool
  /// Whether stderr is one, so that progress can be drawn there.
  let isTerminal: Bool
  /// What tells the vault that is meant; commands that messages name get it.
  private let source: (arguments: Arguments, variables: Variables)?

  /// Before the command line has been understood: plain, and nothing left out.
  init() {
    isQuiet = false
    isColored = false
    isTerminal = false
    source = nil
  }

  /// As command line and environment ask for.
  init(_ arguments: Arguments, _ variables: Variables) throws(UsageError) {
    let choice = try arguments.value(.color).map { text throws(UsageError) in
      try ColorChoice(text)
    }
    isTerminal = kura_is_terminal(2)
    isQuiet = arguments.has(.quiet)
    source = (arguments, variables)
    isColored = (choice ?? .automatic).isOn(isTerminal: isTerminal, variables)
  }

  private static let bold = "\u{1B}[1m"
  private static let red = "\u{1B}[1;31m"
  private static let yellow = "\u{1B}[1;33m"
  private static let plain = "\u{1B}[0m"

  /// Says what went wrong, why, and what to do next.
  func report(_ diagnostic: Diagnostic) {
    if !diagnostic.message.utf8.isEmpty {
      line("error", Self.red, diagnostic.message)
    }
    if let hint = diagnostic.hint { line("hint", Self.bold, naming(hint)) }
  }

  /// Says what to do next, where nothing went wrong.
  func suggest(_ text: String) {
    if !isQuiet { line("hint", Self.bold, naming(text)) }
  }

  /// Says something that the user should change.
  func warn(_ text: String) {
    line("warning", Self.yellow, naming(text))
  }

  /// Says something worth knowing.
  func note(_ text: String) {
    if !isQuiet { line("notice", Self.bold, naming(text)) }
  }

  /// Says that something was done to a person who looks at a terminal; no script has to read it.
  func done(_ text: String) { if isTerminal { note(text) } }

  /// Looked up only for a message: most commands have none.
  private func naming(_ text: String) -> String {
    VaultHint.text(text, about: source.flatMap { VaultHint.vault($0.arguments, $0.variables) })
  }

  /// One write, so that the lines of two programs never mix.
  private func line(_ kind: String, _ color: String, _ text: String) {
    let label = isColored ? color + kind + ":" + Self.plain : kind + ":"
    write("kura: " + label + " " + text + "\n")
  }

  /// Writes text of ours as it is. A stderr that takes nothing has no place to complain to.
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    do throws(FileError) { try Descriptor.write(bytes.span, to: 2) } catch {}
  }
}
