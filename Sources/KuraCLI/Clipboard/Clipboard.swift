// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Chooses where a value is copied to.
enum Clipboard: Equatable, Sendable {
  case display(ClipboardTool)
  case terminal(TerminalClipboard)

  /// The one that is meant, else the first there is: Wayland's, X11's, the terminal's.
  static func choose(_ wanted: [UInt8]?, _ variables: Variables) throws(CommandError) -> Clipboard {
    guard let wanted else {
      let shown = display(.wayland, variables) ?? display(.x11, variables)
      guard let found = shown ?? terminal(variables) else { throw .noClipboard }
      return found
    }
    let (found, hint): (Clipboard?, String)
    if wanted.elementsEqual("wayland".utf8) {
      found = display(.wayland, variables)
      hint = "WAYLAND_DISPLAY must be set, and wl-copy (wl-clipboard) installed"
    } else if wanted.elementsEqual("x11".utf8) {
      found = display(.x11, variables)
      hint = "DISPLAY must be set, and xclip or xsel installed"
    } else if wanted.elementsEqual("osc52".utf8) {
      found = terminal(variables)
      hint = "a terminal is needed, and not the console: TERM says what it is"
    } else {
      throw .usage("--to takes wayland, x11 or osc52, not " + Diagnostic.quoted(wanted))
    }
    guard let found else {
      throw .failure("there is no such clipboard here: " + Diagnostic.shown(wanted), hint: hint)
    }
    return found
  }

  /// The longest value that goes there, in bytes.
  var limit: Int {
    switch self {
    case .display: 1 << 20
    case .terminal: TerminalClipboard.limit
    }
  }

  private static func display(
    _ display: ClipboardTool.Display, _ variables: Variables
  ) -> Clipboard? {
    ClipboardTool.find(display, variables).map { .display($0) }
  }

  private static func terminal(_ variables: Variables) -> Clipboard? {
    guard let found = TerminalClipboard(variables) else { return nil }
    let descriptor = kura_terminal_open()
    guard descriptor >= 0 else { return nil }
    kura_file_close(descriptor)
    return .terminal(found)
  }
}

extension CommandError {
  static var noClipboard: CommandError {
    .failure(
      "no clipboard can be reached: there is no display with a program for it, and no terminal",
      hint: "install wl-clipboard for Wayland, xclip or xsel for X11")
  }
}
