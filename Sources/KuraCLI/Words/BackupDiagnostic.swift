// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Words for backups that there are not.
extension Diagnostic {
  static func backupRefusedWords(_ flaw: BackupFlaw, _ path: Refusal.Subject) -> Words {
    let other = "it was not touched; name another file"
    switch flaw {
    case .vaultItself:
      return ("this is the vault itself, and no place for its backup" + named(path), other)
    case .notAFile:
      return (
        "this is no file, and no place for a backup" + named(path),
        "name a file, or a directory with --to"
      )
    case .notAVault:
      return ("what stands there is no backup of this vault" + named(path), other)
    case .otherVault:
      return ("what stands there is another vault, or a backup of one" + named(path), other)
    case .inUse:
      return (
        "what stands there is a vault in use, with changes in a file beside it" + named(path), other
      )
    }
  }

  static func backupFailedWords(_ errno: Int32, _ path: Refusal.Subject) -> Words {
    (
      "the backup could not be written" + named(path) + errorText(errno),
      "look at the directory and its disk; what stood there before still does"
    )
  }

  static func backupUnsoundWords(_ path: Refusal.Subject) -> Words {
    (
      "what was written is no whole copy of the vault, and was removed" + named(path),
      "run 'kura verify'; where the vault is whole, the backup's disk may be failing"
    )
  }
}
