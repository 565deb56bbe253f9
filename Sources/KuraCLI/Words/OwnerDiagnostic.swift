// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Refusals about who is there: a word that did not come, a code that was wrong once too often.
extension Diagnostic {
  static func ownerNeededWords(_ item: Refusal.Subject) -> Words {
    (
      "this takes the passcode or the recovery key, unlocked or not" + named(item),
      "run it at a terminal, or give the passcode with --passcode-file"
    )
  }

  static func historyFullWords(_ item: Refusal.Subject) -> Words {
    (
      "as many earlier revisions of this protected item are kept as can be" + named(item),
      "'kura purge --history NAME' removes them, in a conflict 'kura purge --revision N NAME' each that is not in it; "
        + "it takes the passcode"
    )
  }

  static var unconfirmedWords: Words {
    (
      "nobody said in time that the recovery key was written down, so nothing was changed",
      "run it again; that recovery key opens nothing"
    )
  }

  static func localErasedWords(_ failures: UInt32) -> Words {
    (
      "the code is wrong, \(failures) times now: this machine's secret for it is destroyed",
      "nothing else is lost: unlock with the passcode or the recovery key, then 'kura slot list', "
        + "'kura slot remove N' and 'kura slot add local'"
    )
  }

  /// What to do with a few digits that are refused as a passcode.
  static func words(_ remedy: WeakPasscodeRemedy) -> String {
    switch remedy {
    case .initialCode: "--local makes it a code for this machine, beside a recovery key"
    case .initialCodeWithRecoveryKey:
      "--local in place of --no-recovery-key makes it a code for this machine"
    case .slot: "'kura slot add local' makes it a code for this machine"
    case .another: "take another one; 'kura generate --words 5' makes one up"
    }
  }
}
