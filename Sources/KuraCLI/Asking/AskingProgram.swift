// SPDX-License-Identifier: MIT

internal import KuraClient

/// Names a program that asks in place of a terminal, and finds the one that is set.
struct AskingProgram: Equatable, Sendable {
  /// Tells how it is spoken with.
  enum Kind: Equatable, Sendable {
    /// Nothing: the question is its argument, and the answer its output.
    case askpass
    /// The Assuan protocol of pinentry.
    case pinentry(Surface)
  }

  /// Tells a pinentry where to show itself.
  struct Surface: Equatable, Sendable {
    /// A terminal that it may ask on; nil: it has a display.
    let terminal: String?
    let terminalType: String
    let locale: String?
  }

  let path: String
  let kind: Kind

  /// What people at other prompts read: the name of its file.
  var name: String {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    return String(Substring(name))
  }
}

// MARK: - Which one

extension AskingProgram {
  /// `KURA_ASKPASS`, else `SSH_ASKPASS` unless that is Kura itself, else a pinentry that has where
  /// to show itself.
  static func find(_ variables: Variables) -> AskingProgram? {
    if let path = variables["KURA_ASKPASS"] { return AskingProgram(path: path, kind: .askpass) }
    if let path = variables["SSH_ASKPASS"] {
      let program = AskingProgram(path: path, kind: .askpass)
      if !program.name.utf8.starts(with: "kura".utf8) { return program }
    }
    return pinentry(variables)
  }

  private static func pinentry(_ variables: Variables) -> AskingProgram? {
    let named = variables["KURA_PINENTRY"]
    let found = Program.look(for: named ?? "pinentry", variables["PATH"])
    guard let path = found ?? named else { return nil }
    let terminal = variables["GPG_TTY"].flatMap { System.canShow(on: $0) ? $0 : nil }
    let hasDisplay = variables["DISPLAY"] != nil || variables["WAYLAND_DISPLAY"] != nil
    let needsTerminal = System.asksOnTerminal(path) || !hasDisplay
    guard terminal != nil || !needsTerminal else { return nil }
    let surface = Surface(
      terminal: terminal, terminalType: variables["TERM"] ?? "vt100",
      locale: variables["LC_ALL"] ?? variables["LC_CTYPE"] ?? variables["LANG"])
    return AskingProgram(path: path, kind: .pinentry(surface))
  }
}

/// Tells why a program that was to ask did not.
enum ProgramFault: Equatable, Sendable {
  case notStarted
  /// It ended in the middle.
  case ended
  /// It did not answer.
  case silent
  /// It does not speak as a pinentry does.
  case notUnderstood
  /// It does not show all that a person would have to see.
  case unshown
  /// It could not ask, in its own words.
  case said(String)
}
