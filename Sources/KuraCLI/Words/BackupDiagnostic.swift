// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Words for backups that there are not, and for copies that are not merged.
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
    case .newer:
      return (
        "what stands there is a backup of a later state than the vault has" + named(path),
        "it was not touched; name another file, or bring what it has here with 'kura merge FILE'"
      )
    }
  }

  static func backupFailedWords(_ errno: Int32, _ path: Refusal.Subject) -> Words {
    let what = "the copy could not be written" + named(path) + errorText(errno)
    let kept = "; what stood there before still does"
    if errno == ENOENT {
      return (what, "no directory is made: plug in its disk, or make it" + kept)
    }
    if errno == EROFS || errno == EACCES {
      return (what, "name a place where you may write" + kept)
    }
    if errno == EFBIG {
      return (what, "name a place that takes files of that size; FAT takes none of 4 GiB" + kept)
    }
    return (what, "look at the directory and its disk" + kept)
  }

  static func backupUnsoundWords(_ path: Refusal.Subject) -> Words {
    (
      "what was written is no whole copy of the vault, and was removed" + named(path),
      "run 'kura verify'; where the vault is whole, the backup's disk may be failing"
    )
  }

  static func mergeRefusedWords(_ flaw: CopyFlaw, _ path: Refusal.Subject) -> Words {
    switch flaw {
    case .vaultItself:
      ("this is the vault itself" + named(path), "name the other copy")
    case .missing: ("nothing stands there" + named(path), "look at the path of the other copy")
    case .notAVault:
      (
        "what stands there is no vault" + named(path),
        "name a vault file or a backup of one"
      )
    case .otherVault:
      (
        "what stands there is another vault, no copy of this one" + named(path),
        "'kura export json-lines' and 'kura import json-lines' bring items from one vault to another"
      )
    case .inUse:
      (
        "that copy is in use, or was not closed: changes stand in a file beside it" + named(path),
        "lock it, or merge a backup of it"
      )
    case .otherKey:
      (
        "that copy stands under another vault key, since one of the two was rekeyed" + named(path),
        "'kura export json-lines' and 'kura import json-lines' bring its items"
      )
    case .newerFormat:
      ("that copy was written by a later release" + named(path), "merge with that release")
    case .unreadable:
      ("that copy cannot be read" + named(path), "look at its rights, and at its disk")
    case .tooManySides:
      (
        "more machines changed the same thing, none knowing of the others, than a vault keeps apart",
        "'kura conflicts' lists what stands open here: keep one of each, or set the setting once "
          + "more, and then meet again"
      )
    }
  }

  static func copyUnsoundWords(_ path: Refusal.Subject) -> Words {
    (
      "that copy is damaged, and nothing was taken from it" + named(path),
      "merge another copy or a backup; 'kura --vault FILE verify' names what is damaged"
    )
  }
}
