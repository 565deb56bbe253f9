// SPDX-License-Identifier: MIT

/// Lists the verbs there are, in the order of the help. Parser, help and tests read this list.
///
/// It names them without making them: a command line needs one of forty, and starts with each run.
enum CommandTable {
  /// Groups verbs by what they are about.
  enum Group: String, Sendable, CaseIterable {
    case vaults = "vaults"
    case items = "items"
    case programs = "other programs"
    case machine = "this machine"

    var commands: [Command] { entries.filter { $0.group == self }.map { $0.command() } }
  }

  /// Names a verb, to be made when it is asked for.
  private struct Entry: Sendable {
    let group: Group
    let verb: String
    let command: @Sendable () -> Command

    init(_ group: Group, _ verb: String, _ command: @escaping @Sendable () -> Command) {
      self.group = group
      self.verb = verb
      self.command = command
    }
  }

  private static let entries: [Entry] = [
    Entry(.vaults, "init") { Init.command },
    Entry(.vaults, "unlock") { Unlock.command },
    Entry(.vaults, "lock") { Lock.command },
    Entry(.vaults, "status") { Status.command },
    Entry(.vaults, "watch") { Watch.command },
    Entry(.vaults, "authenticate") { Authenticate.command },
    Entry(.vaults, "vaults") { Vaults.command },
    Entry(.vaults, "config") { Config.command },
    Entry(.vaults, "passcode") { Passcode.command },
    Entry(.vaults, "slot") { SlotControl.command },
    Entry(.vaults, "rotate") { Rotate.command },
    Entry(.vaults, "rekey") { Rekey.command },
    Entry(.vaults, "verify") { Verify.command },
    Entry(.vaults, "backup") { Backup.command },
    Entry(.vaults, "restore-backup") { RestoreBackup.command },
    Entry(.vaults, "clone") { Clone.command },
    Entry(.vaults, "merge") { Merge.command },
    Entry(.vaults, "conflicts") { Conflicts.command },
    Entry(.vaults, "sync") { Sync.command },
    Entry(.vaults, "log") { Log.command },
    Entry(.vaults, "reset") { Reset.command },
    Entry(.items, "put") { Put.command },
    Entry(.items, "import") { Import.command },
    Entry(.items, "get") { Get.command },
    Entry(.items, "edit") { Edit.command },
    Entry(.items, "copy") { Copy.command },
    Entry(.items, "otp") { Otp.command },
    Entry(.items, "ui") { Ui.command },
    Entry(.items, "pick") { Pick.command },
    Entry(.items, "generate") { Generate.command },
    Entry(.items, "export") { Export.command },
    Entry(.items, "list") { List.command },
    Entry(.items, "find") { Find.command },
    Entry(.items, "show") { Show.command },
    Entry(.items, "attr") { Attr.command },
    Entry(.items, "touch") { Touch.command },
    Entry(.items, "mv") { Mv.command },
    Entry(.items, "rm") { Rm.command },
    Entry(.items, "history") { History.command },
    Entry(.items, "restore") { Restore.command },
    Entry(.items, "purge") { Purge.command },
    Entry(.items, "protect") { Protect.command },
    Entry(.items, "unprotect") { Unprotect.command },
    Entry(.programs, "run") { Run.command },
    Entry(.programs, "approve") { Approve.command },
    Entry(.programs, "grant") { GrantControl.command },
    Entry(.programs, "mcp") { Mcp.command },
    Entry(.programs, "inject") { Inject.command },
    Entry(.programs, "redact") { Redact.command },
    Entry(.programs, "scan") { Scan.command },
    Entry(.programs, "helper") { Helper.command },
    Entry(.machine, "agent") { Agent.command },
    Entry(.machine, "doctor") { Doctor.command },
    Entry(.machine, "completion") { Completion.command },
    Entry(.machine, "help") { Help.command },
  ]

  /// All of them, made.
  static var all: [Command] { entries.map { $0.command() } }

  /// Other spellings of verbs, as people bring them from other tools.
  static let aliases = [("ls", "list"), ("add", "put"), ("delete", "rm")]

  /// The verb with that name or alias; it must be spelled in full.
  static func command(_ word: [UInt8]) -> Command? {
    // The length first: it leaves few to be compared letter by letter, with each run.
    let entry = entries.first {
      $0.verb.utf8.count == word.count && $0.verb.utf8.elementsEqual(word)
    }
    if let entry { return entry.command() }
    guard let alias = aliases.first(where: { $0.0.utf8.elementsEqual(word) }) else { return nil }
    return command(Array(alias.1.utf8))
  }
}
