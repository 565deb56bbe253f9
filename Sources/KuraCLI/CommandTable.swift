// SPDX-License-Identifier: MIT

/// The verbs there are, in the order of the help. Parser, help and tests read this list.
enum CommandTable {
  static let all: [Command] = [
    Init.command, Unlock.command, Lock.command, Status.command,
    Put.command, Get.command, Edit.command, List.command, Show.command, Attr.command, Find.command,
    Remove.command, Move.command, History.command, Restore.command, PurgeItem.command,
    Protect.command, Unprotect.command, Run.command, Inject.command,
    Generate.command, Otp.command, Copy.command,
    ChangePasscode.command, SlotControl.command, Rotate.command, RekeyVault.command, Verify.command,
    AccessLog.command,
    Config.command, Reset.command, Vaults.command, AgentControl.command, Doctor.command,
    Interpreter.command, Completion.command, Help.command,
  ]

  /// The verb with that name; it must be spelled in full.
  static func command(_ verb: [UInt8]) -> Command? {
    all.first { $0.verb.utf8.elementsEqual(verb) }
  }
}
