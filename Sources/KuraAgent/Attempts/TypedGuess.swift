// SPDX-License-Identifier: MIT

internal import KuraVault
internal import SecureMemory

extension Guess {
  /// Opens a slot by what was typed where a passcode is asked for: it may be a passcode, or the code of
  /// a slot for this machine. Each counts as its own kind.
  ///
  /// - Throws: As ``open(_:secret:only:)`` does, about the passcode where there is one.
  mutating func openTyped(_ secret: borrowing SecretBytes) throws(VaultError) -> VaultKey {
    guard attempt.mayBeCode(secret) else {
      try checkPasscodeSlot()
      return try open(.passcode, secret: secret)
    }
    let failure: VaultError
    do throws(VaultError) { return try derive(.local, secret) } catch { failure = error }
    let isSpent = if case .codesSpent = failure { true } else { false }
    do throws(VaultError) {
      guard failure.isOfCodeOnly, attempt.slotCount(for: .passcode) > 0 else { throw failure }
      return try open(.passcode, secret: secret)
    } catch {
      // The code's slot was left out because of its cost: that the secret is wrong was not found out.
      if error == .wrongPasscode, case .kdfRefused(let reason) = failure {
        throw .wrongOrRefused(reason)
      }
      // It was no passcode either, which would have shown that the owner is there.
      guard isSpent else { throw error }
      attempt.eraseDeviceSecrets()
      throw failure
    }
  }

  /// A vault that only codes open has no passcode; what is too long to be a code is a wrong one, at no
  /// cost to who guesses and to nobody else.
  private func checkPasscodeSlot() throws(VaultError) {
    guard attempt.slotCount(for: .passcode) == 0, attempt.slotCount(for: .local) > 0 else { return }
    throw attempt.hasDeviceSecret ? .wrongPasscode : .deviceSecretMissing
  }
}

extension VaultError {
  /// Whether what was typed may still be a passcode: a code that is wrong, has to wait, or cannot be
  /// counted, says nothing about that.
  fileprivate var isOfCodeOnly: Bool {
    switch self {
    case .wrongPasscode, .throttled, .triesNotKept, .deviceSecretMissing, .eraseRuleDamaged,
      .codesSpent, .kdfRefused, .wrongOrRefused:
      true
    case .noVault, .notAVault, .newerFormat, .pathTaken, .journalLeftBehind, .directoryUnsafe,
      .fileUnsafe, .stateDirectoryUnsafe, .stateFile, .replaced, .permissionDenied, .readOnly,
      .journalOutOfReach, .diskFull, .busy, .outOfMemory, .entropyUnavailable, .io, .damaged,
      .rolledBack, .forked, .exchanged, .passcodeInvalid, .recoveryKeyTypo, .keyFileTooShort,
      .codeTooShort, .codeTooLong, .deviceSecretUnsafe, .noSuchSlot, .slotOfOtherKind, .kdfTooWeak,
      .credentialStale, .ownerNeeded, .otpInvalid, .notOTP, .slotNotFound, .labelInvalid,
      .slotsFull, .credentialTaken, .recoveryKeyExists, .lastSlot, .notFound, .revisionNotFound,
      .historyFull,
      .notDeleted, .revisionCurrent, .exists, .revisionConflict, .nameInvalid, .attributeInvalid,
      .tooLarge, .policyInvalid, .changed, .protected, .noProtectedHalf, .uploadLost:
      false
    }
  }
}
