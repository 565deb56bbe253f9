// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault

/// What a client is told of a try.
extension Tally {
  /// What an error of the try means to a client.
  func refusal(_ error: VaultError, at path: String) -> Refusal {
    let hasRecoveryKey = slots.slotCount(for: .recoveryKey) > 0
    if case .throttled(let wait) = error {
      return .throttled(wait: wait, hasRecoveryKey: hasRecoveryKey)
    }
    guard error == .wrongPasscode else { return Refusal(error, at: path) }
    if credential == .recoveryKey || credential == .keyFile {
      return .wrongKey(credential)
    }
    var wrong = WrongPasscode()
    wrong.failures = next?.failures ?? 0
    wrong.wait = next?.wait ?? 0
    wrong.hasRecoveryKey = hasRecoveryKey
    wrong.isUntakenCode = couldBeCode && codes == .refused
    wrong.isCode =
      credential == .tpm
      || slots.slotCount(for: .local) > 0
        && (credential == .local || slots.slotCount(for: .passcode) == 0)
    return .wrongPasscode(wrong)
  }

  /// What a right try has to say; a client's own mistakes are no news to it.
  func notice(afterMistakes mistakes: UInt64) -> Notice {
    var notice: Notice = []
    if !isKept { notice.insert(.triesNotKept) }
    if failuresBefore > mistakes { notice.insert(.triesFailed) }
    return notice
  }
}
