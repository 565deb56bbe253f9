// SPDX-License-Identifier: MIT

/// Lists what can be typed at the list.
enum ListWord: String, CaseIterable {
  case find, list, more, open, add, generate, undo, lock, quit, help

  /// What it does, with what belongs behind it.
  var help: String {
    switch self {
    case .find: "find LETTERS: names in which these stand, the best first"
    case .list: "list, or list FOLDER: all names, or those in it"
    case .more: "more: the next names"
    case .open: "open NUMBER, or open NAME; the number alone does, too"
    case .add: "add NAME: a new item; its value is asked for, unseen"
    case .generate: "generate NAME: a new item with a value made by chance"
    case .undo: "undo: brings back what was deleted last"
    case .lock: "lock: locks the vault"
    case .quit: "quit"
    case .help: "help; the beginning of a word is enough"
    }
  }
}

/// Lists what can be typed at an item.
enum ItemWord: String, CaseIterable {
  case show, reveal, copy, code, edit, generate, editor, set, protect, unprotect, history, restore,
    delete, save, back, lock, quit, help

  /// What it does, with what belongs behind it.
  var help: String {
    switch self {
    case .show: "show: all of the item but its value"
    case .reveal: "reveal, reveal REVISION, or reveal KEY: says the value, or a secret attribute"
    case .copy: "copy, or copy KEY: copies the value, the code, or an attribute, as kura copy does"
    case .code: "code: says the one-time code, and how long it is good for"
    case .edit: "edit: a new value, asked for unseen"
    case .generate: "generate: a new value, made by chance"
    case .editor: "editor: edits the value in your editor"
    case .set: "set KEY VALUE: an attribute; without a value it is deleted"
    case .protect: "protect: the value takes the passcode from then on"
    case .unprotect: "unprotect: ends that"
    case .history: "history: the revisions that are kept"
    case .restore: "restore REVISION: brings it back as the next one"
    case .delete: "delete: asks first, and undo brings it back"
    case .save: "save FILE: writes the value to a file"
    case .back: "back: to the list"
    case .lock: "lock: locks the vault"
    case .quit: "quit"
    case .help: "help; the beginning of a word is enough"
    }
  }
}

/// Tells a line's word from what stands behind it.
struct TypedLine<Word: RawRepresentable & CaseIterable> where Word.RawValue == String {
  /// The one that is meant; nil: none, or more than one.
  let word: Word?
  let operand: String

  init(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    let first = parts.first.map { $0.lowercased() } ?? ""
    operand = parts.count > 1 ? Self.trimmed(parts[1]) : ""
    let fitting = Word.allCases.filter { $0.rawValue.hasPrefix(first) }
    word =
      first.isEmpty ? nil : Word(rawValue: first) ?? (fitting.count == 1 ? fitting.first : nil)
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
