// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Where a value is copied to.
enum Clipboard: Equatable, Sendable {
  case display(ClipboardTool)
  case terminal(TerminalClipboard)

  /// The one that is meant, else the first there is: Wayland's, X11's, the terminal's.
  static func choose(_ wanted: [UInt8]?, _ variables: Variables) throws(CommandError) -> Clipboard {
    guard let wanted else {
      let shown = display(.wayland, variables) ?? display(.x11, variables)
      guard let found = shown ?? terminal(variables) else { throw .clipboard(.nowhere) }
      return found
    }
    let found: Clipboard?
    if wanted.elementsEqual("wayland".utf8) {
      found = display(.wayland, variables)
    } else if wanted.elementsEqual("x11".utf8) {
      found = display(.x11, variables)
    } else if wanted.elementsEqual("osc52".utf8) {
      found = terminal(variables)
    } else {
      throw .usage("--to takes wayland, x11 or osc52, not " + Diagnostic.quoted(wanted))
    }
    guard let found else { throw .clipboard(.missing(wanted)) }
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

/// Why a value does not get to a clipboard.
enum ClipboardFlaw: Equatable, Sendable {
  /// There is no display with a program for it, and no terminal.
  case nowhere
  /// Not the one that was asked for.
  case missing([UInt8])
  /// The value is no text.
  case notText
  case empty
  /// The value is longer than what is copied.
  case tooLong(limit: Int)
  case toolFailed(String)
}
