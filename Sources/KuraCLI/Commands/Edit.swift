// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura edit`: has a value changed in the user's editor, and stores what comes back.
enum Edit {
  static let command = Command(
    "edit", [.init("NAME")], abstract: "edit a value in $VISUAL or $EDITOR, in memory",
    options: [Option(.empty, help: "allow an empty value")],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let allowsEmpty = invocation.arguments.has(.empty)
    return try edit(
      try invocation.operand(0), try invocation.access(), allowsEmpty: allowsEmpty, invocation)
  }

  /// Has an item edited, at the terminal.
  static func edit(
    _ name: String, _ access: VaultAccess, allowsEmpty: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let editor = try Editor.choose(invocation.variables)
    let terminal = try openTerminal()
    defer { Descriptor.close(terminal) }
    let directory = try directory(for: editor)
    var item = try EditedItem.fetch(name, access, allowsEmpty: allowsEmpty)
    if editor.kind == .other {
      invocation.messages.note(
        Diagnostic.shown(editor.name)
          + " may keep copies of the text elsewhere: Kura does not know how to switch that off")
    }
    if item.isNew { invocation.messages.note("new item: " + Diagnostic.shown(name)) }
    repeat {
      try item.edit(with: editor, in: directory, at: terminal, access)
      if item.isUnchanged, !item.isNew || !allowsEmpty {
        guard !item.isNew else { throw empty }
        invocation.messages.note("nothing was changed, and nothing is stored")
        return .ok
      }
      if item.isEmpty, !allowsEmpty { throw empty }
    } while try store(&item, access, invocation.messages) == .editAgain
    return .ok
  }

  private static var empty: CommandError {
    .failure(
      "the text is empty, and nothing is stored", hint: "--empty stores it nevertheless",
      .cancelled)
  }

  /// The terminal that the editor works at.
  private static func openTerminal() throws(CommandError) -> Int32 {
    let descriptor = kura_terminal_open()
    guard descriptor >= 0 else { throw .noInteraction(.editor) }
    guard kura_terminal_is_foreground(descriptor) else {
      Descriptor.close(descriptor)
      throw .noInteraction(.editor)
    }
    return descriptor
  }

  /// Where the text is to stand; nil: in no directory.
  private static func directory(for editor: Editor) throws(CommandError) -> String? {
    let directory: String
    do throws(PathError) { directory = try UserDirectory.runtime() } catch {
      if editor.takesDescriptor { return nil }
      throw .path(error)
    }
    // What a killed command left goes now, even if this one needs no directory.
    Draft.sweep(directory)
    if editor.takesDescriptor, !editor.prefersDirectory { return nil }
    do throws(Draft.Refusal) { try Draft.check(directory) } catch {
      if editor.takesDescriptor { return nil }
      throw .draft(error, directory, editor)
    }
    return directory
  }
}

// MARK: - Storing

extension Edit {
  /// Says how it ended.
  private enum Outcome {
    case stored, editAgain
  }

  /// Says what a person does with a text that could not be stored.
  private enum Choice {
    case store, edit, drop
  }

  /// A text is not lost for what goes wrong now: a person says what becomes of it.
  private static func store(
    _ item: inout EditedItem, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> Outcome {
    while true {
      let failure: CommandError
      do throws(CommandError) {
        try item.store(access)
        return .stored
      } catch { failure = error }
      switch try choose(failure, access, messages) {
      case .store: item.agree(to: failure)
      case .edit:
        item.agree(to: failure)
        return .editAgain
      case .drop: throw EditedItem.dropped
      }
    }
  }

  private static func choose(
    _ failure: CommandError, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> Choice {
    var questioner = try access.asking.questioner()
    guard questioner.hasTerminal else { throw failure }
    messages.report(Diagnostic(failure))
    while true {
      let answer = try questioner.ask(
        "store the text now, edit it again, or drop it? [s/e/d] ", isHidden: false)
      questioner.endLine()
      if let choice = choice(answer) { return choice }
    }
  }

  private static func choice(_ answer: borrowing SecretBytes) -> Choice? {
    guard answer.count > 0 else { return nil }
    return switch answer.bytes[0] | 0x20 {
    case UInt8(ascii: "s"): .store
    case UInt8(ascii: "e"): .edit
    case UInt8(ascii: "d"): .drop
    default: nil
    }
  }
}

extension CommandError {
  /// Why a text cannot stand in a directory.
  static func draft(
    _ refusal: Draft.Refusal, _ directory: String?, _ editor: Editor
  ) -> CommandError {
    switch refusal {
    case .onDisk:
      .failure(
        "the text cannot be kept in memory for " + editor.shownName + ": this is on a disk: "
          + Diagnostic.shown(directory ?? ""),
        hint: "set XDG_RUNTIME_DIR to a directory on a tmpfs, or use vim or nano")
    case .system(let number): .file(.write, path: directory ?? "memory", errno: number)
    }
  }
}
