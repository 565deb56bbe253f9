// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// What goes wrong between a value and an editor.
extension Diagnostic {
  init(_ flaw: EditFlaw) {
    switch flaw {
    case .noEditor:
      self.init(
        "no editor is set, and none was found", hint: "set VISUAL or EDITOR, as in EDITOR=vim",
        .failure)
    case .missing(let name):
      self.init(
        "there is no such editor: " + Self.shown(name), hint: "VISUAL, else EDITOR, names it",
        .failure)
    case .notStarted(let name, let number):
      self.init(
        "the editor cannot be started: " + Self.shown(name) + ": " + SystemMessage.text(number),
        hint: "VISUAL, else EDITOR, names it", .failure)
    case .failed(let name, let status):
      self.init(
        "the editor failed with status \(status): " + Self.shown(name), hint: Self.unstored,
        .failure)
    case .killed(let name, let signal):
      self.init(
        "the editor was ended by signal \(signal): " + Self.shown(name), hint: Self.unstored,
        .failure)
    case .noMemory(let directory, let editor):
      self.init(
        "the text cannot be kept in memory for " + Self.shown(editor) + ": this is on a disk: "
          + Self.shown(directory),
        hint: "set XDG_RUNTIME_DIR to a directory on a tmpfs, or use vim or nano", .failure)
    case .notText:
      self.init(
        "the value is no text, and is not edited",
        hint: "'kura get -o FILE NAME' and 'kura put --file FILE NAME' take any bytes", .failure)
    case .textLost:
      self.init(
        "what the editor wrote is no text: it is not UTF-8, or has a NUL",
        hint: "'kura put --file FILE NAME' takes any bytes", .failure)
    case .tooLong(let limit):
      self.init(
        "it is longer than what is edited: \(limit) bytes",
        hint: "'kura get -o FILE NAME' and 'kura put --file FILE NAME' take any length", .failure)
    case .gone(let name):
      self.init(
        "the editor left no file behind: " + Self.shown(name), hint: Self.unstored, .failure)
    case .empty:
      self.init(
        "the text is empty, and nothing is stored", hint: "--empty stores it nevertheless",
        .cancelled)
    case .dropped: self.init("the text was dropped, and nothing is stored", .cancelled)
    }
  }

  private static let unstored = "nothing was stored: the value is as it was"
}
