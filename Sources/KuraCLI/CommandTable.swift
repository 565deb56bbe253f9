// SPDX-License-Identifier: MIT

/// The verbs there are, in the order of the help. Parser, help and tests read this list.
enum CommandTable {
  /// Verbs that are about one thing.
  struct Group: Sendable {
    let title: String
    let commands: [Command]
  }

  static let groups: [Group] = [
    Group(
      title: "vaults",
      commands: [
        Init.command, Unlock.command, Lock.command, Status.command, Vaults.command,
        Config.command, ChangePasscode.command, SlotControl.command, Rotate.command,
        RekeyVault.command, Verify.command, AccessLog.command, Reset.command,
      ]),
    Group(
      title: "items",
      commands: [
        Put.command, Get.command, Edit.command, Copy.command, Otp.command, Generate.command,
        List.command, Find.command, Show.command, Attr.command, Move.command, Remove.command,
        History.command, Restore.command, PurgeItem.command, Protect.command, Unprotect.command,
      ]),
    Group(
      title: "other programs", commands: [Run.command, Inject.command, Interpreter.command]),
    Group(
      title: "this machine",
      commands: [AgentControl.command, Doctor.command, Completion.command, Help.command]),
  ]

  static let all: [Command] = groups.flatMap { $0.commands }

  /// Other spellings of verbs, as people bring them from other tools.
  static let aliases = [("ls", "list"), ("add", "put"), ("delete", "rm")]

  /// The verb with that name or alias; it must be spelled in full.
  static func command(_ word: [UInt8]) -> Command? {
    let verb = aliases.first { $0.0.utf8.elementsEqual(word) }.map { Array($0.1.utf8) } ?? word
    return all.first { $0.verb.utf8.elementsEqual(verb) }
  }
}
