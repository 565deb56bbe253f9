// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Refusals about who is there: a word that did not come, a code that was wrong once too often.
extension Diagnostic {
  static func ownerWords(_ refused: Refused) -> Words {
    switch refused.failure {
    case .unconfirmed:
      (
        "nobody said in time that the recovery key was written down, so nothing was changed",
        "run it again; that recovery key opens nothing"
      )
    default:
      (
        "the code is wrong, \(refused.detail) times now: this machine's secret for it is destroyed",
        "nothing else is lost: unlock with the passcode or the recovery key, then 'kura slot list', "
          + "'kura slot remove N' and 'kura slot add local'"
      )
    }
  }
}
