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
      switch failure {
      // A code that has to wait, or cannot be counted, says nothing about a passcode.
      case .wrongPasscode, .throttled, .triesNotKept, .deviceSecretMissing, .eraseRuleDamaged,
        .codesSpent, .kdfRefused, .wrongOrRefused:
        guard attempt.slotCount(for: .passcode) > 0 else { throw failure }
      default: throw failure
      }
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
