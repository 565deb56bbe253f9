// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// What goes wrong on the way to a clipboard.
extension Diagnostic {
  init(_ flaw: ClipboardFlaw) {
    switch flaw {
    case .nowhere:
      self.init(
        "no clipboard can be reached: there is no display with a program for it, and no terminal",
        hint: "install wl-clipboard for Wayland, xclip or xsel for X11", .failure)
    case .missing(let wanted): self.init(missing: wanted)
    case .notText:
      self.init(
        "the value is no text, and is not copied",
        hint: "'kura get -o FILE NAME' writes it as it is", .failure)
    case .empty: self.init("there is nothing to copy: the value is empty", .failure)
    case .tooLong(let limit):
      self.init(
        "the value is longer than what can be copied there: \(limit) bytes",
        hint: "'kura get -o FILE NAME' writes it as it is", .failure)
    case .toolFailed(let path):
      self.init(
        "this program did not take the value: " + Self.shown(path),
        hint: "is its display still there? --to chooses another clipboard", .inputOutput)
    }
  }

  private init(missing wanted: [UInt8]) {
    let hint: String
    if wanted.elementsEqual("wayland".utf8) {
      hint = "WAYLAND_DISPLAY must be set, and wl-copy (wl-clipboard) installed"
    } else if wanted.elementsEqual("x11".utf8) {
      hint = "DISPLAY must be set, and xclip or xsel installed"
    } else {
      hint = "a terminal is needed, and not the console: TERM says what it is"
    }
    self.init("there is no such clipboard here: " + Self.shown(wanted), hint: hint, .failure)
  }
}
