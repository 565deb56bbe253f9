// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Runs the editor that a person has chosen, and keeps it from leaving copies of a text.
struct Editor: Equatable, Sendable {
  /// Tells editors apart by how they are to be treated.
  enum Kind: Equatable, Sendable {
    case vim, nvim, nano, emacs
    /// One that Kura knows no options of.
    case other

    /// By the name of the program's file.
    init(_ name: [UInt8]) {
      if name.starts(with: "vim".utf8) {
        self = .vim
      } else if name.starts(with: "nvim".utf8) {
        self = .nvim
      } else if name.elementsEqual("nano".utf8) {
        self = .nano
      } else if name.starts(with: "emacs".utf8), !name.starts(with: "emacsclient".utf8) {
        self = .emacs
      } else {
        self = .other
      }
    }
  }

  let kind: Kind
  /// The program's file.
  let path: String
  /// Its arguments, its own name first; the text's path follows.
  let words: [String]

  /// The name, as a person knows it.
  let name: String

  var shownName: String { Diagnostic.shown(name) }
}

// MARK: - Which one

extension Editor {
  /// What `VISUAL` or `EDITOR` says, else the first usual one there is.
  static func choose(_ variables: Variables) throws(CommandError) -> Editor {
    if let command = variables["VISUAL"] ?? variables["EDITOR"] {
      return try Editor(command, variables)
    }
    for name in ["editor", "nano", "vi"] {
      guard let path = Program.look(for: name, variables["PATH"]) else { continue }
      return Editor(path: path, words: [name])
    }
    throw none
  }

  /// A command of plain words is run as it is; what else it holds is a shell's to understand.
  private init(_ command: String, _ variables: Variables) throws(CommandError) {
    let bytes = Array(command.utf8)
    if bytes.contains(where: { Self.shellSigns.contains($0) }) {
      self.init(
        kind: .other, path: "/bin/sh", words: ["sh", "-c", command + " \"$@\"", "sh"], name: command
      )
      return
    }
    let words = command.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
      .map { String(Substring($0)) }
    guard let first = words.first else { throw Self.none }
    guard let path = Program.look(for: first, variables["PATH"]),
      System.fileKind(path) == KURA_REGULAR, System.isExecutable(path)
    else {
      throw .failure("there is no such editor: " + Diagnostic.shown(first), hint: Self.source)
    }
    self.init(path: path, words: words)
  }

  private static var none: CommandError {
    .failure(
      "no editor is set, and none was found", hint: "set VISUAL or EDITOR, as in EDITOR=vim")
  }

  private static let source = "VISUAL, else EDITOR, names it"
  static let unstored = "nothing was stored: the value is as it was"

  private init(path: String, words: [String]) {
    self.init(kind: Kind(Self.realName(path)), path: path, words: words, name: words[0])
  }

  private static let shellSigns = Array("\"'\\$`~*?;&|<>(){}[]#!=\n".utf8)

  private static func realName(_ path: String) -> [UInt8] {
    (try? System.realName(path)) ?? []
  }
}

// MARK: - What keeps copies away

extension Editor {
  /// Whether it reads and writes a file that it inherits, and so needs no directory.
  var takesDescriptor: Bool { kind == .vim || kind == .nano }

  /// Whether it gets on better in a directory: nano says an error where it finds no room for its lock.
  var prefersDirectory: Bool { kind != .vim }

  /// What switches its swap, undo, backup and history files off.
  var options: [String] {
    switch kind {
    case .vim:
      [
        "-f", "-n", "-i", "NONE", "-c",
        Self.vimSettings + " | silent! set viminfo= | silent! set viminfofile=NONE",
      ]
    case .nvim: ["-n", "-i", "NONE", "-c", Self.vimSettings + " | silent! set shada="]
    case .nano: ["-R"]
    case .emacs: ["--eval", Self.emacsSettings]
    case .other: []
    }
  }

  private static let vimSettings =
    "silent! set nobackup nowritebackup noswapfile patchmode= | silent! set noundofile"

  private static let emacsSettings =
    "(progn (setq make-backup-files nil vc-make-backup-files nil backup-enable-predicate 'ignore"
    + " auto-save-default nil auto-save-list-file-prefix nil create-lockfiles nil"
    + " undo-tree-auto-save-history nil)"
    + " (dolist (mode '(savehist-mode recentf-mode save-place-mode desktop-save-mode))"
    + " (when (and (boundp mode) (symbol-value mode)) (funcall mode -1))))"
}

// MARK: - Running

extension Editor {
  /// Starts at a text.
  func start(_ draft: borrowing Draft, at terminal: Int32) throws(CommandError) -> RunningEditor {
    let arguments = words + (kind == .other ? [] : options) + [draft.path]
    var edited = kura_edited()
    let failed = System.startEditor(
      path, arguments, terminal: terminal, passed: draft.descriptor, &edited)
    guard failed == 0 else {
      throw .failure(
        "the editor cannot be started: " + shownName + ": " + SystemMessage.text(-failed),
        hint: Self.source)
    }
    return RunningEditor(edited)
  }

  /// Says why what an editor has left is not to be taken; nil where it is.
  func complaint(of edited: kura_edited) -> CommandError? {
    if edited.interrupted != 0 { return .prompt(.interrupted) }
    if edited.signal != 0 {
      return .failure(
        "the editor was ended by signal \(edited.signal): " + shownName, hint: Self.unstored)
    }
    if edited.status != 0 {
      return .failure(
        "the editor failed with status \(edited.status): " + shownName, hint: Self.unstored)
    }
    return nil
  }
}

/// Holds an editor between its start and its end, which gives the terminal back.
struct RunningEditor: ~Copyable {
  private var edited: kura_edited

  fileprivate init(_ edited: kura_edited) { self.edited = edited }

  /// Waits for its end, or until a descriptor has something to read, which is true.
  mutating func wait(or other: Int32) -> Bool { System.awaitEditor(&edited, or: other) }

  /// Stops it, and takes what it shows from the terminal.
  mutating func cover() { System.coverEditor(&edited) }

  mutating func uncover() { System.uncoverEditor(&edited) }

  /// Kills it while it is covered.
  mutating func drop() { System.dropEditor(&edited) }

  /// Says how it ended.
  consuming func finish() -> kura_edited { edited }

  deinit {
    var edited = edited
    System.endEditor(&edited)
  }
}
